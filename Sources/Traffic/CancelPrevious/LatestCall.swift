internal import Foundation
internal import Synchronization

/// A call that a later one with the same key can cancel, until the call's response has been read.
///
/// The state under the lock decides the race between `supersede()` and the call's progress. A superseded call never leaves
/// that state: `supersede()` cancels the stored task or body, and `run(_:next:)` cancels or discards any that comes later.
final class LatestCall: Sendable {
    private enum State {
        /// The call hasn't started yet, or its response is complete and there is nothing to cancel.
        case idle
        case running(Task<HTTPResponse, any Error>)
        case streaming(HTTPBody)
        case superseded
    }

    /// The time that a call waits for a later one.
    struct Wait: Sendable {
        let duration: Duration
        let clock: any Clock<Duration>
    }

    private let state = Mutex(State.idle)

    var isSuperseded: Bool {
        state.withLock { if case .superseded = $0 { true } else { false } }
    }

    /// Cancels the call, whatever its state.
    func supersede() {
        let previous = state.withLock { state in
            defer { state = .superseded }
            return state
        }
        switch previous {
        case .running(let work): work.cancel()
        case .streaming(let body): body.discard()
        case .idle, .superseded: break
        }
    }

    /// Runs the rest of the chain in a separate task, which can be cancelled without cancelling the caller's task.
    ///
    /// - Throws: `CancellationError` if the call was superseded, whatever its outcome; errors of the rest of the chain.
    func run(_ request: HTTPRequest, after wait: Wait?, next: Next) async throws -> HTTPResponse {
        let work = Task(executorPreference: StartedWork.watcher) {
            if let wait { try await wait.clock.sleep(for: wait.duration) }
            return try await next(request)
        }
        if !advance(to: .running(work)) { work.cancel() }
        let answer = await withTaskCancellationHandler {
            await work.result
        } onCancel: {
            work.cancel()
        }
        let body = try? answer.get().body
        guard advance(to: body.map { $0.isUnreadStream ? .streaming($0) : .idle } ?? .idle) else {
            body?.discard()
            throw CancellationError()
        }
        return try answer.get()
    }

    private func advance(to new: State) -> Bool {
        state.withLock { state in
            if case .superseded = state { return false }
            state = new
            return true
        }
    }
}
