internal import InterceptorsCore

extension CachePolicy {
    /// The decision about the server's response to a forwarded request.
    enum StorageDecision: Equatable {
        /// Return the response, and store it in place of some entries.
        case store(CachedResponse, replacing: [Int])
        /// Return the response without storing it, for a reason, and remove some entries.
        case pass(CacheOutcome.Storing, removing: [Int] = [])
        /// Update stored responses; return the selected one, or the server's response as it is.
        case freshen([Int: CachedResponse], answer: Bool, mayStore: Bool)
        /// Discard the response, and return the selected stored response, which is stale.
        case serveStale(CacheOutcome.StaleReason)
        /// The response answers a condition that only the cache added: send the request again without it.
        case sendAgain
    }

    /// - Parameters:
    ///   - request: the caller's request, without the fields of `forward`.
    ///   - isElsewhere: whether a redirect was followed inside the cache.
    func receive(
        _ response: HTTPResponse,
        to request: HTTPRequest,
        _ forward: Forward,
        stored: [CacheEntry],
        timing: Timing,
        isElsewhere: Bool = false
    ) -> StorageDecision {
        if isElsewhere { return receiveElsewhere(response, request, forward, stored: stored) }
        if forward.reason == .bypass || forward.reason == .method {
            return decision(about: response, to: request, timing, replacing: [], orRemoving: [])
        }
        if request.method == .head { return receiveHead(response, request, stored: stored, timing: timing) }
        if response.status == 304 { return receiveNotModified(response, request, forward, stored: stored, timing) }
        // A part answers this range only, and says nothing against what is stored.
        if response.status == 206 { return .pass(.partial) }
        if let selected = forward.selected, HTTPResponse.Status.serverFailures.contains(response.status),
            case .served(let reason) = afterFailure(stored[selected].response, request, now: timing.responseTime),
            reason != .disconnected
        {
            return .serveStale(reason)
        }
        let outdated = stored.indices.filter { matches(stored[$0].response, request) }
        let replaces = response.status.kind == .successful
        let isGone = response.status == 404 || response.status == 410
        return decision(
            about: response,
            to: request,
            timing,
            replacing: outdated,
            orRemoving: replaces || isGone ? outdated : []
        )
    }

    /// Decides about a response of another URL, to which a redirect has led.
    ///
    /// Stored responses belong to the URL that was asked (RFC 9111 §4), and validators are compared for one URL only (RFC 9110
    /// §8.8.3). So nothing is stored or confirmed. What a URL that now redirects answered earlier must be validated: otherwise, a
    /// later request would go back to it.
    private func receiveElsewhere(
        _ response: HTTPResponse,
        _ request: HTTPRequest,
        _ forward: Forward,
        stored: [CacheEntry]
    ) -> StorageDecision {
        if response.status == 304, forward.isConditional,
            !Self.isCallers(response.headerFields, request.headerFields)
        {
            return .sendAgain
        }
        guard request.method == .get, response.status.kind == .successful else { return .pass(.redirected) }
        var updates: [Int: CachedResponse] = [:]
        for index in stored.indices where matches(stored[index].response, request) {
            guard !stored[index].response.needsValidation else { continue }
            updates[index] = stored[index].response
            updates[index]?.needsValidation = true
        }
        return updates.isEmpty ? .pass(.redirected) : .freshen(updates, answer: false, mayStore: true)
    }

    // RFC 9111 §4.3.5
    private func receiveHead(
        _ response: HTTPResponse,
        _ request: HTTPRequest,
        stored: [CacheEntry],
        timing: Timing
    ) -> StorageDecision {
        guard response.status == 200, Self.mayStore(request) else { return .pass(.method) }
        var updates: [Int: CachedResponse] = [:]
        for index in stored.indices where matches(stored[index].response, request) {
            let old = stored[index]
            guard old.response.status == 200 else { continue }
            if Self.describes(response.headerFields, old), !CacheControl(response.headerFields).noStore {
                updates[index] = freshened(old.response, by: response, to: request, timing: timing)
            } else {
                updates[index] = old.response
                updates[index]?.needsValidation = true
            }
        }
        return updates.isEmpty ? .pass(.method) : .freshen(updates, answer: false, mayStore: true)
    }
}
