internal import Foundation

/// One run of a check on a stage: one job at a time, on a thread that belongs to the run, in an order that a seed determines.
package final class RulePlay: Sendable {
    package typealias Report = @Sendable (RuleStandstill) -> any Error

    private let stage: RuleStage
    private let patience: RulePatience
    private let report: Report
    private let body: @Sendable (RuleStage) async throws -> Void

    /// Creates a run.
    ///
    /// - Parameters:
    ///   - clock: moves when nothing else can go on.
    ///   - report: makes the error of a check that can't go on.
    /// - Throws: `JobQueue.Unavailable` if the runtime doesn't let a program order its tasks.
    package init(
        seed: UInt64,
        clock: ManualClock,
        patience: RulePatience,
        report: @escaping Report,
        _ body: @escaping @Sendable (RuleStage) async throws -> Void
    ) throws {
        stage = try RuleStage(seed: seed, clock: clock, patience: patience)
        self.patience = patience
        self.report = report
        self.body = body
    }

    // On a separate thread, because the check owns its thread, and the checked code may block it.
    package func run() async throws {
        try await WatchedThread.run(
            limit: patience.blockedThread,
            progress: { [stage] in stage.progress },
            blocked: { [report, stage] in
                // On another thread, because a cancellation handler may wait for what the blocked thread holds.
                defer { Thread.detachNewThread { [stage] in stage.cancel() } }
                return report(.blockedThread)
            }
        ) { [self] in
            try stage.play(reportingBy: report) { [body, stage] in try await body(stage) }
        }
    }
}
