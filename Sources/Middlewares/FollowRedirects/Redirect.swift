public import Foundation

/// One hop of a call that was redirected: a response that pointed elsewhere.
///
/// What it prints shows its URLs with secrets redacted.
public struct Redirect: Sendable {
    /// The status that redirected: 301, 302, 303, 307 or 308.
    public let status: HTTPResponse.Status
    /// The method of the request that was redirected.
    public let method: HTTPRequest.Method
    /// The URL that redirected.
    public let url: URL
    /// Where it pointed to, absolute.
    public let target: URL

    /// A hop.
    public init(status: HTTPResponse.Status, method: HTTPRequest.Method, url: URL, target: URL) {
        self.status = status
        self.method = method
        self.url = url
        self.target = target
    }

    /// Whether what followed was a retrieval of what the method had done, and not the method again.
    var changesMethod: Bool { !method.isSafe && RedirectRules.dropsContent(status, method) }
}

extension Redirect: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Such as `302 GET https://h/a -> https://h/b`, with secrets redacted.
    public var description: String {
        let (from, to) = (Redaction.standard.string(for: url), Redaction.standard.string(for: target))
        return "\(status.code) \(method) \(from) -> \(to)"
    }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// A mirror without secrets.
    public var customMirror: Mirror { Mirror(self, children: ["redirect": description]) }
}

/// A redirect about to be followed, as a policy sees it.
public struct RedirectProposal: Sendable {
    /// What redirected, and where to.
    public let redirect: Redirect
    /// The hops before this one.
    public let previous: [Redirect]
    /// The request that would be sent next.
    public let request: HTTPRequest
    /// The status and fields of the response that redirects; its body is not to be read.
    public let response: HTTPResponse
}

/// What a policy makes of a redirect.
public struct RedirectDecision: Sendable {
    enum Kind: Sendable {
        case follow(HTTPRequest?)
        case stop
    }

    let kind: Kind

    /// To send the proposed request.
    public static let follow = Self(kind: .follow(nil))
    /// To give the response that redirects to the caller.
    public static let stop = Self(kind: .stop)

    /// To send this request, made of the proposed one. Fields that were dropped for the new origin are sent if they are put
    /// back. Its URL may lead elsewhere: to an origin that was not proposed, only those credentials go that the policy has set;
    /// from https to http, only where that is allowed.
    public static func follow(_ request: HTTPRequest) -> Self { Self(kind: .follow(request)) }
}

extension HTTPContext {
    private enum RedirectsKey: HTTPContextKey { static var defaultValue: [Redirect] { [] } }

    /// On a response or an error: the redirects that led to it, the first one first; empty where there were none.
    public var redirects: [Redirect] {
        get { self[RedirectsKey.self] }
        set { self[RedirectsKey.self] = newValue }
    }

    /// Whether a redirect on the way to this response or error shows that the request itself was acted on: what came of it
    /// came of a retrieval after it, and the request must not be sent again for its sake.
    var hasChangedMethod: Bool { redirects.contains(where: \.changesMethod) }
}
