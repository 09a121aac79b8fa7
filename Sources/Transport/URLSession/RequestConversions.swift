#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPRequest {
    /// Creates a request from Foundation's: its method, URL, fields, content and timeout.
    ///
    /// The fields are sorted by name, because Foundation keeps no order. The timeout becomes the idle timeout, unless it is
    /// Foundation's default of 60 seconds, which leaves the transport's timeouts in effect. Cache policy, cookie handling and
    /// allowed networks apply to URLSession alone and are dropped.
    /// - Throws: `TransportError` with code `unsupportedURL` if there is no URL, with
    ///   `invalidRequest` if the method isn't a token, and with `unsupported` if
    ///   the content is an `InputStream`. In the last case, set an `HTTPBody` made of a file or a stream instead.
    public init(_ request: URLRequest) throws {
        guard let url = request.url else { throw TransportError(.unsupportedURL, "The URLRequest has no URL.") }
        self.init(url: url.absoluteURL)
        guard let method = Method(rawValue: request.httpMethod ?? "GET") else {
            throw TransportError(.invalidRequest, "The method of the URLRequest is not a token.", request: self)
        }
        self.method = method
        if request.httpBodyStream != nil {
            throw TransportError(
                .unsupported,
                "The content of the URLRequest is an InputStream, which can be read in one thread only."
                    + " Leave it out, and set the body to a file or an asynchronous stream.",
                request: self
            )
        }
        if let content = request.httpBody { body = HTTPBody(content) }
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            headers.append(HTTPField.Name(stringLiteral: name), value)
        }
        let timeout = request.timeoutInterval
        if timeout != URLRequest.standardTimeout {
            context.timeouts = Timeouts(idle: 0 < timeout && timeout < 1e9 ? .seconds(timeout) : nil)
        }
    }
}

extension URLRequest {
    fileprivate static let standardTimeout: TimeInterval = 60

    /// Creates Foundation's form of a request: its method, URL, fields, content and idle timeout.
    ///
    /// Fields with the same name are joined by commas, because Foundation holds one value for each name. A request with
    /// timeouts but no idle timeout gets one of a week. Other timeouts and all other context values are dropped.
    ///
    /// - Throws: `TransportError` if the request is invalid (`HTTPRequest.validate()`), and with
    ///   `unsupported` if its body is a file or a stream.
    public init(_ request: HTTPRequest) throws {
        try request.validate()
        guard let content = request.body.data else {
            throw TransportError(
                .unsupported,
                "The body is a file or a stream, which a URLRequest can't hold. Collect it first.",
                request: request
            )
        }
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        if !content.isEmpty { httpBody = content }
        for field in request.headers where value(forHTTPHeaderField: field.name.rawName) == nil {
            setValue(request.headers[field.name], forHTTPHeaderField: field.name.rawName)
        }
        if let timeouts = request.context.timeouts {
            timeoutInterval = timeouts.idle.map { $0 / .seconds(1) } ?? 7 * 24 * 3600
        }
    }
}
