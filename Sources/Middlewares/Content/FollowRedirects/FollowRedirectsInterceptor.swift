internal import Foundation

/// The implementation of `.followRedirects(…)`, documented there.
struct FollowRedirectsInterceptor: PlacedInterceptor {
    typealias Policy = @Sendable (_ request: HTTPRequest, _ response: HTTPResponse) async throws -> HTTPRequest?

    let limit: Int
    let allowsDowngrade: Bool
    let rules: RedirectRules
    let policy: Policy?

    @inline(__always)
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        var hops: [Redirect] = []
        while true {
            // Again for each hop, because a policy may have made the request.
            if !request.context.followsRedirects { request.context.followsRedirects = true }
            let response: HTTPResponse
            do {
                response = try await next(request)
            } catch {
                throw Self.noting(hops, in: error)
            }
            // Nearly every response is final, so this check avoids the cost of an async call.
            if hops.isEmpty, response.url != nil, !response.status.canRedirect { return response }
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
            let resends = request.context.resendCount + 1
            request = following
            request.context.resendCount = resends
            request.context.callShape.willResend?()
        }
    }

    /// Returns the next request, or `nil` if the response is final. Appends a followed redirect to `hops`.
    private func request(
        after request: HTTPRequest,
        _ response: HTTPResponse,
        hops: inout [Redirect]
    ) async throws -> HTTPRequest? {
        // An inner interceptor may have changed the URL; a relative `Location` refers to the URL of the response.
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
            var redirecting = response
            redirecting.url = base
            redirecting.context.redirects = previous
            guard let changed = try await policy(following, redirecting) else {
                hops = previous
                request.note(.redirectStopped(hop))
                return nil
            }
            following = rules.request(changed, insteadOf: following)
        }
        if hops.count > limit { throw failure(.tooManyRedirects, hops, response, request) }
        try check(following, after: request, response, hops)
        note(hop, from: request, to: following)
        return following
    }

    private func note(_ hop: Redirect, from request: HTTPRequest, to following: HTTPRequest) {
        guard let step = request.context.observedStep else { return }
        step.add(.redirect(hop))
        let kept = Set(following.headers.map(\.name))
        let dropped = request.headers.map(\.name).filter { rules.isBoundToOrigin($0) && !kept.contains($0) }
        if !dropped.isEmpty { step.add(.credentialsDropped(dropped.map(\.rawName))) }
    }

    /// Adds the redirects to the error's context, because outer interceptors need to know which request the error is about.
    private static func noting(_ hops: [Redirect], in error: any Error) -> any Error {
        guard !hops.isEmpty, var error = error as? any HTTPError else { return error }
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
            throw failure(.insecureRedirect, hops, response, request)
        }
        guard following.body.isReadable else {
            let message =
                "The server redirects by \(response.status.code), so the body has to be sent again; but it is a one-shot stream"
                + " that was used up. Use HTTPBody.restartable, bytes or a file."
            throw TransportError(.bodyNotReplayable, message, request: following)
        }
    }

    private func failure(
        _ code: HTTPErrorCode,
        _ hops: [Redirect],
        _ response: HTTPResponse,
        _ request: HTTPRequest
    ) -> RedirectError {
        RedirectError(code, limit: limit, redirects: hops, status: response.status, request: request)
    }

    var placement: [ChainRole] {
        [.followsRedirects.with { $0.redaction = rules.redaction }, .readsStatus.only([301, 302, 303, 307, 308])]
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Follows redirects (RFC 9110 §15.4) by running the rest of the chain again for each one.
    ///
    /// ```swift
    /// interceptors: [.validateStatus(), .followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(…)]
    ///
    /// .followRedirects { request, _ in request.url.host() == "api.example.com" ? request : nil }
    /// ```
    /// ## Order
    /// - Outside interceptors that choose fields by origin (`bearerAuth`, cookies, signatures), so that they choose again after
    ///   each redirect.
    /// - Inside interceptors that check the final status.
    ///
    /// ## Behaviour
    /// | status | next request |
    /// | --- | --- |
    /// | 301, 302 | the same; after POST a GET without content |
    /// | 303 | a GET without content, after HEAD a HEAD |
    /// | 307, 308 | the same |
    ///
    /// - A request without content also loses the fields that describe content.
    /// - A response with any other status, or with a missing or empty `Location`, is returned to the caller.
    /// - A relative `Location` is resolved against the URL of the response (RFC 3986 §5.2), and inherits its fragment unless it
    ///   has one. Characters that a URL can't contain, such as spaces, are percent-encoded. User and password are removed.
    /// - A request to another origin (scheme, host or port) loses `Authorization`, `Cookie`, `Proxy-Authorization` and `Host`,
    ///   and every field with a sensitive name, such as `X-Api-Key`. Later redirects don't restore them. Inner interceptors may
    ///   add such fields again, by the URL of each request.
    /// - More than `limit` redirects, a `Location` that is no http or https URL, and a redirect from https to http fail with
    ///   ``RedirectError``. `allowsDowngrade` permits the last.
    /// - If a redirect repeats a one-shot stream that was already read, the call fails with
    ///   `HTTPErrorCode.bodyNotReplayable` before anything is sent.
    /// - The body of a redirect response is discarded. A redirect is followed even if its content can't be decoded, exceeds the
    ///   request's limit, ends too soon or stalls for a second. If the redirect isn't followed, reading its body throws the
    ///   failure. URLSession on Linux shows a redirect only after its content: there, only the limit can be exceeded.
    /// - All requests have the original request's context, except that ``InterceptorsTransport/HTTPContext/isIdempotent`` is reset if the method
    ///   changes.
    /// - The final response lists the redirects in ``InterceptorsTransport/HTTPContext/redirects``, and its `HTTPResponse.url` is that of the last
    ///   request. An error after a redirect lists the redirects in its context, too.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of redirects per call, 20 by default.
    ///   - allowsDowngrade: whether to follow redirects from https to http; `false` by default.
    ///   - redaction: decides by name which further fields are never sent to another origin.
    ///   - policy: decides about each redirect before it is followed, even about one that would be refused. The policy gets the next
    ///     request and the redirect response. It must not read the response's body; `context.redirects` are the earlier redirects. The
    ///     policy returns the request to send, perhaps changed. It may add fields that were removed for the new origin. If the policy
    ///     changes the URL to an origin that wasn't proposed, only credentials that the policy set are sent. `nil` to return
    ///     the redirect to the caller. If the policy throws, the caller gets the error. By default all redirects are followed.
    public static func followRedirects(
        limit: Int = 20,
        allowsDowngrade: Bool = false,
        redaction: Redaction = .standard,
        policy: (@Sendable (_ request: HTTPRequest, _ response: HTTPResponse) async throws -> HTTPRequest?)? = nil
    ) -> Self {
        Self(
            FollowRedirectsInterceptor(
                limit: max(0, limit),
                allowsDowngrade: allowsDowngrade,
                rules: RedirectRules(redaction: redaction),
                policy: policy
            )
        )
    }
}
