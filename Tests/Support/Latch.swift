internal import Synchronization

/// Opens once, and resumes the tasks that wait for it. A cancelled task waits on; see ``Gate`` for one that doesn't.
public final class Latch: Sendable {
    private let tally = Tally()

    /// Creates a closed latch.
    public init() {}

    /// Opens the latch.
    public func open() { tally.count() }

    /// Waits until the latch is open.
    public func opened() async { await tally.reached(1) }
}

/// Opens once, and resumes the tasks that wait for it. Cancelling a task ends its wait, too.
public final class Gate: Sendable {
    private let (stream, continuation) = AsyncStream.makeStream(of: Void.self)

    /// Creates a closed gate.
    public init() {}

    /// Opens the gate.
    public func open() { continuation.finish() }

    /// Waits until the gate is open or the task is cancelled.
    public func opened() async { for await _ in stream {} }
}

/// Counts from one, and lets tasks wait until a number is reached.
public final class Tally: Sendable {
    private struct State {
        var value = 0
        var waiting: [Int: [CheckedContinuation<Void, Never>]] = [:]
    }

    private let state = Mutex(State())

    /// Creates a tally at zero.
    public init() {}

    /// The number of calls of ``count()`` so far.
    public var value: Int { state.withLock(\.value) }

    /// Counts one more, and returns the new value.
    @discardableResult
    public func count() -> Int {
        let (value, due) = state.withLock { state in
            state.value += 1
            return (state.value, state.waiting.removeValue(forKey: state.value) ?? [])
        }
        for continuation in due { continuation.resume() }
        return value
    }

    /// Waits until the value is at least this, even if the task is cancelled.
    public func reached(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isReached = state.withLock { state in
                if state.value >= count { return true }
                state.waiting[count, default: []].append(continuation)
                return false
            }
            if isReached { continuation.resume() }
        }
    }
}
