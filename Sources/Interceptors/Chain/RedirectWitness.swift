internal import Foundation
internal import Synchronization

/// Sees the responses at the end of the chain, on behalf of an element that keeps responses.
///
/// Anything further inside may follow a redirect: `followRedirects`, an author's interceptor, an inner chain or a transport. URLs
/// alone don't show it, because an interceptor may also add a signature or a parameter to the URL.
@usableFromInline final class RedirectWitness: Sendable {
    private struct State {
        /// The number of responses seen.
        var count = 0
        /// The first URL that redirected.
        var redirected: URL?
        /// Whether a transport answered for another URL than it was asked for.
        var isMoved = false
    }

    private let state = Mutex(State())
    /// The witness of an outer element.
    private let outer: RedirectWitness?

    init(inside outer: RedirectWitness?) { self.outer = outer }

    /// Sends a request over the transport, and sees its response.
    @usableFromInline func send(
        _ request: consuming HTTPRequest,
        over transport: any Transport
    ) async throws -> HTTPResponse {
        let (url, count) = (request.url, count)
        let response = try await transport.send(request)
        // If the transport is a chain, its own end has seen the response.
        if self.count == count { see(response, from: url) }
        return response
    }

    private var count: Int { state.withLock { $0.count } }

    private func see(_ response: HTTPResponse, from url: URL) {
        state.withLock { state in
            state.count += 1
            if HTTPResponse.isRedirect(response.status, response.headerFields) {
                state.redirected = state.redirected ?? response.url ?? url
            }
            if let answered = response.url, !Self.isSame(answered, url, whole: true) { state.isMoved = true }
        }
        outer?.see(response, from: url)
    }

    /// Whether a redirect was followed before this response or, without a response, before an error.
    func hasLedElsewhere(to response: HTTPResponse?, from url: URL) -> Bool {
        state.withLock { state in
            if state.isMoved { return true }
            guard let response else { return state.redirected != nil }
            if let redirected = state.redirected {
                // The same URL again: a request that was repeated after a redirect to a log-in, for instance.
                guard let answered = response.url else {
                    return !HTTPResponse.isRedirect(response.status, response.headerFields)
                }
                return !Self.isSame(answered, redirected, whole: true)
            }
            // Nothing was seen of a request that an interceptor made without the context of the first.
            guard state.count == 0, let answered = response.url else { return false }
            return !Self.isSame(answered, url, whole: false)
        }
    }

    /// Whether two URLs are the same, apart from their fragments.
    ///
    /// - Parameter isWhole: whether the queries count too.
    private static func isSame(_ one: URL, _ other: URL, whole isWhole: Bool) -> Bool {
        if one.absoluteString == other.absoluteString { return true }
        guard Origin(one) == Origin(other) else { return false }
        let paths = [one, other].map { $0.path(percentEncoded: true) }.map { $0.isEmpty ? "/" : $0 }
        return paths[0] == paths[1]
            && (!isWhole || one.query(percentEncoded: true) == other.query(percentEncoded: true))
    }
}

extension HTTPContext {
    private enum RedirectWitnessKey: HTTPContextKey { static var defaultValue: RedirectWitness? { nil } }

    /// On a request: the witness of the innermost element passed so far that keeps responses.
    var redirectWitness: RedirectWitness? {
        get { self[RedirectWitnessKey.self] }
        set { self[RedirectWitnessKey.self] = newValue }
    }
}

extension HTTPRequest {
    /// The witness that sees the response at the end of the chain, if any.
    @usableFromInline var redirectWitness: RedirectWitness? { context.redirectWitness }

    /// Whether a response answers this request itself; `false` if a redirect was followed further inside, by whatever element or
    /// transport. The response then belongs to another URL, and must not be kept for this one.
    ///
    /// Call it on a request that was passed on after ``shareResponse(by:)``; on any other, it returns `true`. A URL that an inner
    /// interceptor has changed, for instance by a signature in the query, is no redirect.
    public func isAnswered(by response: HTTPResponse) -> Bool {
        !(context.redirectWitness?.hasLedElsewhere(to: response, from: url) ?? false)
    }

    /// Whether a redirect was met further inside, before this request ended in an error.
    package var hasBeenRedirected: Bool { context.redirectWitness?.hasLedElsewhere(to: nil, from: url) ?? false }
}
