extension TLSConfiguration {
    /// Sends a request, and once more with the pins that a signed list brings, if it failed for those it had.
    ///
    /// - Parameters:
    ///   - timeouts: the limits of the call: that for the whole holds for both sendings and the wait for the list together.
    ///   - clock: since the call began.
    func sendUpdatingPins(
        _ request: HTTPRequest,
        _ timeouts: Timeouts,
        _ clock: CallClock,
        over send: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        do {
            return try await send(request)
        } catch let error as TransportError {
            guard let signedPins, let pinning = error.underlying as? PinningError, !signedPins.isOwn(request) else {
                throw error
            }
            let limit = WholeLimit(timeouts.whole, clock, request)
            let failure = try await limit.bound { try await signedPins.update(for: pinning.host) }
            let isMatchNow = pinningError(host: pinning.host, chain: pinning.chain) == nil
            guard isMatchNow, request.body.isReadable else {
                let reason = failure?.description ?? (isMatchNow ? "The body was used up." : "They don't match either.")
                let message = "\(error.message) Signed pins were of no help: \(reason)"
                throw TransportError(error.code, message, request: request, underlying: pinning)
            }
            var request = request
            request.context.timeouts = Timeouts(
                connect: timeouts.connect,
                idle: timeouts.idle,
                whole: try limit.remaining()
            )
            return try await send(request)
        }
    }
}

/// What is left of the time that a call may take.
private struct WholeLimit {
    private let limit: Duration?
    private let clock: CallClock
    private let passed: TransportError

    init(_ limit: Duration?, _ clock: CallClock, _ request: HTTPRequest) {
        // So far away, it is none, and instants of clocks can overflow.
        self.limit = limit.flatMap { $0 < Deadlines.farthest ? $0 : nil }
        self.clock = clock
        let message = "The call took longer than its limit of \(limit ?? .zero), while it waited for signed pins."
        passed = TransportError(.timedOut, message, request: request)
    }

    func remaining() throws -> Duration? {
        guard let limit else { return nil }
        let remaining = limit - clock.elapsed()
        guard remaining > .zero else { throw passed }
        return remaining
    }

    /// Runs an operation, which is cancelled when the time is over.
    func bound<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let limit else { return try await operation() }
        return try await withThrowingTaskGroup(of: Value.self) { [clock, passed] group in
            group.addTask { try await operation() }
            group.addTask {
                try await clock.sleep(limit)
                throw passed
            }
            defer { group.cancelAll() }
            guard let first = try await group.next() else { throw CancellationError() }
            return first
        }
    }
}
