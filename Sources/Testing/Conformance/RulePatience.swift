/// How long a check waits in real time before it gives up.
package struct RulePatience: Sendable {
    /// For other threads, when nothing can go on here.
    package var otherThreads = Duration.seconds(3)
    /// For a job that blocks the thread.
    package var blockedThread = Duration.seconds(30)
    /// For the whole check of an interceptor, whose sleeps on another clock may follow each other without end.
    package var wholeCheck = Duration.seconds(120)

    package init(
        otherThreads: Duration = .seconds(3),
        blockedThread: Duration = .seconds(30),
        wholeCheck: Duration = .seconds(120)
    ) {
        self.otherThreads = otherThreads
        self.blockedThread = blockedThread
        self.wholeCheck = wholeCheck
    }
}

/// Why a check ended without a result.
package enum RuleStandstill: Error {
    /// Nothing can go on, and the check hasn't ended.
    case stuck
    /// Jobs or sleeps follow each other without end.
    case endless
    /// A job blocks its thread, so that no other task can go on.
    case blockedThread
}
