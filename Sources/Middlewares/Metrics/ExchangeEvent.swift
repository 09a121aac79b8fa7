/// What a ``MetricsInterceptor`` tells of an exchange.
///
/// Each `began` is followed by exactly one `ended` of the same number; after that, by one `decodingFailed` for each caller who
/// can't decode the response: there are several only where a `coalesce` outside shares it.
public enum ExchangeEvent: Sendable {
    /// A request has come by.
    case began(ExchangeStart)
    /// The exchange is over, with the last byte of its response, or without.
    case ended(ExchangeEnd)
    /// What came back was not what the caller wanted to decode.
    case decodingFailed(ExchangeStart, DecodingFailure)
}

/// A request, as far as numbers are made of it.
public struct ExchangeStart: Sendable {
    /// Tells the exchanges of one interceptor apart, from 1.
    public let number: UInt64
    /// The method.
    public let method: HTTPRequest.Method
    /// The origin, `nil` if the URL has none.
    public let origin: Origin?
    /// The URL with secrets redacted.
    public let url: String
    /// The count of bytes of the request's content, where it is known beforehand.
    public let requestBytes: Int64?

    init(number: UInt64, request: borrowing HTTPRequest) {
        self.number = number
        method = request.method
        origin = Origin(request.url)
        url = Redaction.standard.string(for: request.url)
        requestBytes = request.body.length
    }
}

/// How an exchange ended.
public struct ExchangeEnd: Sendable {
    /// What ended it.
    public enum Outcome: Sendable {
        /// The response is there in full.
        case completed
        /// The call, or the reading of a streamed response, failed.
        case failed(any Error)
        /// It was cancelled.
        case cancelled
        /// The response was streamed, and nobody read it to its end.
        case abandoned
    }

    /// The request.
    public let start: ExchangeStart
    /// What ended it.
    public let outcome: Outcome
    /// The status, where a response came.
    public let status: HTTPResponse.Status?
    /// The count of bytes of the response's content that were read, after content codings were undone.
    public let responseBytes: Int64
    /// From the request until the head of the response came by, where one did.
    public let timeToResponse: Duration?
    /// From the request to the end.
    public let duration: Duration
    /// How long the steps of the exchange took, where the transport can tell.
    public let timings: TransferTimings?
    /// What travels with the response: the attempts of a retry, the status of a cache, the trace.
    public let context: HTTPContext
}
