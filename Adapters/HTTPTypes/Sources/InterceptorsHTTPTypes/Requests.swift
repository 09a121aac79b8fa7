internal import Foundation
public import HTTPTypes
public import Interceptors

extension HTTPTypes.HTTPRequest.Method {
    /// Converts a method. Returns `nil` if the method isn't a token, which only a literal can cause.
    public init?(_ method: Interceptors.HTTPRequest.Method) { self.init(method.rawValue) }
}

extension Interceptors.HTTPRequest.Method {
    /// Converts a method.
    public init(_ method: HTTPTypes.HTTPRequest.Method) { self.init(stringLiteral: method.rawValue) }
}

extension HTTPTypes.HTTPRequest {
    /// Converts a request. Its body and context have no counterpart: take them from the original.
    ///
    /// Scheme, authority, path and query are copied as they are in the URL. The fragment, which is never sent, is lost, and an
    /// empty path becomes `/`.
    ///
    /// - Throws: ``TransportError`` with the code `unsupportedURL` if the URL isn't an absolute http or https URL with
    ///   a host, or has a user name or a password; with `invalidRequest` for a method or field that can't be sent.
    public init(_ request: Interceptors.HTTPRequest) throws {
        guard let method = Method(request.method) else {
            throw TransportError(.invalidRequest, "The method is not a token (RFC 9110 §9.1).", request: request)
        }
        guard let target = TargetParts(request.url.absoluteString) else {
            throw TransportError(
                .unsupportedURL,
                "The URL must be an absolute http or https URL with a host, without a user name or a password.",
                request: request
            )
        }
        self.init(
            method: method,
            scheme: target.scheme,
            authority: target.authority,
            path: target.path,
            headerFields: try HTTPTypes.HTTPFields(request.headers)
        )
    }
}

extension Interceptors.HTTPRequest {
    /// Converts a request, with the values that swift-http-types doesn't have.
    ///
    /// - Parameters:
    ///   - request: the request. It needs a scheme, an authority and a path; a server may have to add the first two.
    ///   - body: the content.
    ///   - context: the context.
    /// - Throws: ``TransportError`` with the code `unsupportedURL` if scheme, authority and path make no http or https
    ///   URL. Examples are `CONNECT`, `OPTIONS *`, and a request with an `extendedConnectProtocol`.
    public init(
        _ request: HTTPTypes.HTTPRequest,
        body: HTTPBody = .empty,
        context: HTTPContext = HTTPContext()
    ) throws {
        let text = "\(request.scheme ?? "")://\(request.authority ?? "")\(request.path ?? "")"
        // Foundation would encode or move what doesn't belong into a URL, so that the request would have another target.
        guard request.extendedConnectProtocol == nil, request.method != .connect,
            let parts = TargetParts(text), parts.scheme == request.scheme, parts.authority == request.authority,
            parts.path == request.path, let url = URL(string: text), url.absoluteString == text, url.host() != nil
        else {
            throw TransportError(
                .unsupportedURL,
                "The request's scheme, authority and path must make an http or https URL. A server's request may lack the"
                    + " first two."
            )
        }
        self.init(
            method: Method(request.method),
            url: url,
            headers: Interceptors.HTTPFields(request.headerFields),
            body: body,
            context: context
        )
    }
}

/// The parts of a URL that HTTP/2 sends as pseudo-header fields (RFC 9113 §8.3.1).
struct TargetParts {
    let scheme: String
    let authority: String
    let path: String

    /// The parts of an absolute http or https URL; `nil` for any other text, and if there is a user name or a password.
    init?(_ url: String) {
        let text = url.utf8
        guard let colon = text.firstIndex(of: UInt8(ascii: ":")), text[colon...].starts(with: "://".utf8) else {
            return nil
        }
        let start = text.index(colon, offsetBy: 3)
        let end = text[start...].firstIndex { "/?#".utf8.contains($0) } ?? text.endIndex
        let target = text[end...].prefix { $0 != UInt8(ascii: "#") }
        scheme = String(url[..<colon])
        authority = String(url[start..<end])
        path = (target.first == UInt8(ascii: "/") ? "" : "/") + String(url[end..<target.endIndex])
        guard ["http", "https"].contains(scheme.lowercased()), !authority.isEmpty, !authority.utf8.contains(0x40) else {
            return nil
        }
    }
}
