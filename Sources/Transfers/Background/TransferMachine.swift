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
    case progressed(TransferTask)
    /// The content of a response is in a file, which exists only during this event.
    case downloaded(TransferTask, TransferResponse, URL)
    case staged(TransferTask, TransferResponse, failure: TransferFailure?)
    case placed(TransferTask, failure: TransferFailure?)
    /// A task ended. Without a failure and a response, nothing is known about its outcome.
    case completed(TransferTask, TransferResponse?, failure: TransferFailure?)
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
    // These change the disk, in the order in which they are given. The machine gets the outcome of `stage` and `place`.
    case write(TransferRecord)
    case remove(TransferRecord)
    case stage(TransferRecord, TransferResponse, URL)
    case place(TransferRecord, TransferResponse)
    // These don't.
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

/// The transfers of one identifier, without I/O: events in, effects out.
///
/// A transfer's record is on disk from before its task exists until its end was delivered, so a killed process forgets none. Each
/// attempt has another task. Events of an earlier attempt, and events after the end, change nothing.
///
/// ```
/// enqueued ──── file received ───▶ staged ──▶ ended ──▶ delivered, and forgotten
///   ▲  ╰─ failure, cancelled, upload completed ──▲
///   ╰── renewing ◀── failure with a fresh request to try
/// ```
struct TransferMachine: Sendable {
    private struct Entry: Sendable {
        var record: TransferRecord
        /// Whether this process has seen a sign of the attempt's task, or is about to start it.
        var isSeen: Bool
        /// Whether this process is preparing a request.
        var isRenewing = false
        /// Whether this process delivers the end.
        var isDelivering = false
    }

    /// The highest number of attempts of a transfer.
    private let maxAttempts: Int
    private var entries: [BackgroundTransfer.ID: Entry] = [:]
    private var waits = WakeWaits()
    /// The transfers that were forgotten before the final list, which may still have their tasks.
    private var forgotten: Set<BackgroundTransfer.ID>? = []

    /// - Parameter maxAttempts: 1 if failed transfers aren't renewed.
    init(_ records: [TransferRecord], maxAttempts: Int) {
        self.maxAttempts = maxAttempts
        for record in records { entries[record.transferID] = Entry(record: record, isSeen: false) }
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

    mutating func handle(_ event: TransferEvent) -> [TransferEffect] { respond(to: event) + resumeIfIdle() }

    private mutating func respond(to event: TransferEvent) -> [TransferEffect] {
        switch event {
        case .launched: return launch()
        case .listed(let tasks, let isFinal):
            let effects = tasks.flatMap { match($0) }
            return isFinal ? effects + endLost() : effects
        case .enqueued(let record): entries[record.transferID] = Entry(record: record, isSeen: true)
        case .started(let task): return start(task)
        case .notStarted(let task): if let entry = open(task) { return forget(entry.record) }
        case .notRenewed(let task): if let entry = open(task) { return giveUpRenewal(entry) }
        case .progressed(let task): if open(task) != nil { entries[task.id]?.isSeen = true }
        case .downloaded(let task, let response, let file): return receive(task, response, file)
        case .staged(let task, let response, let failure): return stage(task, response, failure)
        case .placed(let task, let failure): return place(task, failure)
        case .completed(let task, let response, let failure): return complete(task, response, failure)
        case .cancelled(let id): return cancel(id)
        case .delivered(let id):
            if let entry = entries[id], entry.record.phase.isEnd { return forget(entry.record) }
        case .awaited(let number): return waits.begin(number) ? [.compare(number)] : []
        case .compared(let number, let tasks): compare(number, tasks)
        case .abandoned(let number): waits.abandon(number)
        case .eventsFinished: waits.finishEvents()
        case .invalidated(let failure):
            waits.finishEvents()
            return [.report(failure)] + records.filter { isCurrent($0.task) }.flatMap { fail($0, failure) }
        }
        return []
    }
}

// Starting.
extension TransferMachine {
    private mutating func launch() -> [TransferEffect] {
        records.flatMap { record -> [TransferEffect] in
            switch record.phase {
            case .staged(let response): [.place(record, response)]
            case .ended(let ending): deliver(record, ending)
            case .enqueued, .renewing: []
            }
        }
    }

    private mutating func match(_ listed: ListedTask) -> [TransferEffect] {
        if let id = listed.task?.id, forgotten?.contains(id) == true { return [] }
        guard let task = listed.task, let record = entries[task.id]?.record else {
            let message =
                "A task of the session has no record on disk, so nobody could receive its outcome. It was cancelled."
            return [.cancelNumber(listed.number), .report(TransferFailure(.transferLost, message))]
        }
        guard record.task == task, record.phase.isOpen else { return [.cancelNumber(listed.number)] }
        // The process ended between creating the task and resuming it.
        return start(task) + (listed.state == .suspended ? [.resumeNumber(listed.number)] : [])
    }

    private mutating func compare(_ number: Int, _ tasks: [ListedTask]) {
        let present = Set(tasks.filter { $0.state != .ending }.compactMap(\.task))
        waits.compare(number, Set(records.filter(\.phase.isOpen).map(\.task)).subtracting(present))
    }

    private mutating func start(_ task: TransferTask) -> [TransferEffect] {
        // Cancelled before the session had the task.
        guard var record = open(task)?.record else { return [.cancel(task)] }
        entries[task.id]?.isSeen = true
        entries[task.id]?.isRenewing = false
        waits.start(task)
        guard case .renewing = record.phase else { return [] }
        record.phase = .enqueued
        return write(record)
    }

    private mutating func endLost() -> [TransferEffect] {
        forgotten = nil
        return records.flatMap { record -> [TransferEffect] in
            guard let entry = open(record.task), !entry.isSeen else { return [] }
            return giveUpRenewal(entry)
        }
    }

    /// Ends an attempt that has no task: with the failure that it should have repaired, if any.
    private mutating func giveUpRenewal(_ entry: Entry) -> [TransferEffect] {
        guard case .renewing(let failure) = entry.record.phase else { return fail(entry.record, .lost) }
        return end(entry.record, .failed(failure))
    }
}

// Ending.
extension TransferMachine {
    private mutating func receive(
        _ task: TransferTask,
        _ response: TransferResponse,
        _ file: URL
    ) -> [TransferEffect] {
        guard let record = entries[task.id]?.record else {
            if forgotten?.contains(task.id) == true { return [] }
            let message = "The file of a transfer without a record was dropped."
            return [.report(TransferFailure(.transferLost, message))]
        }
        guard open(task) != nil else { return [] }
        entries[task.id]?.isSeen = true
        if let failure = response.failure(allowsOtherOrigins: record.allowsOtherOrigins) {
            return fail(record, failure)
        }
        guard record.isDownload else { return [] }
        return [.stage(record, response, file)]
    }

    private mutating func stage(
        _ task: TransferTask,
        _ response: TransferResponse,
        _ failure: TransferFailure?
    ) -> [TransferEffect] {
        guard var record = open(task)?.record else { return [] }
        if let failure { return fail(record, failure) }
        record.phase = .staged(response)
        return write(record) + [.place(record, response)]
    }

    private mutating func place(_ task: TransferTask, _ failure: TransferFailure?) -> [TransferEffect] {
        guard let record = entries[task.id]?.record, case .staged(let response) = record.phase else { return [] }
        return end(record, failure.map { .failed($0) } ?? .finished(response))
    }

    private mutating func complete(
        _ task: TransferTask,
        _ response: TransferResponse?,
        _ failure: TransferFailure?
    ) -> [TransferEffect] {
        guard let record = open(task)?.record else { return [] }
        guard let response, failure == nil else { return fail(record, failure ?? .lost) }
        if let failure = response.failure(allowsOtherOrigins: record.allowsOtherOrigins) {
            return fail(record, failure)
        }
        return record.isDownload ? fail(record, .lost) : end(record, .finished(response))
    }

    private mutating func cancel(_ id: BackgroundTransfer.ID) -> [TransferEffect] {
        guard let record = entries[id]?.record, record.phase.isOpen else { return [] }
        return [.cancel(record.task)] + end(record, .cancelled)
    }

    /// Ends an attempt: with another attempt, if that may succeed.
    private mutating func fail(_ record: TransferRecord, _ failure: TransferFailure) -> [TransferEffect] {
        guard failure.isRenewable, record.attempt < maxAttempts else { return end(record, .failed(failure)) }
        var record = record
        record.attempt += 1
        record.phase = .renewing(failure)
        entries[record.transferID] = Entry(record: record, isSeen: true, isRenewing: true)
        return [.write(record), .renew(record, failure)]
    }

    private mutating func end(_ record: TransferRecord, _ ending: TransferEnding) -> [TransferEffect] {
        var record = record
        record.phase = .ended(ending)
        entries[record.transferID]?.isRenewing = false
        return write(record) + deliver(record, ending)
    }

    /// Delivers an end unless that has begun, whatever comes first: the launch or the session's report.
    private mutating func deliver(_ record: TransferRecord, _ ending: TransferEnding) -> [TransferEffect] {
        guard entries[record.transferID]?.isDelivering == false else { return [] }
        entries[record.transferID]?.isDelivering = true
        return [.deliver(record, ending)]
    }

    private mutating func forget(_ record: TransferRecord) -> [TransferEffect] {
        entries[record.transferID] = nil
        forgotten?.insert(record.transferID)
        return [.remove(record)]
    }

    private mutating func write(_ record: TransferRecord) -> [TransferEffect] {
        entries[record.transferID]?.record = record
        return [.write(record)]
    }

    /// The entry of a task whose events count.
    private func open(_ task: TransferTask) -> Entry? { isCurrent(task) ? entries[task.id] : nil }

    /// Resumes the callers that wait for a wake's events, once all ends are delivered. The system then suspends the process.
    private mutating func resumeIfIdle() -> [TransferEffect] {
        guard !entries.values.contains(where: { $0.isRenewing || !$0.record.phase.isOpen }) else { return [] }
        let open = Set(entries.values.map(\.record.task))
        let ready = waits.takeReady { open.contains($0) }
        return ready.isEmpty ? [] : [.resume(ready)]
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
protocol TransferStorage {
    mutating func write(_ record: TransferRecord) throws
    /// Removes a record, and everything that was kept for its transfer.
    mutating func remove(_ record: TransferRecord) throws
    /// Gives a received file its hidden name in the destination's folder.
    mutating func stage(_ file: URL, for record: TransferRecord) throws
    /// Renames the staged file to the destination, unless that has been done.
    mutating func place(_ record: TransferRecord) throws
}

extension TransferMachine {
    /// Handles an event, performs the effects on the disk in their order, and returns the other effects.
    mutating func handle(_ event: TransferEvent, in storage: inout some TransferStorage) -> [TransferEffect] {
        var (events, others) = ([event], [TransferEffect]())
        while !events.isEmpty {
            for effect in handle(events.removeFirst()) {
                switch effect {
                case .write(let record): others += report { try storage.write(record) }
                case .remove(let record): others += report { try storage.remove(record) }
                case .stage(let record, let response, let file):
                    let failure = Self.failure(of: { try storage.stage(file, for: record) })
                    events.append(.staged(record.task, response, failure: failure))
                case .place(let record, _):
                    let failure = Self.failure(of: { try storage.place(record) })
                    events.append(.placed(record.task, failure: failure))
                default: others.append(effect)
                }
            }
        }
        return others
    }

    private func report(_ work: () throws -> Void) -> [TransferEffect] {
        Self.failure(of: work).map { [.report($0)] } ?? []
    }

    private static func failure(of work: () throws -> Void) -> TransferFailure? {
        do {
            try work()
            return nil
        } catch {
            let message = (error as? any HTTPError)?.message ?? "A file of the transfer can't be written."
            return TransferFailure((error as? any HTTPError)?.code ?? .unwritableFile, message)
        }
    }
}
