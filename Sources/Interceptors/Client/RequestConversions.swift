#if canImport(FoundationNetworking)
internal import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension HTTPRequest {
    /// A request for the absolute http or https URL in a text, which is percent-encoded where it must be.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Code/unsupportedURL`` that says what is wrong with it.
    public init(method: Method = .get, string: String) throws {
        self.init(method: method, url: try URLText(absolute: string).url(madeFrom: string))
    }

    /// What Foundation's request says: its method, URL, fields, content and timeout.
    ///
    /// Its fields come in the order of their names, for Foundation keeps none. Its timeout becomes the idle one, unless it
    /// is Foundation's default of 60 seconds: then the transport's own stay. Cache policy, cookie handling and the networks
    /// that it may use are for URLSession alone, and left behind.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Code/unsupportedURL`` without a URL, with
    ///   ``TransportError/Code/invalidRequest`` if the method is no token, and with ``TransportError/Code/unsupported`` if
    ///   the content is an `InputStream`: give the request an ``HTTPBody`` made of a file or a stream instead.
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
            headerFields.append(HTTPField.Name(stringLiteral: name), value)
        }
        let timeout = request.timeoutInterval
        if timeout != URLRequest.standardTimeout {
            context.timeouts = Timeouts(idle: 0 < timeout && timeout < 1e9 ? .seconds(timeout) : nil)
        }
    }
}

extension URLRequest {
    fileprivate static let standardTimeout: TimeInterval = 60

    /// The same request for Foundation: its method, URL, fields, content and idle timeout.
    ///
    /// Fields of one name are joined by commas, for Foundation holds one of each. Without an idle time limit it gets one of a
    /// week. The other time limits and what else the context holds are left behind.
    ///
    /// - Throws: ``TransportError`` if the request is not fit to be sent (``HTTPRequest/validate()``), and with
    ///   ``TransportError/Code/unsupported`` if its body is a file or a stream.
    public init(_ request: HTTPRequest) throws {
        try request.validate()
        guard let content = request.body.bytes else {
            throw TransportError(
                .unsupported,
                "The body is a file or a stream, which a URLRequest can't hold. Collect it first.",
                request: request
            )
        }
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        if !content.isEmpty { httpBody = content }
        for field in request.headerFields where value(forHTTPHeaderField: field.name.rawName) == nil {
            setValue(request.headerFields[field.name], forHTTPHeaderField: field.name.rawName)
        }
        if let timeouts = request.context.timeouts {
            timeoutInterval = timeouts.idle.map { $0 / .seconds(1) } ?? 7 * 24 * 3600
        }
    }
}
