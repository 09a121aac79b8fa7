internal import Foundation
internal import Synchronization

/// Sees the responses at the end of the chain, on behalf of an element that keeps responses.
///
/// Anything further inside may follow a redirect: `followRedirects`, an author's interceptor, an inner chain or a transport. URLs
/// alone don't show it, because an interceptor may also add a signature or a parameter to the URL.
@usableFromInline final class RedirectWitness: Sendable {
    private struct State {
        var hasSeen = false
        /// The URL of the last request that was sent.
        var last: URL?
        /// The other URLs of requests: none for a call of one request, so that nearly no call allocates the array.
        var earlier: [URL] = []
        /// The first URL that redirected.
        var redirected: URL?
        /// Whether a transport answered for another URL than it was asked for.
        var isMoved = false
    }

    private let state = Mutex(State())
    /// The witness of an outer element.
    private let outer: RedirectWitness?

    init(inside outer: RedirectWitness?) { self.outer = outer }

    /// Sends a request over the transport, and sees its response. If the transport is a chain, its end has seen the response too.
    @usableFromInline func send(
        _ request: consuming HTTPRequest,
        over transport: any Transport
    ) async throws -> HTTPResponse {
        let url = request.url
        begin(url)
        let response = try await transport.send(request)
        see(response, from: url)
        return response
    }

    private func begin(_ url: URL) {
        state.withLock { state in
            if let last = state.last, !Self.isSame(last, url) { state.earlier.append(last) }
            state.last = url
        }
        outer?.begin(url)
    }

    private func see(_ response: HTTPResponse, from url: URL) {
        state.withLock { state in
            state.hasSeen = true
            if HTTPResponse.isRedirect(response.status, response.headers) {
                state.redirected = state.redirected ?? response.url ?? url
            }
            // A chain further inside may have asked for another URL, with a signature for instance.
            guard let answered = response.url, !Self.isSame(answered, url), let last = state.last else { return }
            state.isMoved =
                state.isMoved || !Self.isSame(answered, last) && !state.earlier.contains { Self.isSame(answered, $0) }
        }
        outer?.see(response, from: url)
    }

    /// Whether a redirect was followed before this response or, without a response, before the last error.
    func hasLedElsewhere(to response: HTTPResponse?, from url: URL) -> Bool {
        state.withLock { state in
            if state.isMoved { return true }
            guard let response else {
                // Another attempt at the URL that redirected failed by itself.
                guard let redirected = state.redirected, let last = state.last else { return false }
                return !Self.isSame(last, redirected)
            }
            if let redirected = state.redirected {
                // The same URL again: a request that was repeated after a redirect to a log-in, for instance.
                guard let answered = response.url else {
                    return !HTTPResponse.isRedirect(response.status, response.headers)
                }
                return !Self.isSame(answered, redirected)
            }
            // An interceptor sent a new request without this context, so the witness saw nothing.
            guard !state.hasSeen, let answered = response.url else { return false }
            return !Self.isSame(answered, url)
        }
    }

    /// Whether two URLs are the same, apart from their fragments.
    private static func isSame(_ one: URL, _ other: URL) -> Bool {
        if one.absoluteString == other.absoluteString { return true }
        guard Origin(one) == Origin(other) else { return false }
        let paths = [one, other].map { $0.path(percentEncoded: true) }.map { $0.isEmpty ? "/" : $0 }
        return paths[0] == paths[1]
            && one.query(percentEncoded: true) == other.query(percentEncoded: true)
    }
}

extension HTTPRequest {
    /// The witness that sees the response at the end of the chain, if any.
    @usableFromInline var redirectWitness: RedirectWitness? { context.sharedExchange.witness }

    /// Whether a response answers this request itself; `false` if a redirect was followed further inside, by whatever element or
    /// transport. The response then belongs to another URL, and must not be kept for this one.
    ///
    /// Call it on a request that was passed on after ``shareResponse(by:)``; on any other, it returns `true`. A URL that an inner
    /// interceptor has changed, for instance by a signature in the query, isn't a redirect.
    public func isAnswered(by response: HTTPResponse) -> Bool {
        !(redirectWitness?.hasLedElsewhere(to: response, from: url) ?? false)
    }

    /// Whether the last attempt at this request met a redirect further inside, before it ended in an error.
    package var hasBeenRedirected: Bool { redirectWitness?.hasLedElsewhere(to: nil, from: url) ?? false }
}
