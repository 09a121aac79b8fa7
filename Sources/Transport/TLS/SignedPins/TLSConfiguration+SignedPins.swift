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
            let limit = TotalLimit(timeouts.total, clock, request)
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
                total: try limit.remaining()
            )
            return try await send(request)
        }
    }
}

/// The remaining part of a call's overall time limit.
private struct TotalLimit {
    private let limit: Duration?
    private let clock: Stopwatch
    private let passed: TransportError

    init(_ limit: Duration?, _ clock: Stopwatch, _ request: HTTPRequest) {
        // A limit this far away is treated as none, because adding it to a clock's instant could overflow.
        self.limit = limit.flatMap { $0 < Stopwatch.farthest ? $0 : nil }
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

    /// Runs an operation and cancels it when the time limit passes.
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
