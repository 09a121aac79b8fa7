internal import Interceptors

/// The callers that wait until the events of a wake are delivered, without I/O.
///
/// The session reports the end of events once for each wake, but perhaps before the caller of that wake begins to wait. An end that
/// came while nobody waited may also belong to an earlier wake. A caller that meets such an end therefore asks the session for its
/// tasks: a transfer that hasn't ended and has no task any more ended in this wake, and its report is still to come.
struct WakeWaits: Sendable {
    private struct Wait {
        /// Whether the session reported an end of events since the wait began.
        var hasFinished = false
        /// The tasks whose reports are still to come; `nil` as long as nothing is known about them.
        var unreported: Set<TransferTask>?
    }

    private var waits: [Int: Wait] = [:]
    /// Whether an end of events came while nobody waited.
    private var hasEarlierEnd = false

    /// Begins to wait. Returns whether to compare the session's tasks (``compare(_:_:)``).
    mutating func begin(_ number: Int) -> Bool {
        waits[number] = Wait()
        defer { hasEarlierEnd = false }
        return hasEarlierEnd
    }

    mutating func abandon(_ number: Int) { waits[number] = nil }

    mutating func finishEvents() {
        hasEarlierEnd = waits.isEmpty
        for number in waits.keys { waits[number]?.hasFinished = true }
    }

    /// - Parameter unreported: the tasks of open transfers that the session doesn't have.
    mutating func compare(_ number: Int, _ unreported: Set<TransferTask>) { waits[number]?.unreported = unreported }

    /// The session got a task after all.
    mutating func start(_ task: TransferTask) {
        for number in waits.keys { waits[number]?.unreported?.remove(task) }
    }

    /// Ends the waits that nothing keeps, and returns their numbers.
    ///
    /// - Parameter isOpen: whether a task's report still counts.
    mutating func takeReady(isOpen: (TransferTask) -> Bool) -> [Int] {
        let ready = waits.filter { $0.value.hasFinished || $0.value.unreported?.contains(where: isOpen) == false }
        for number in ready.keys { waits[number] = nil }
        return ready.keys.sorted()
    }
}
