internal import Interceptors
internal import Tracing

/// The name and the attributes of a span by OpenTelemetry's semantic conventions for HTTP client spans:
/// https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span
struct ClientSpan {
    let name: String
    let attributes: SpanAttributes

    init(_ request: HTTPRequest, knownMethods: Set<HTTPRequest.Method>) {
        let isKnown = knownMethods.contains(request.method)
        let template = request.context.urlTemplate
        let method = isKnown ? request.method.rawValue : "HTTP"
        name = template.map { "\(method) \($0)" } ?? method
        var attributes = SpanAttributes([:])
        attributes["http.request.method"] = isKnown ? request.method.rawValue : HTTPRequest.Method.otherName
        if !isKnown { attributes["http.request.method_original"] = request.method.rawValue }
        attributes["url.full"] = request.summary.url
        attributes["url.template"] = template
        if let origin = Origin(request.url) {
            attributes["server.address"] = origin.host.trimmingBrackets
            attributes["server.port"] = origin.port
        }
        let resendCount = request.context.resendCount
        if resendCount > 0 { attributes["http.request.resend_count"] = resendCount }
        self.attributes = attributes
    }

    /// The end of a span.
    struct Outcome {
        let attributes: SpanAttributes
        let isError: Bool
        /// The error to record, if its description is known to hold no secret.
        let recorded: (any Error)?

        init(_ response: HTTPResponse?, _ error: (any Error)?) {
            var attributes = SpanAttributes([:])
            attributes["http.response.status_code"] = response?.status.code
            if let connection = response?.context.connection {
                attributes["network.protocol.version"] = connection.httpVersion?.number
                attributes["network.peer.address"] = connection.remoteAddress
                attributes["network.peer.port"] = connection.remotePort
            }
            // With a response, the reader gave up the rest of the content, which is no error of the exchange.
            let error = error.flatMap { $0 is CancellationError && response != nil ? nil : $0 }
            let failedStatus = response.flatMap { $0.status.code >= 400 ? "\($0.status.code)" : nil }
            attributes["error.type"] = failedStatus ?? error?.typeName
            self.attributes = attributes
            // A cancellation has its type as an attribute, but isn't a failure: `hedge` cancels the slower attempt.
            isError = failedStatus != nil || error.map { !($0 is CancellationError) } ?? false
            recorded = error as? any HTTPError
        }
    }
}

extension HTTPVersion {
    /// The version's number, such as `1.1` or `2`.
    fileprivate var number: String { String(rawValue.drop { $0 != "/" }.dropFirst()) }
}

extension String {
    /// An IPv6 address without the brackets that it has in a URL.
    fileprivate var trimmingBrackets: String {
        hasPrefix("[") && hasSuffix("]") ? String(dropFirst().dropLast()) : self
    }
}
