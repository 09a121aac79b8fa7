internal import Foundation
internal import Synchronization
internal import Transport

/// One run of one element of a chain, as a request carries it inward.
final class JournalVisit: Sendable {
    private struct State {
        // More than four matter only to a step that runs more than four branches at once.
        static let maxCount = 4
        /// The request as it arrived here. `nil` after the run, because a stream may keep the run for hours, and a request's body
        /// with it.
        var request: JournalHead?
        var latest: [(step: JournalEvents.Location, outcome: JournalOutcome)] = []

        init(request: JournalHead) { self.request = request }
    }

    /// The maximum number of runs that a run is inside of. Decoders refuse JSON of more than 512 levels, and a step takes two.
    static let maxDepth = 128

    let journal: Journal
    let record: JournalRecord
    let location: JournalEvents.Location
    /// The number of runs that this run is inside of.
    let depth: Int
    /// The run that started this one. A run that is too deep has none, so that no list of runs grows without limit.
    private let parent: JournalVisit?
    private let state: Mutex<State>

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
        let depth = parent.map { $0.depth + 1 } ?? 0
        self.depth = depth
        self.parent = depth <= Self.maxDepth ? parent : nil
        state = Mutex(State(request: request))
    }

    /// Whether the run has ended.
    var isOver: Bool { state.withLock { $0.request == nil } }

    /// Whether this is another run, or inside of it.
    func isInside(_ other: JournalVisit) -> Bool {
        var visit: JournalVisit? = self
        while let now = visit {
            if now === other { return true }
            visit = now.parent
        }
        return false
    }

    /// Returns the request of this run, unless it is over, for comparison with that of an inner run, which begins.
    func beginInner() -> JournalHead? {
        state.withLock { state in
            // Content isn't kept through a loop only to find the source of a response.
            state.latest.removeAll { if case .response(let head) = $0.outcome { head.body.keepsBytes } else { false } }
            return state.request
        }
    }

    func end(_ response: HTTPResponse) {
        let head = JournalHead(response)
        let (request, outcomes) = finish()
        let base = Self.base(of: head, among: outcomes)
        journal.record(.responded, of: self) { bytes, isBrief, writer in
            // Bytes of another segment may be gone when these are read.
            let isReadable = base.map { $0.step.segment == 0 || $0.step.segment == location.segment } ?? false
            let base = isBrief || !isReadable ? nil : base
            bytes.append(number: base?.step.step ?? 0)
            if isBrief { return writer.write(statusOf: response, to: &bytes) }
            return writer.write(response, after: base?.head, to: request?.url, to: &bytes)
        }
        parent?.add(.response(head), of: location)
    }

    func end(_ error: any Error) {
        let fault = JournalFault(error)
        let base = Self.base(of: fault, among: finish().outcomes)
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
        state.withLock { state in
            guard state.request != nil else { return }
            if state.latest.count == State.maxCount { state.latest.removeFirst() }
            state.latest.append((step, outcome))
        }
    }

    private typealias Outcomes = [(step: JournalEvents.Location, outcome: JournalOutcome)]

    private func finish() -> (request: JournalHead?, outcomes: Outcomes) {
        state.withLock { state in
            defer { (state.request, state.latest) = (nil, []) }
            return (state.request, state.latest)
        }
    }

    /// The inner step whose response this step's response was made from: the one with most in common, or else the latest.
    private static func base(
        of response: JournalHead,
        among outcomes: Outcomes
    ) -> (step: JournalEvents.Location, head: JournalHead)? {
        var best: (step: JournalEvents.Location, head: JournalHead)?
        var bestScore = -1
        for case (let step, .response(let head)) in outcomes {
            let hasFields = head.fields.isIdentical(to: response.fields) && !head.fields.isEmpty
            let score = (hasFields ? 2 : 0) + (head.body == response.body ? 1 : 0)
            guard score >= bestScore else { continue }
            (best, bestScore) = ((step, head), score)
        }
        return best
    }

    /// The inner step that failed with the same error.
    private static func base(of fault: JournalFault, among outcomes: Outcomes) -> JournalEvents.Location? {
        outcomes.last { inner in
            if case .failure(let other) = inner.outcome { other == fault } else { false }
        }?.step
    }
}

// The state holds URLs, fields and content as they are.
extension JournalVisit: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: ["callID": record.id]) }
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
