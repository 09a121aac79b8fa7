internal import Interceptors
internal import Synchronization

/// Tells the listeners of a journal which calls have changed.
final class JournalListeners: Sendable {
    private struct State {
        var listeners: [Int: JournalListener] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())
    // Read at each event, so that a journal without listeners takes no lock.
    private let count = Atomic<Int>(0)

    /// The number of listeners.
    var listenerCount: Int { count.load(ordering: .relaxed) }

    func add(_ listener: JournalListener) -> Int {
        state.withLock { state in
            state.lastID += 1
            state.listeners[state.lastID] = listener
            count.store(state.listeners.count, ordering: .relaxed)
            return state.lastID
        }
    }

    func remove(_ id: Int) {
        state.withLock { state in
            state.listeners[id] = nil
            count.store(state.listeners.count, ordering: .relaxed)
        }
    }

    func hasChanged(_ call: JournalCall.ID) {
        guard listenerCount > 0 else { return }
        for listener in state.withLock({ Array($0.listeners.values) }) { listener.hasChanged(call) }
    }
}

/// Keeps the numbers of the calls that have changed since a reader saw them, each once.
final class JournalListener: Sendable {
    private struct State {
        // In the order in which the calls changed first.
        var changed: [JournalCall.ID] = []
        var known: Set<JournalCall.ID> = []
        var reader: CheckedContinuation<JournalCall.ID?, Never>?
        var isOver = false

        mutating func next() -> JournalCall.ID? {
            guard !changed.isEmpty else { return nil }
            let id = changed.removeFirst()
            known.remove(id)
            return id
        }
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Creates a listener.
    ///
    /// - Parameter limit: the maximum number of calls in the journal.
    init(limit: Int) { self.limit = max(1, limit) }

    func hasChanged(_ call: JournalCall.ID) {
        let reader = state.withLock { state -> CheckedContinuation<JournalCall.ID?, Never>? in
            guard !state.isOver else { return nil }
            if let reader = state.reader {
                state.reader = nil
                return reader
            }
            guard state.known.insert(call).inserted else { return nil }
            state.changed.append(call)
            // The journal keeps no more calls than this, so it has dropped the oldest.
            if state.changed.count > limit,
                let oldest = state.changed.indices.min(by: { state.changed[$0] < state.changed[$1] })
            {
                state.known.remove(state.changed.remove(at: oldest))
            }
            return nil
        }
        reader?.resume(returning: call)
    }

    /// Waits for a call that has changed; `nil` if the task is cancelled.
    func next() async -> JournalCall.ID? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isReady, id) = state.withLock { state -> (Bool, JournalCall.ID?) in
                    if state.isOver { return (true, nil) }
                    if let id = state.next() { return (true, id) }
                    state.reader = continuation
                    return (false, nil)
                }
                if isReady { continuation.resume(returning: id) }
            }
        } onCancel: {
            let reader = state.withLock { state in
                defer { state.reader = nil }
                state.isOver = true
                return state.reader
            }
            reader?.resume(returning: nil)
        }
    }
}
