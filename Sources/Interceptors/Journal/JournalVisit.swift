internal import Foundation
internal import Synchronization
internal import Transport

/// One run of one element of a chain, as a request carries it inward.
final class JournalVisit: Sendable {
    private struct Outcomes {
        // More than four matter only to a step that runs more than four branches at once.
        static let maxCount = 4
        var latest: [(step: JournalEvents.Location, outcome: JournalOutcome)] = []
        var isOver = false
    }

    let journal: Journal
    let record: JournalRecord
    let location: JournalEvents.Location
    /// The run that started this one.
    private let parent: JournalVisit?
    /// The request as it arrived here.
    let request: JournalHead
    private let outcomes = Mutex(Outcomes())

    init(
        _ journal: Journal,
        _ record: JournalRecord,
        _ location: JournalEvents.Location,
        inside parent: JournalVisit?,
        request: JournalHead
    ) {
        self.journal = journal
        self.record = record
        self.location = location
        self.parent = parent
        self.request = request
    }

    func end(_ response: HTTPResponse) {
        let head = JournalHead(response)
        let base = base(of: head)
        journal.record(.responded, of: self) { bytes, isBrief, writer in
            // Bytes of another segment may be gone when these are read.
            let isReadable = base.map { $0.step.segment == 0 || $0.step.segment == location.segment } ?? false
            let base = isBrief || !isReadable ? nil : base
            bytes.append(number: base?.step.step ?? 0)
            if isBrief { return writer.write(statusOf: response, to: &bytes) }
            return writer.write(response, after: base?.head, to: request, to: &bytes)
        }
        parent?.add(.response(head), of: location)
    }

    func end(_ error: any Error) {
        let fault = JournalFault(error)
        let base = base(of: fault)
        journal.record(.failed, of: self) { bytes, isBrief, writer in
            let isReadable = base.map { $0.segment == 0 || $0.segment == location.segment } ?? false
            bytes.append(number: isReadable ? base?.step ?? 0 : 0)
            if !isReadable { writer.write(fault, to: &bytes) }
            return 0
        }
        parent?.add(.failure(fault), of: location)
    }

    // MARK: Outcomes of the inner steps

    private func add(_ outcome: JournalOutcome, of step: JournalEvents.Location) {
        guard step.step > 0 else { return }
        outcomes.withLock { outcomes in
            guard !outcomes.isOver else { return }
            if outcomes.latest.count == Outcomes.maxCount { outcomes.latest.removeFirst() }
            outcomes.latest.append((step, outcome))
        }
    }

    private func takeOutcomes() -> [(step: JournalEvents.Location, outcome: JournalOutcome)] {
        outcomes.withLock { outcomes in
            defer { outcomes.latest = [] }
            outcomes.isOver = true
            return outcomes.latest
        }
    }

    /// The inner step whose response this step's response was made from: the one with most in common, or else the latest.
    private func base(of response: JournalHead) -> (step: JournalEvents.Location, head: JournalHead)? {
        var best: (step: JournalEvents.Location, head: JournalHead)?
        var bestScore = -1
        for case (let step, .response(let head)) in takeOutcomes() {
            let hasFields = head.fields.isIdentical(to: response.fields) && !head.fields.isEmpty
            let score = (hasFields ? 2 : 0) + (head.body == response.body ? 1 : 0)
            guard score >= bestScore else { continue }
            (best, bestScore) = ((step, head), score)
        }
        return best
    }

    /// The inner step that failed with the same error.
    private func base(of fault: JournalFault) -> JournalEvents.Location? {
        takeOutcomes().last { inner in
            if case .failure(let other) = inner.outcome { other == fault } else { false }
        }?.step
    }
}

extension HTTPContext {
    private enum VisitKey: HTTPContextKey { static var defaultValue: JournalVisit? { nil } }
    private enum CallerVisitKey: HTTPContextKey { static var defaultValue: JournalVisit? { nil } }

    /// On a request: the run of the element that it has reached, if a journal records the call.
    var journalVisit: JournalVisit? {
        get { self[VisitKey.self] }
        set { self[VisitKey.self] = newValue }
    }

    /// On a request that begins a call: the run of the element that makes the call.
    var journalCaller: JournalVisit? {
        get { self[CallerVisitKey.self] }
        set { self[CallerVisitKey.self] = newValue }
    }
}
