internal import Synchronization

/// The functions that a check waits for, and the number that has begun and ended.
final class WaitLog: Sendable, CustomStringConvertible {
    private struct State {
        var count = 0
        var pending: [Int: String] = [:]
    }

    private let state = Mutex(State())

    func begin(_ name: String) -> Int {
        state.withLock { state in
            state.count += 1
            state.pending[state.count] = name
            return state.count
        }
    }

    func end(_ id: Int) {
        state.withLock { state in
            state.count += 1
            state.pending[id] = nil
        }
    }

    func waiting<Value>(for name: String, _ body: () async throws -> Value) async rethrows -> Value {
        let wait = begin(name)
        defer { end(wait) }
        return try await body()
    }

    /// A number that grows with each beginning and end.
    var count: Int { state.withLock(\.count) }

    /// The functions that wait, the oldest first, as a sentence.
    var description: String {
        let pending = state.withLock { $0.pending.sorted { $0.key < $1.key }.map(\.value) }
        guard !pending.isEmpty else { return "No function of what is checked is in progress." }
        let more = pending.count > 3 ? "; and \(pending.count - 3) more" : ""
        return "The check waits for: \(pending.prefix(3).joined(separator: "; "))\(more)."
    }
}
