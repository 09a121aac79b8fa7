internal import Synchronization

/// Delivers one outcome to one task that waits in a line.
///
/// The line's lock decides who delivers. The code that removes a waiter from the line under that lock owns the waiter and,
/// after unlocking, calls `resume(with:)`. Only one caller can remove a waiter, so each waiter gets exactly one outcome. The
/// outcome can arrive before the task starts to wait.
package final class Waiter<Outcome: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(CheckedContinuation<Outcome, Never>)
        case delivered(Outcome)
    }

    private let state = Mutex(State.pending)

    /// Creates a waiter without an outcome.
    package init() {}

    /// Delivers the outcome and resumes the task if it already waits. Later outcomes are ignored.
    package func resume(with outcome: Outcome) {
        let waiting: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .delivered: return nil
            case .pending:
                state = .delivered(outcome)
                return nil
            case .awaited(let continuation):
                state = .delivered(outcome)
                return continuation
            }
        }
        waiting?.resume(returning: outcome)
    }

    /// Waits without regard to cancellation and deadlines.
    private func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let delivered: Outcome? = state.withLock { state in
                if case .delivered(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let delivered { continuation.resume(returning: delivered) }
        }
    }

    /// Waits until an outcome arrives. Only one task may call this, once.
    ///
    /// - Parameters:
    ///   - deadline: the latest moment to wait until. If an outer `timeout` enforces the deadline, that cancels the task, and
    ///     no timer runs here.
    ///   - giveUp: called on any thread when the task is cancelled or the deadline passes. The closure removes the waiter from
    ///     its line and calls `resume(with:)`. If the waiter is no longer in the line, another caller has removed it and
    ///     resumes it.
    package func outcome(
        before deadline: Deadline? = nil,
        giveUp: @escaping @Sendable (WaitAbandonment) -> Void
    ) async -> Outcome {
        await withTaskCancellationHandler {
            guard let deadline, !deadline.isEnforced else { return await outcome() }
            return await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do { try await deadline.sleep() } catch { return }
                    giveUp(.timeIsUp)
                }
                let outcome = await outcome()
                group.cancelAll()
                return outcome
            }
        } onCancel: {
            giveUp(.cancelled)
        }
    }
}

/// The reason a task stopped waiting.
package enum WaitAbandonment: Sendable, Hashable {
    case cancelled
    case timeIsUp
}
