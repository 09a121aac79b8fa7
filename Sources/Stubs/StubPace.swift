internal import Foundation

/// The waits of one exchange, on its transport's clock and within its request's time limits.
package struct StubPace: Sendable {
    private typealias Limit = (kind: TimeLimits.Limit, length: Duration, remaining: Duration)

    private let clock: any Clock<Duration>
    private let timeouts: Timeouts?
    private let request: HTTPRequest
    /// The end of an error's text.
    private let remark: String
    /// The time that is charged to the limit of the whole call.
    package var elapsed: Duration

    package init(clock: any Clock<Duration>, request: HTTPRequest, remark: String = "") {
        self.clock = clock
        self.timeouts = request.context.timeouts
        elapsed = timeouts?.spent ?? .zero
        self.request = request
        self.remark = remark
    }

    private var limit: Limit? {
        let idle: Limit? = timeouts?.idle.map { (.idle, $0, $0) }
        let total: Limit? = timeouts?.total.map { (.total, $0, $0 - elapsed) }
        return [idle, total].compactMap(\.self).min { $0.remaining < $1.remaining }
    }

    package mutating func wait(_ duration: Duration) async throws {
        guard duration > .zero else { return }
        if let limit, limit.remaining < duration { try await end(at: limit) }
        try await clock.sleep(for: duration)
        elapsed += duration
    }

    /// Waits until the task is cancelled or a time limit passes.
    package func waitForever() async throws -> HTTPResponse {
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
            group.addTask { try await end(at: limit) }
            while let value = try await group.next() { return value }
            throw CancellationError()
        }
    }

    private func end(at limit: Limit) async throws -> Never {
        try await clock.sleep(for: max(.zero, limit.remaining))
        throw TransportError(.timedOut, limit.kind.message(after: limit.length) + remark, request: request)
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
