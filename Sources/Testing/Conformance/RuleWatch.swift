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

    /// - Parameter name: the function that the check waits for, by default the caller of this one.
    func waiting<Value>(for name: String = #function, _ body: () async throws -> Value) async rethrows -> Value {
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
