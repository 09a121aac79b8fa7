/// How long a check waits in real time, and how much it does, before it gives up.
struct RulePatience: Sendable {
    /// For other threads, when nothing can go on here.
    var otherThreads = Duration.seconds(3)
    /// For a job that blocks the thread.
    var blockedThread = Duration.seconds(30)
    /// For the whole check of an interceptor, whose sleeps on another clock may follow each other without end.
    var wholeCheck = Duration.seconds(120)
    var mostJobs = 3_000_000
    /// How often the time moves, or a wait of the check ends.
    var mostSteps = 100_000
}

/// Why a check ended without a result.
enum RuleStandstill: Error {
    /// Nothing can go on, and the check hasn't ended.
    case stuck
    /// Jobs or sleeps follow each other without end.
    case endless
    /// A job blocks its thread, so that no other task can go on.
    case blockedThread
}
