internal import Foundation
internal import Synchronization

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
        let clock = clock
        return try await Stopwatch.starting(clock).bounded(by: limit.remaining, error(at: limit), make)
    }

    private func end(at limit: Limit) async throws -> Never {
        try await clock.sleep(for: max(.zero, limit.remaining))
        throw error(at: limit)
    }

    private func error(at limit: Limit) -> TransportError {
        TransportError(.timedOut, limit.kind.message(after: limit.length) + remark, request: request)
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

/// Applies a request's time limits to reading its body into memory.
package struct ReadingLimit: Sendable {
    private let request: HTTPRequest
    private let idle: Duration?
    private let total: Duration?
    private let spent: Duration
    private let watch: Stopwatch

    /// Limits that count from now.
    package init(_ request: HTTPRequest, clock: any Clock<Duration>) {
        // A limit this long is ignored, because adding it to a clock's instant could overflow.
        func bounded(_ limit: Duration?) -> Duration? { limit.flatMap { $0 < Stopwatch.farthest ? $0 : nil } }
        self.request = request
        idle = bounded(request.context.timeouts?.idle)
        total = bounded(request.context.timeouts?.total)
        spent = request.context.timeouts?.spent ?? .zero
        watch = Stopwatch.starting(clock)
    }

    /// Adds the time since the start to the part of the total limit that is spent.
    package func charge(_ request: inout HTTPRequest) {
        guard total != nil else { return }
        request.context.timeouts?.spent = spent + watch.elapsed()
    }

    /// Runs a closure that reads the body. Cancels it when a limit passes.
    ///
    /// The closure's task is waited for, so a source that ignores cancellation delays the error until it returns. Otherwise the
    /// source would still be read after the call has ended, when its owner may reuse or close it.
    ///
    /// - Parameter read: the closure, which calls its argument for each chunk that arrives.
    /// - Throws: `TransportError` with `HTTPErrorCode.timedOut`. Rethrows the closure's error.
    package func run<Value: Sendable>(
        _ read: @escaping @Sendable (_ arrived: @escaping @Sendable () -> Void) async throws -> Value
    ) async throws -> Value {
        guard idle != nil || total != nil else { return try await read {} }
        let lastChunk = LastChunk()
        return try await withThrowingTaskGroup(of: Value.self) { [watch] group in
            defer { group.cancelAll() }
            group.addTask { try await read { lastChunk.time.withLock { $0 = watch.elapsed() } } }
            group.addTask { throw try await passed(after: lastChunk) }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    private final class LastChunk: Sendable { let time = Mutex(Duration.zero) }

    /// Waits until a limit has passed.
    private func passed(after lastChunk: LastChunk) async throws -> TransportError {
        while true {
            let silence = idle.map { (TimeLimits.Limit.idle, $0, at: lastChunk.time.withLock(\.self) + $0) }
            let end = total.map { (TimeLimits.Limit.total, $0, at: $0 - spent) }
            guard let next = [silence, end].compactMap(\.self).min(by: { $0.at < $1.at }) else {
                throw CancellationError()
            }
            guard watch.elapsed() < next.at else {
                return TransportError(.timedOut, next.0.message(after: next.1), request: request)
            }
            try await watch.sleep(next.at)
        }
    }
}
