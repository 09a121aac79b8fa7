internal import InterceptorsCore

extension CachePolicy {
    /// The use of a stored response after the server failed or couldn't be reached.
    enum AfterFailure: Equatable {
        /// The response may be served, for this reason.
        case served(CacheOutcome.Reason)
        /// The response or the request demands that the server confirms the response first.
        case forbidden
        /// The response is staler than ``maximumStaleness``, and counts as not stored.
        case tooStale
    }

    /// Decides on a stored response after the server failed or couldn't be reached (RFC 9111 §4.2.4, RFC 5861 §4).
    func afterFailure(_ response: CachedResponse, _ request: HTTPRequest, now: Int64) -> AfterFailure {
        guard !Self.forbidsStale(response), ![.reload, .revalidate].contains(request.context.cacheMode) else {
            return .forbidden
        }
        let constraints = Constraints(request)
        guard !constraints.demandsValidation, !constraints.directives.minFresh.isPresent else { return .forbidden }
        let freshness = Self.freshness(of: response, now: now)
        let windows = [response.facts.directives.staleIfError, constraints.directives.staleIfError]
        if windows.contains(where: { $0.isAtLeast(freshness.staleness) }) { return .served(.staleIfError) }
        guard !constraints.directives.maxAge.isPresent || constraints.allowStale(freshness) else { return .forbidden }
        // With an unknown age, because a clock is wrong, the response may be of any staleness.
        return freshness.staleness.map { $0 <= maximumStaleness } ?? false ? .served(.disconnected) : .tooStale
    }

    /// Whether a response must never be served without validation once it is stale.
    static func forbidsStale(_ response: CachedResponse) -> Bool {
        let directives = response.facts.directives
        return directives.mustRevalidate || directives.noCache || response.needsValidation
    }

    /// Whether an error is equivalent to a status of a failed server from a gateway: the server failed, rather than the caller or
    /// the server's certificate.
    static func isServerFailure(_ error: any Error) -> Bool {
        if let response = error.receivedResponse { return HTTPResponse.Status.serverFailures.contains(response.status) }
        return error.isOrIsCausedBy(failures)
    }

    private static let failures: Set<HTTPErrorCode> = .brokenExchanges.union([.invalidResponse, .transportFailed])
}
