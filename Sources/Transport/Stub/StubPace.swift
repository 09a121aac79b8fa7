internal import Foundation

/// The waits of one exchange, on its transport's clock and within its request's time limits.
struct StubPace: Sendable {
    let clock: any Clock<Duration>
    let timeouts: Timeouts?
    let request: HTTPRequest
    private var elapsed: Duration

    init(clock: any Clock<Duration>, request: HTTPRequest) {
        self.clock = clock
        self.timeouts = request.context.timeouts
        elapsed = timeouts?.spent ?? .zero
        self.request = request
    }

    private var limit: Duration? {
        [timeouts?.idle, timeouts?.total.map { $0 - elapsed }].compactMap(\.self).min()
    }

    mutating func wait(_ duration: Duration) async throws {
        guard duration > .zero else { return }
        if let limit, limit < duration { try await end(after: limit) }
        try await clock.sleep(for: duration)
        elapsed += duration
    }

    /// Waits until the task is cancelled or a time limit passes.
    func waitForever() async throws -> HTTPResponse {
        try await limit {
            let (silence, end) = AsyncStream.makeStream(of: Never.self)
            defer { end.finish() }
            for await _ in silence {}
            throw CancellationError()
        }
    }

    /// Returns the closure's value, unless a time limit passes first.
    func limit<Value: Sendable>(_ make: @escaping @Sendable () async throws -> Value) async throws -> Value {
        guard let limit else { return try await make() }
        return try await withThrowingTaskGroup(of: Value.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await make() }
            group.addTask { try await end(after: limit) }
            while let value = try await group.next() { return value }
            throw CancellationError()
        }
    }

    private func end(after limit: Duration) async throws -> Never {
        try await clock.sleep(for: max(.zero, limit))
        throw TransportError(
            .timedOut,
            "The stub's answer takes longer than the request's time limit.",
            request: request
        )
    }
}

extension StubPace {
    /// Chunks with a wait before each, and the failure after them.
    func chunks(_ chunks: [StubAnswer.Chunk], _ failure: (any Error)?) -> HTTPBody {
        .restartable {
            UnfoldingSequence(from: { (pace: self, rest: chunks[...]) }) { state in
                try Task.checkCancellation()
                guard let chunk = state.rest.first else {
                    if let failure { throw failure }
                    return nil
                }
                try await state.pace.wait(chunk.pause)
                state.rest.removeFirst()
                return chunk.bytes
            }
        }
    }
}
