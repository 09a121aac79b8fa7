internal import Foundation

/// Follows redirects (RFC 9110 §15.4): each hop runs the rest of the chain again.
///
/// ```swift
/// interceptors: [.validateStatus(), .followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(…)]
///
/// .followRedirects { proposal in
///     proposal.request.url.host() == "api.example.com" ? .follow : .stop
/// }
/// ```
/// Its place is outside of what decides by origin what to send (`bearerAuth`, cookies, signatures), so that each hop is
/// decided anew, and inside of what judges the final status.
///
/// | status | what is sent next |
/// | --- | --- |
/// | 301, 302 | the same; after POST a GET without content |
/// | 303 | a GET without content, after HEAD a HEAD |
/// | 307, 308 | the same |
///
/// - "Without content" means without the fields that describe it, too.
/// - Any other status, and one of these whose `Location` is missing or empty, is the answer.
/// - A relative `Location` is resolved against the URL that answered (RFC 3986 §5.2), and inherits its fragment if it has
///   none. What a URL can't hold, such as spaces, is percent-encoded; user and password in it are dropped.
/// - To another origin (scheme, host or port) no `Authorization`, `Cookie`, `Proxy-Authorization` or `Host` of the request
///   goes, and no field that the redaction deems sensitive, such as `X-Api-Key`; once dropped, they don't come back with a
///   later hop. What interceptors further inside add is theirs to decide, by the URL of each hop.
/// - From https to http a redirect is refused, unless that is allowed.
/// - A body goes on as it is; a one-shot stream that was used up fails the call with
///   ``TransportError/Code/bodyNotReplayable`` before anything is sent.
/// - The body of a response that redirects is discarded. The context of the request goes with each hop; the response says
///   by ``HTTPContext/redirects`` how the call came to it, and by ``HTTPResponse/url`` where from. So does the context of an
///   error that ends the call after a redirect.
public struct FollowRedirectsInterceptor: Interceptor {
    /// Decides about one redirect. What it throws the caller gets.
    public typealias Policy = @Sendable (RedirectProposal) async throws -> RedirectDecision

    private let limit: Int
    private let allowsDowngrade: Bool
    private let rules: RedirectRules
    private let policy: Policy?

    /// An interceptor that follows redirects.
    ///
    /// - Parameters:
    ///   - limit: the most redirects of one call, 20 by default.
    ///   - allowsDowngrade: whether a redirect may lead from https to http.
    ///   - redaction: which fields are never sent to another origin, besides those that are always dropped.
    ///   - policy: sees each redirect before it is followed, even one that would be refused; by default all are followed.
    public init(
        limit: Int = 20,
        allowsDowngrade: Bool = false,
        redaction: Redaction = .standard,
        policy: Policy? = nil
    ) {
        self.limit = max(0, limit)
        self.allowsDowngrade = allowsDowngrade
        self.rules = RedirectRules(redaction: redaction)
        self.policy = policy
    }

    /// Passes the request on, and again for each redirect.
    ///
    /// - Throws: ``RedirectError``; ``TransportError`` with ``TransportError/Code/bodyNotReplayable``; what the policy or the
    ///   rest of the chain throws.
    @inline(__always)
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        var hops: [Redirect] = []
        while true {
            let response: HTTPResponse
            do {
                response = try await next(request)
            } catch {
                throw Self.noting(hops, in: error)
            }
            // Nearly every response is the answer as it is: it isn't worth an asynchronous call to find that out.
            if hops.isEmpty, response.url != nil, !RedirectRules.canRedirect(response.status) { return response }
            let following: HTTPRequest?
            do {
                following = try await self.request(after: request, response, hops: &hops)
            } catch {
                response.body.discard()
                throw Self.noting(hops, in: error)
            }
            guard let following else {
                var answer = response
                if answer.url == nil { answer.url = request.url }
                if !hops.isEmpty { answer.context.redirects = hops + answer.context.redirects }
                return answer
            }
            response.body.discard()
            try Task.checkCancellation()
            request = following
        }
    }

    /// What to send after a response, `nil` if it is the answer. A hop that is followed is added to the others.
    private func request(
        after request: HTTPRequest,
        _ response: HTTPResponse,
        hops: inout [Redirect]
    ) async throws -> HTTPRequest? {
        // Further inside the URL may have been changed: what is relative is relative to the one that answered.
        let base = response.url ?? request.url
        let target: URL
        switch RedirectRules.destination(of: response, from: base) {
        case .none: return nil
        case .url(let url): target = url
        case .invalid: throw failure(.invalidLocation, hops, response, request)
        }
        let hop = Redirect(status: response.status, method: request.method, url: base, target: target)
        var following = rules.request(after: request, status: response.status, to: target)
        let previous = hops
        hops.append(hop)
        if let policy {
            let proposal = RedirectProposal(redirect: hop, previous: previous, request: following, response: response)
            switch try await policy(proposal).kind {
            case .stop:
                hops = previous
                return nil
            case .follow(let changed?): following = rules.request(changed, insteadOf: following)
            case .follow(nil): break
            }
        }
        if hops.count > limit { throw failure(.tooManyRedirects, hops, response, request) }
        try check(following, after: request, response, hops)
        return following
    }

    /// The error with the redirects that led to it: what stands outside has to know which request it is about.
    private static func noting(_ hops: [Redirect], in error: any Error) -> any Error {
        guard !hops.isEmpty, var error = error as? any ContextualError else { return error }
        error.context.redirects = hops + error.context.redirects
        return error
    }

    private func check(
        _ following: HTTPRequest,
        after request: HTTPRequest,
        _ response: HTTPResponse,
        _ hops: [Redirect]
    ) throws {
        let scheme = following.url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else { throw failure(.unsupportedScheme, hops, response, request) }
        guard allowsDowngrade || !RedirectRules.isDowngrade(from: request.url, to: following.url) else {
            throw failure(.insecure, hops, response, request)
        }
        guard following.body.isReadable else {
            throw TransportError(
                .bodyNotReplayable,
                "The server redirects by \(response.status.code), so the body has to be sent again; but it is a one-shot"
                    + " stream that was used up. Use HTTPBody.restartable, bytes or a file.",
                request: following
            )
        }
    }

    private func failure(
        _ code: RedirectError.Code,
        _ hops: [Redirect],
        _ response: HTTPResponse,
        _ request: HTTPRequest
    ) -> RedirectError {
        RedirectError(code, limit: limit, redirects: hops, status: response.status, request: request)
    }
}

extension Interceptor where Self == FollowRedirectsInterceptor {
    /// Follows redirects: see ``FollowRedirectsInterceptor``.
    ///
    /// - Parameters:
    ///   - limit: the most redirects of one call, 20 by default.
    ///   - allowsDowngrade: whether a redirect may lead from https to http.
    ///   - redaction: which fields are never sent to another origin, besides those that are always dropped.
    ///   - policy: sees each redirect before it is followed, even one that would be refused; by default all are followed.
    public static func followRedirects(
        limit: Int = 20,
        allowsDowngrade: Bool = false,
        redaction: Redaction = .standard,
        policy: FollowRedirectsInterceptor.Policy? = nil
    ) -> Self {
        Self(limit: limit, allowsDowngrade: allowsDowngrade, redaction: redaction, policy: policy)
    }
}
