internal import Synchronization

/// Lets tasks wait until a rule opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var lastID = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
        var cancelled: Set<Int> = []
        var passes = 0
    }

    private let state = Mutex(State())

    var waiting: Int { state.withLock(\.waiting.count) }

    /// Waits until the gate is open. Throws `CancellationError` at once when the task is cancelled.
    func pass() async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return .failure(CancellationError()) }
                    if state.isOpen { return .success(()) }
                    state.waiting.append((id, continuation))
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else {
                    state.cancelled.insert(id)
                    return nil as CheckedContinuation<Void, any Error>?
                }
                return state.waiting.remove(at: index).continuation
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    /// Lets all pass, from now on.
    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for waiter in waiting { waiter.continuation.resume() }
    }

    /// Lets the task pass that waits longest; returns `false` if none waits.
    func letOnePass() -> Bool {
        let first = state.withLock { $0.waiting.isEmpty ? nil : $0.waiting.removeFirst() }
        first?.continuation.resume()
        return first != nil
    }
}
