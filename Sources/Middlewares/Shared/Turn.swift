internal import Synchronization

/// What a task that waits in a line is told, once.
///
/// Whoever takes a waiter out of its line, under the lock of the line, tells it so, outside of the lock: only one can, so no
/// waiter is told twice, and none is forgotten. It may be told before it waits.
final class Turn<Outcome: Sendable>: Sendable {
    private enum State {
        case untold
        case awaited(CheckedContinuation<Outcome, Never>)
        case told(Outcome)
    }

    private let state = Mutex(State.untold)

    /// Ends the waiting. What is told later counts no more.
    func tell(_ outcome: Outcome) {
        let waiting: CheckedContinuation<Outcome, Never>? = state.withLock { state in
            switch state {
            case .told: return nil
            case .untold:
                state = .told(outcome)
                return nil
            case .awaited(let continuation):
                state = .told(outcome)
                return continuation
            }
        }
        waiting?.resume(returning: outcome)
    }

    /// What it is told, by anyone but the two below.
    private func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let told: Outcome? = state.withLock { state in
                if case .told(let outcome) = state { return outcome }
                state = .awaited(continuation)
                return nil
            }
            if let told { continuation.resume(returning: told) }
        }
    }

    /// Waits until it is told. One task waits, once.
    ///
    /// - Parameters:
    ///   - deadline: when to give up at the latest. One that is enforced further outside cancels the task by itself.
    ///   - giveUp: called, from any task, when the waiting task is cancelled or the deadline passes. If the waiter is still
    ///     in its line, it takes it out and tells it; if not, somebody else has told it, or is about to.
    func outcome(
        before deadline: Deadline?,
        giveUp: @escaping @Sendable (GivingUp) -> Void
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

/// Why a task waits no longer.
enum GivingUp: Sendable, Hashable {
    case cancelled
    case timeIsUp
}
