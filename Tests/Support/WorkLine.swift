internal import Synchronization

/// Runs a limited number of pieces of work at a time, in order of arrival.
///
/// Waiting suspends the task and blocks no thread: with few threads, a blocked thread would be missing from the pool
/// that runs the tests.
public final class WorkLine: Sendable {
    /// The heavy work of all test modules of this process, one piece at a time.
    public static let heavy = WorkLine(limit: 1)

    private struct State {
        var free: Int
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>

    /// Creates a line.
    ///
    /// - Parameter limit: the number of pieces of work that run at once.
    public init(limit: Int) { state = Mutex(State(free: limit)) }

    /// Runs the work as soon as its turn comes.
    public func run<Value>(_ work: () async throws -> Value) async rethrows -> Value {
        await withCheckedContinuation { continuation in
            let mayRun = state.withLock { state in
                guard state.free > 0 else {
                    state.waiters.append(continuation)
                    return false
                }
                state.free -= 1
                return true
            }
            if mayRun { continuation.resume() }
        }
        defer {
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard state.waiters.isEmpty else { return state.waiters.removeFirst() }
                state.free += 1
                return nil
            }
            next?.resume()
        }
        return try await work()
    }
}
