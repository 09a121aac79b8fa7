internal import Foundation

/// The party that challenges, a server or a proxy, with its status and fields (RFC 9110 §11.6, §11.7).
struct Challenger: Sendable {
    let status: Int
    let challenge: HTTPField.Name
    let credentials: HTTPField.Name
    let information: HTTPField.Name
    /// The proxy; `nil` if a server challenges.
    let proxy: Origin?

    static let server = Self(
        status: 401,
        challenge: .wwwAuthenticate,
        credentials: .authorization,
        information: "Authentication-Info",
        proxy: nil
    )

    static func proxy(_ origin: Origin) -> Self {
        Self(
            status: 407,
            challenge: .proxyAuthenticate,
            credentials: .proxyAuthorization,
            information: "Proxy-Authentication-Info",
            proxy: origin
        )
    }

    /// Whether a response is a challenge of this party.
    func asks(in response: HTTPResponse, for origin: Origin) -> Bool {
        response.status.code == status && !response.context.hasChangedMethod && mayBeSource(of: response, at: origin)
    }

    /// The reason that a response with the status of a challenge doesn't count as one; `nil` for any other response.
    func disregard(of response: HTTPResponse) -> UnansweredChallenge? {
        guard response.status.code == status else { return nil }
        return response.context.hasChangedMethod ? .changedMethod : .afterRedirect
    }

    /// Whether a response shows that this party accepted the credentials. A proxy has accepted them once it forwards the
    /// request, whatever the server responds.
    func hasAccepted(in response: HTTPResponse, for origin: Origin) -> Bool {
        guard proxy != nil else { return [.successful, .redirection].contains(response.status.kind) }
        return response.status.code != status && mayBeSource(of: response, at: origin)
    }

    /// Whether the response's status and fields can be this party's. An interceptor inside may have followed a redirect to
    /// another origin. Over https, the origin alone responds: a proxy's own 407 refuses the tunnel (RFC 9110 §11.7.1), and the
    /// transport throws.
    func mayBeSource(of response: HTTPResponse, at origin: Origin) -> Bool {
        guard let answering = response.url else { return true }
        return proxy == nil ? Origin(answering).map { $0 == origin } ?? true : Self.goesByProxy(answering)
    }

    /// Whether a forward proxy sees the fields of a request to this URL. An https request goes through a tunnel, so the proxy
    /// doesn't.
    static func goesByProxy(_ url: URL) -> Bool { url.scheme?.lowercased() == "http" }

    /// The request target that a digest covers: for a proxy, the whole URL (RFC 9112 §3.2.2).
    func target(of request: HTTPRequest) -> String {
        guard proxy != nil else { return WireTarget(request).requestTarget }
        // The request line is made from the URL, whatever `Host` field the request has.
        var request = request
        request.headerFields.remove(.host)
        let target = WireTarget(request)
        return "http://" + target.authority + target.requestTarget
    }
}
