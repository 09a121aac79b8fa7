internal import InterceptorsMiddlewares
internal import Synchronization

/// Lets tasks wait until a rule opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Waiter<Bool>] = []
    }

    private let state = Mutex(State())

    var waiting: Int { state.withLock(\.waiting.count) }

    /// Waits until the gate is open. Throws `CancellationError` at once when the task is cancelled.
    func pass() async throws {
        try Task.checkCancellation()
        let waiter = Waiter<Bool>()
        let isOpen = state.withLock { state in
            if !state.isOpen { state.waiting.append(waiter) }
            return state.isOpen
        }
        if isOpen { return }
        let isLet = await waiter.outcome { [self] _ in
            let waiting = state.withLock { state in
                let index = state.waiting.firstIndex { $0 === waiter }
                return index.map { state.waiting.remove(at: $0) }
            }
            waiting?.resume(with: false)
        }
        if !isLet { throw CancellationError() }
    }

    /// Lets all pass, from now on.
    func open() {
        state.withLock { $0.isOpen = true }
        while letOnePass() {}
    }

    /// Lets the task pass that waits longest; returns `false` if none waits.
    func letOnePass() -> Bool {
        let first = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        first?.resume(with: true)
        return first != nil
    }
}
