internal import Foundation
internal import Interceptors

/// An event in the life of the transfers: a call of the app, a report of the session, or the outcome of an effect.
enum TransferEvent: Sendable {
    /// The records of earlier launches were read.
    case launched
    /// The session's tasks, at a moment after the launch. After the final list, a transfer without a task is lost.
    case listed([ListedTask], isFinal: Bool)
    /// A record was written, and the session is about to get the task.
    case enqueued(TransferRecord)
    /// The session got a task.
    case started(TransferTask)
    /// The session got no task for an enqueued record.
    case notStarted(TransferTask)
    /// No request was made for a renewed attempt.
    case notRenewed(TransferTask)
    /// The session reports the progress of a task.
    case progressed(TransferTask, TransferProgress? = nil)
    /// The content of a response is in a file, which exists only during this event.
    case downloaded(TransferTask, TransferResponse, URL)
    /// A task ended. Without a failure and a response, nothing is known about its outcome.
    ///
    /// - content: the beginning of an upload's response.
    case completed(TransferTask, TransferResponse?, failure: TransferFailure?, content: Data = Data())
    case cancelled(BackgroundTransfer.ID)
    /// The app's closure returned for the end of a transfer.
    case delivered(BackgroundTransfer.ID)
    /// A caller waits until the events of a wake are delivered.
    case awaited(Int)
    /// The session's tasks, at a moment after a caller began to wait.
    case compared(Int, [ListedTask])
    /// A caller waits no more.
    case abandoned(Int)
    /// The session has no more events of a wake.
    case eventsFinished
    /// The session has ended, and with it every task.
    case invalidated(TransferFailure)
}

/// A task that the session knows.
struct ListedTask: Sendable, Hashable {
    /// The session's number of the task.
    let number: Int
    /// `nil` for a task that this module didn't start.
    let task: TransferTask?
    var state = State.running

    enum State: Sendable {
        case running
        /// Created, and never resumed.
        case suspended
        /// Its end will be reported.
        case ending
    }
}

/// The work that the owner of a ``TransferMachine`` does for it.
enum TransferEffect: Sendable, Hashable {
    case cancel(TransferTask)
    case cancelNumber(Int)
    case resumeNumber(Int)
    /// A caller waits: the machine gets the session's tasks.
    case compare(Int)
    case renew(TransferRecord, TransferFailure)
    case deliver(TransferRecord, TransferEnding)
    case resume([Int])
    /// Somebody should learn of this.
    case report(TransferFailure)
}

/// The transfers of one identifier, without I/O except for their files: events in, effects out.
///
/// A transfer's record is on disk from before its task exists until its end was delivered, so a killed process forgets none. Each
/// attempt has another task. Events of an earlier attempt, and events after the end, change nothing.
///
/// ```
/// enqueued ──── file received ───▶ staged ──▶ ended ──▶ delivered, and forgotten
///   ▲  ╰─ failure, cancelled, upload completed ──▲
///   ╰── renewing ◀── failure with a fresh request to try
/// ```
struct TransferMachine<Storage: TransferStorage>: Sendable {
    private struct Entry: Sendable {
        var record: TransferRecord
        /// Whether this process has seen a sign of the attempt's task, or is about to start it.
        var isSeen: Bool
        /// Whether this process is preparing a request.
        var isRenewing = false
        /// Whether this process delivers the end.
        var isDelivering = false
    }

    var storage: Storage
    /// The highest number of attempts of a transfer.
    private let maxAttempts: Int
    /// The effects of the event that is being handled.
    private var effects: [TransferEffect] = []
    private var entries: [BackgroundTransfer.ID: Entry] = [:]
    private var waits = WakeWaits()
    /// The transfers that were forgotten before the final list, which may still have their tasks.
    private var forgotten: Set<BackgroundTransfer.ID>? = []

    /// - Parameter maxAttempts: 1 if failed transfers aren't renewed.
    init(_ records: [TransferRecord], in storage: Storage, maxAttempts: Int) {
        self.storage = storage
        self.maxAttempts = maxAttempts
        for record in records { entries[record.id] = Entry(record: record, isSeen: false) }
    }

    /// The transfers whose end wasn't delivered yet, ordered by ID.
    var records: [TransferRecord] { entries.values.map(\.record).sorted { $0.id < $1.id } }

    /// Whether a download that hasn't ended writes this file.
    func isDownloading(to path: StoredPath) -> Bool {
        entries.values.contains { $0.record.destination == path && !$0.record.phase.isEnd }
    }

    /// The record of a task whose events still count.
    func record(of task: TransferTask) -> TransferRecord? { isCurrent(task) ? entries[task.id]?.record : nil }

    /// Whether events of a task still count.
    func isCurrent(_ task: TransferTask) -> Bool {
        entries[task.id].map { $0.record.task == task && $0.record.phase.isOpen } ?? false
    }

    /// Handles an event, changes the files, and returns the effects.
    mutating func handle(_ event: TransferEvent) -> [TransferEffect] {
        respond(to: event)
        resumeIfIdle()
        defer { effects = [] }
        return effects
    }

    private mutating func respond(to event: TransferEvent) {
        switch event {
        case .launched: launch()
        case .listed(let tasks, let isFinal):
            for task in tasks { match(task) }
            if isFinal { endLost() }
        case .enqueued(let record): entries[record.id] = Entry(record: record, isSeen: true)
        case .started(let task): start(task)
        case .notStarted(let task): if let record = record(of: task) { forget(record) }
        case .notRenewed(let task): if let record = record(of: task) { giveUpRenewal(record) }
        case .progressed(let task, _): if isCurrent(task) { entries[task.id]?.isSeen = true }
        case .downloaded(let task, let response, let file): receive(task, response, file)
        case .completed(let task, let response, let failure, _): complete(task, response, failure)
        case .cancelled(let id): cancel(id)
        case .delivered(let id): if let record = entries[id]?.record, record.phase.isEnd { forget(record) }
        case .awaited(let number): if waits.begin(number) { effects.append(.compare(number)) }
        case .compared(let number, let tasks): compare(number, tasks)
        case .abandoned(let number): waits.abandon(number)
        case .eventsFinished: waits.finishEvents()
        case .invalidated(let failure):
            waits.finishEvents()
            effects.append(.report(failure))
            for record in records where isCurrent(record.task) { fail(record, failure) }
        }
    }
}

// Starting.
extension TransferMachine {
    private mutating func launch() {
        for record in records {
            switch record.phase {
            case .staged(let response): place(record, response)
            case .ended(let ending): deliver(record, ending)
            case .enqueued, .renewing: break
            }
        }
    }

    private mutating func match(_ listed: ListedTask) {
        if let id = listed.task?.id, forgotten?.contains(id) == true { return }
        guard let task = listed.task, let record = entries[task.id]?.record else {
            let message = "A task of the session has no record on disk to receive its outcome. It was cancelled."
            effects += [.cancelNumber(listed.number), .report(TransferFailure(.transferLost, message))]
            return
        }
        guard record.task == task, record.phase.isOpen else { return effects.append(.cancelNumber(listed.number)) }
        start(task)
        // The process ended between creating the task and resuming it.
        if listed.state == .suspended { effects.append(.resumeNumber(listed.number)) }
    }

    private mutating func compare(_ number: Int, _ tasks: [ListedTask]) {
        let present = Set(tasks.filter { $0.state != .ending }.compactMap(\.task))
        waits.compare(number, Set(records.filter(\.phase.isOpen).map(\.task)).subtracting(present))
    }

    private mutating func start(_ task: TransferTask) {
        // Cancelled before the session had the task.
        guard var record = record(of: task) else { return effects.append(.cancel(task)) }
        entries[task.id]?.isSeen = true
        entries[task.id]?.isRenewing = false
        waits.start(task)
        guard case .renewing = record.phase else { return }
        record.phase = .enqueued
        write(record)
    }

    private mutating func endLost() {
        forgotten = nil
        for record in records where isCurrent(record.task) && entries[record.id]?.isSeen == false {
            giveUpRenewal(record)
        }
    }

    /// Ends an attempt that has no task: with the failure that it should have repaired, if any.
    private mutating func giveUpRenewal(_ record: TransferRecord) {
        if case .renewing(let failure) = record.phase { end(record, .failed(failure)) } else { fail(record, .lost) }
    }
}

// Ending.
extension TransferMachine {
    private mutating func receive(_ task: TransferTask, _ response: TransferResponse, _ file: URL) {
        guard entries[task.id] != nil else {
            if forgotten?.contains(task.id) == true { return }
            let message = "The file of a transfer without a record was dropped."
            return effects.append(.report(TransferFailure(.transferLost, message)))
        }
        guard var record = record(of: task) else { return }
        entries[task.id]?.isSeen = true
        if let failure = response.failure(allowsOtherOrigins: record.allowsOtherOrigins) {
            return fail(record, failure)
        }
        guard record.isDownload else { return }
        if let failure = failure(of: { try $0.stage(file, for: record) }) { return fail(record, failure) }
        record.phase = .staged(response)
        write(record)
        place(record, response)
    }

    private mutating func place(_ record: TransferRecord, _ response: TransferResponse) {
        let failure = failure { try $0.place(record) }
        end(record, failure.map { .failed($0) } ?? .finished(response))
    }

    private mutating func complete(_ task: TransferTask, _ response: TransferResponse?, _ failure: TransferFailure?) {
        guard let record = record(of: task) else { return }
        guard let response, failure == nil else { return fail(record, failure ?? .lost) }
        if let failure = response.failure(allowsOtherOrigins: record.allowsOtherOrigins) {
            return fail(record, failure)
        }
        if record.isDownload { fail(record, .lost) } else { end(record, .finished(response)) }
    }

    private mutating func cancel(_ id: BackgroundTransfer.ID) {
        guard let record = entries[id]?.record, record.phase.isOpen else { return }
        effects.append(.cancel(record.task))
        end(record, .cancelled)
    }

    /// Ends an attempt: with another attempt, if that may succeed.
    private mutating func fail(_ record: TransferRecord, _ failure: TransferFailure) {
        guard failure.isRenewable, record.attempt < maxAttempts else { return end(record, .failed(failure)) }
        var record = record
        record.attempt += 1
        record.phase = .renewing(failure)
        entries[record.id] = Entry(record: record, isSeen: true, isRenewing: true)
        write(record)
        effects.append(.renew(record, failure))
    }

    private mutating func end(_ record: TransferRecord, _ ending: TransferEnding) {
        var record = record
        record.phase = .ended(ending)
        entries[record.id]?.isRenewing = false
        write(record)
        deliver(record, ending)
    }

    /// Delivers an end unless that has begun, whatever comes first: the launch or the session's report.
    private mutating func deliver(_ record: TransferRecord, _ ending: TransferEnding) {
        guard entries[record.id]?.isDelivering == false else { return }
        entries[record.id]?.isDelivering = true
        effects.append(.deliver(record, ending))
    }

    private mutating func forget(_ record: TransferRecord) {
        entries[record.id] = nil
        forgotten?.insert(record.id)
        if let failure = failure(of: { try $0.remove(record) }) { effects.append(.report(failure)) }
    }

    private mutating func write(_ record: TransferRecord) {
        entries[record.id]?.record = record
        if let failure = failure(of: { try $0.write(record) }) { effects.append(.report(failure)) }
    }

    private mutating func failure(of change: (inout Storage) throws -> Void) -> TransferFailure? {
        do {
            try change(&storage)
            return nil
        } catch {
            return TransferFailure(error, otherwise: .unwritableFile, "A file of the transfer can't be written.")
        }
    }

    /// Resumes the callers that wait for a wake's events, once all ends are delivered. The system then suspends the process.
    private mutating func resumeIfIdle() {
        guard !entries.values.contains(where: { $0.isRenewing || !$0.record.phase.isOpen }) else { return }
        let open = Set(entries.values.map(\.record.task))
        let ready = waits.takeReady { open.contains($0) }
        if !ready.isEmpty { effects.append(.resume(ready)) }
    }
}

extension TransferRecord.Phase {
    var isEnd: Bool { if case .ended = self { true } else { false } }

    /// Whether events of the attempt's task count.
    fileprivate var isOpen: Bool {
        switch self {
        case .enqueued, .renewing: true
        case .staged, .ended: false
        }
    }
}

/// The files that the transfers need.
protocol TransferStorage: Sendable {
    mutating func write(_ record: TransferRecord) throws
    /// Removes a record, and everything that was kept for its transfer.
    mutating func remove(_ record: TransferRecord) throws
    /// Gives a received file its hidden name in the destination's folder.
    mutating func stage(_ file: URL, for record: TransferRecord) throws
    /// Renames the staged file to the destination, unless that has been done.
    mutating func place(_ record: TransferRecord) throws
}

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
