internal import InterceptorsMiddlewares
internal import Synchronization

/// Lets a limited number of decodings run at a time, in order of arrival.
///
/// Each waiter belongs to a running load, so the callers bound the length of the line.
final class DecodingLine: Sendable {
    private struct State {
        var running = 0
        var lastTicket = 0
        var line = WaitingLine<Waiter<Admission>>()
    }

    private enum Admission: Sendable { case go, left }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = max(1, limit) }

    /// The number of decodings that run, and of those that wait.
    var counts: (running: Int, waiting: Int) { state.withLock { ($0.running, $0.line.count) } }

    /// Runs the closure when it is its turn.
    ///
    /// - Throws: `CancellationError` if the task was cancelled before; errors of the closure.
    func run<Value>(_ body: () async throws -> Value) async throws -> Value {
        try await enter()
        defer { leave() }
        try Task.checkCancellation()
        return try await body()
    }

    private func enter() async throws {
        let place = state.withLock { state -> (ticket: Int, waiter: Waiter<Admission>)? in
            guard state.running == limit else {
                state.running += 1
                return nil
            }
            state.lastTicket += 1
            let waiter = Waiter<Admission>()
            state.line.join(state.lastTicket, waiter)
            return (state.lastTicket, waiter)
        }
        guard let place else { return }
        let admission = await place.waiter.outcome { [self] _ in
            state.withLock { $0.line.remove(place.ticket) }?.resume(with: .left)
        }
        if admission == .left { throw CancellationError() }
    }

    private func leave() {
        let next = state.withLock { state -> Waiter<Admission>? in
            if let first = state.line.removeFirst() { return first.waiter }
            state.running -= 1
            return nil
        }
        next?.resume(with: .go)
    }
}
