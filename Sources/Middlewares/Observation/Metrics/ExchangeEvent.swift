/// An event that `metrics` reports about an exchange.
///
/// Each `began` is followed by exactly one `ended` with the same number. After that comes one `decodingFailed` for each caller
/// that can't decode the response. There can be several such callers only if an outer `coalesce` shares the response.
public enum ExchangeEvent: Sendable {
    /// A request was passed on.
    case began(MeasuredExchange)
    /// The exchange ended, with a complete response or without.
    case ended(MeasuredExchange)
    /// The caller couldn't decode the response. The exchange has its status and context; its size and duration are zero.
    case decodingFailed(MeasuredExchange, ResponseDecodingError)
}

/// The properties of an exchange that metrics need: its request, and after its end the result, sizes and times.
public struct MeasuredExchange: Sendable {
    /// The exchange's number, unique within one interceptor and counted from 1.
    public let number: UInt64
    /// The request's method.
    public let method: HTTPRequest.Method
    /// The request's origin; `nil` if the URL has none.
    public let origin: Origin?
    /// The request's URL, with secrets redacted.
    public let url: String
    /// The size of the request's content in bytes, if known in advance.
    public let requestBytes: Int64?
    /// The endpoint that the request was made from, which may name it: see `HTTPContext.endpoint`.
    public let endpoint: (any Endpoint)?
    /// The error of the call or of reading a one-shot stream; `CancellationError` if either was cancelled, or if nobody read the
    /// response to its end. `nil` if the response is complete.
    public internal(set) var error: (any Error)?
    /// The response's status, if a response arrived.
    public internal(set) var status: HTTPResponse.Status?
    /// The number of content bytes that were received, after decoding of content codings; zero before the end.
    public internal(set) var responseBytes: Int64 = 0
    /// The time from the request to the response's head, if a response arrived.
    public internal(set) var timeToResponse: Duration?
    /// The time from the request to the end of the exchange; zero before the end.
    public internal(set) var duration: Duration = .zero
    /// The response's context, with facts such as the transport's timings, the attempts of a retry, the cache status and the trace.
    public internal(set) var context = HTTPContext()

    init(number: UInt64, request: borrowing HTTPRequest) {
        self.number = number
        method = request.method
        origin = Origin(request.url)
        url = Redaction.standard.string(for: request.url)
        requestBytes = request.body.length
        endpoint = request.context.endpoint
    }
}
