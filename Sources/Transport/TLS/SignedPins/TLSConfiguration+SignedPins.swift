extension TLSConfiguration {
    /// Sends a request. If its host's pins didn't match, fetches the signed list and sends once more with the new pins.
    ///
    /// - Parameters:
    ///   - timeouts: the time limits of the call. The limit for the whole call covers both attempts and the wait for the list.
    ///   - clock: measures the time since the call began.
    func sendUpdatingPins(
        _ request: HTTPRequest,
        _ timeouts: Timeouts,
        _ clock: Stopwatch,
        over send: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        do {
            return try await send(request)
        } catch let error as TransportError {
            guard let signedPins, let pinning = error.underlying as? PinningError, !signedPins.isOwn(request) else {
                throw error
            }
            // A limit this far away is treated as none, because adding it to a clock's instant could overflow.
            let limit = timeouts.total.flatMap { $0 < Stopwatch.farthest ? $0 : nil }
            let message = "The call took longer than its limit of \(limit ?? .zero), while it waited for signed pins."
            let late = TransportError(.timedOut, message, request: request)
            let failure = try await clock.bounded(by: limit, late) { try await signedPins.update(for: pinning.host) }
            let isMatchNow = pinningError(host: pinning.host, chain: pinning.chain) == nil
            guard isMatchNow, request.body.isReadable else {
                let reason = failure?.description ?? (isMatchNow ? "The body was used up." : "They don't match either.")
                let message = "\(error.message) Signed pins were of no help: \(reason)"
                throw TransportError(error.code, message, request: request, underlying: pinning)
            }
            var (request, remaining) = (request, timeouts)
            remaining.total = limit.map { $0 - clock.elapsed() }
            if let total = remaining.total, total <= .zero { throw late }
            request.context.timeouts = remaining
            return try await send(request)
        }
    }
}
