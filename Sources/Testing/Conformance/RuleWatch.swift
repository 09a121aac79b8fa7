internal import Synchronization

/// Runs a check on the usual threads, and ends the check when nothing has happened for a time.
///
/// For checks whose subject works on other threads, which no ``RuleStage`` can order. The time is real, but only a bound: a check
/// that goes on never depends on the time. The time counts in small steps, and a step counts only if the runtime has run
/// a task meanwhile, so a busy machine doesn't end a check.
final class RuleWatch: Sendable {
    private static let steps = 40
    /// The least time in which the runtime runs no task, before a check ends. A busy machine may run none for seconds.
    private static let leastBlocked = Duration.seconds(60)

    fileprivate struct State {
        var task: Task<Void, Never>?
        var progress = 0
        var quietSteps = 0
        var blockedSteps = 0
        var isProbing = false
    }

    private let patience: Duration
    private let progress: @Sendable () -> Int
    private let report: RuleStage.Report
    private let state = Mutex(State())

    /// Creates a watch.
    ///
    /// - Parameters:
    ///   - patience: how long a check may go without progress.
    ///   - progress: a number that changes with each event of the check.
    ///   - report: makes the error of a check that doesn't go on.
    init(patience: Duration, progress: @escaping @Sendable () -> Int, report: @escaping RuleStage.Report) {
        self.patience = patience
        self.progress = progress
        self.report = report
    }

    /// Runs the check in a task. A check that doesn't go on is cancelled, and nobody waits for its task.
    func run(_ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withTaskCancellationHandler {
            try await WatchedWork.run(every: patience / Self.steps, check: { self.takeStep() }) { end in
                let task = Task {
                    let result: Result<Void, any Error>
                    do { result = .success(try await body()) } catch { result = .failure(error) }
                    end(result)
                }
                state.withLock { $0.task = task }
                if Task.isCancelled { task.cancel() }
            }
        } onCancel: {
            state.withLock(\.task)?.cancel()
        }
    }

    private func takeStep() -> WatchedWork.GivingUp? {
        let progress = progress()
        let blockedLimit = Int(min(1e9, Double(Self.steps) * max(6, Self.leastBlocked / patience)))
        let (standstill, mustProbe) = state.withLock { state in
            let standstill = state.count(progress, Self.steps, blockedLimit)
            defer { state.isProbing = true }
            return (standstill, !state.isProbing)
        }
        if let standstill {
            return { [self] in
                // Reported before the task is cancelled, while its calls still wait.
                defer { state.withLock(\.task)?.cancel() }
                return report(standstill)
            }
        }
        if mustProbe { Task { state.withLock { $0.isProbing = false } } }
        return nil
    }
}

extension RuleWatch.State {
    /// Counts a step, and returns why the check must end, if it must.
    fileprivate mutating func count(_ progress: Int, _ limit: Int, _ blockedLimit: Int) -> RuleStandstill? {
        if progress != self.progress {
            (self.progress, quietSteps, blockedSteps) = (progress, 0, 0)
        } else if isProbing {
            blockedSteps += 1
        } else {
            quietSteps += 1
        }
        return quietSteps > limit ? .stuck : blockedSteps > blockedLimit ? .blockedThread : nil
    }
}
