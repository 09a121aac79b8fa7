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
        case serveStale(CacheOutcome.Reason)
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
        let arrival = Arrival(
            policy: self,
            response: response,
            request: request,
            forward: forward,
            stored: stored,
            timing: timing
        )
        return isElsewhere ? arrival.elsewhere() : arrival.decision()
    }

    /// A response that has arrived, the forwarded request, and what is stored for it.
    struct Arrival {
        let policy: CachePolicy
        let response: HTTPResponse
        let request: HTTPRequest
        let forward: Forward
        let stored: [CacheEntry]
        let timing: Timing

        var fields: HTTPFields { response.headers }
        /// The indices of the stored responses that the request selects.
        var matching: [Int] { stored.indices.filter { policy.matches(stored[$0].response, request) } }
    }
}

extension CachePolicy.Arrival {
    func decision() -> CachePolicy.StorageDecision {
        if forward.reason == .bypass || forward.reason == .method { return store(replacing: [], orRemoving: []) }
        if request.method == .head { return ofHead() }
        if response.status == 304 { return ofNotModified() }
        // A part answers this range only, and says nothing against what is stored.
        if response.status == 206 { return .pass(.partial) }
        if let selected = forward.selected, HTTPResponse.Status.serverFailures.contains(response.status),
            case .served(let reason) = policy.afterFailure(stored[selected].response, request, now: timing.responseTime),
            reason != .disconnected
        {
            return .serveStale(reason)
        }
        let replaces = response.status.kind == .successful
        let isGone = response.status == 404 || response.status == 410
        let matching = matching
        return store(replacing: matching, orRemoving: replaces || isGone ? matching : [])
    }

    /// Decides about a response of another URL, to which a redirect has led.
    ///
    /// Stored responses belong to the URL that was asked (RFC 9111 §4), and validators are compared for one URL only (RFC 9110
    /// §8.8.3). So nothing is stored or confirmed. What a URL that now redirects answered earlier must be validated: otherwise, a
    /// later request would go back to it.
    fileprivate func elsewhere() -> CachePolicy.StorageDecision {
        if response.status == 304, forward.isConditional, !isCallers { return .sendAgain }
        guard request.method == .get, response.status.kind == .successful else { return .pass(.redirected) }
        let fresh = matching.filter { !stored[$0].response.needsValidation }
        return update(fresh, orPassing: .redirected) { outdated($0.response) }
    }

    // RFC 9111 §4.3.5
    private func ofHead() -> CachePolicy.StorageDecision {
        guard response.status == 200, CachePolicy.mayStore(request) else { return .pass(.method) }
        return update(matching.filter { stored[$0].response.status == 200 }, orPassing: .method) { old in
            describes(old) && !CacheControl(fields).noStore ? freshened(old.response) : outdated(old.response)
        }
    }

    private func update(
        _ indices: [Int],
        orPassing reason: CacheOutcome.Storing,
        _ update: (CacheEntry) -> CachedResponse
    ) -> CachePolicy.StorageDecision {
        let updates = indices.map { ($0, update(stored[$0])) }
        if updates.isEmpty { return .pass(reason) }
        return .freshen(Dictionary(uniqueKeysWithValues: updates), answer: false, mayStore: true)
    }

    /// A stored response that the server must confirm before it is used.
    private func outdated(_ stored: CachedResponse) -> CachedResponse {
        var outdated = stored
        outdated.needsValidation = true
        return outdated
    }

    /// Decides whether to store the response, and which entries it replaces or removes.
    private func store(replacing outdated: [Int], orRemoving removed: [Int]) -> CachePolicy.StorageDecision {
        if let refusal = CachePolicy.refusal(to: request) { return .pass(refusal, removing: removed) }
        let new = policy.stored(response, to: request, timing: timing)
        if let refusal = CachePolicy.refusal(of: response.status, new.facts) {
            return .pass(refusal, removing: removed)
        }
        if CachePolicy.isPassing(response.status), !CachePolicy.isOfUse(new) {
            return .pass(.status, removing: removed)
        }
        return .store(new, replacing: outdated)
    }
}
