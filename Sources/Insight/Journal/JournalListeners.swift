internal import Synchronization

/// Tells the listeners of a journal which calls have changed.
final class JournalListeners: Sendable {
    private let listeners = Mutex<[ObjectIdentifier: JournalListener]>([:])
    // Read at each event, so that a journal without listeners takes no lock.
    private let count = Atomic<Int>(0)

    /// The number of listeners.
    var listenerCount: Int { count.load(ordering: .relaxed) }

    /// Adds a listener, and removes it when nobody reads its wake-ups any more.
    func add(_ listener: JournalListener) {
        let id = ObjectIdentifier(listener)
        change { $0[id] = listener }
        listener.wakeUp.onTermination = { [weak self] _ in self?.change { $0[id] = nil } }
    }

    func hasChanged(_ call: JournalCall.ID) {
        guard listenerCount > 0 else { return }
        for listener in listeners.withLock({ Array($0.values) }) { listener.hasChanged(call) }
    }

    private func change(_ change: (inout [ObjectIdentifier: JournalListener]) -> Void) {
        listeners.withLock { listeners in
            change(&listeners)
            count.store(listeners.count, ordering: .relaxed)
        }
    }
}

/// Keeps the numbers of the calls that have changed since a reader saw them, each once.
final class JournalListener: Sendable {
    private struct State {
        // In the order in which the calls changed first.
        var changed: [JournalCall.ID] = []
        var known: Set<JournalCall.ID> = []
    }

    /// Wakes the reader when a call has changed.
    let wakeUp: AsyncStream<Void>.Continuation
    private let limit: Int
    private let state = Mutex(State())

    /// Creates a listener.
    ///
    /// - Parameter limit: the maximum number of calls in the journal.
    init(limit: Int, wakeUp: AsyncStream<Void>.Continuation) {
        self.limit = max(1, limit)
        self.wakeUp = wakeUp
    }

    func hasChanged(_ call: JournalCall.ID) {
        state.withLock { state in
            guard state.known.insert(call).inserted else { return }
            state.changed.append(call)
            // The journal keeps no more calls than this, so it has dropped the oldest.
            if state.changed.count > limit,
                let oldest = state.changed.indices.min(by: { state.changed[$0] < state.changed[$1] })
            {
                state.known.remove(state.changed.remove(at: oldest))
            }
        }
        wakeUp.yield()
    }

    /// A call that has changed; `nil` if the reader has seen all changes.
    func next() -> JournalCall.ID? {
        state.withLock { state in
            guard !state.changed.isEmpty else { return nil }
            let id = state.changed.removeFirst()
            state.known.remove(id)
            return id
        }
    }
}
