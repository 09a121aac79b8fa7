internal import Foundation
internal import Interceptors
internal import Synchronization

/// One run of one element of a chain, as a request carries it inward.
final class JournalVisit: Sendable {
    private struct State {
        // More than four matter only to a step that runs more than four branches at once.
        static let maxCount = 4
        /// The request as it arrived here. `nil` after the run, because a stream may keep the run for hours, and a request's body
        /// with it.
        var request: JournalHead?
        /// Nearly every step runs the rest of the chain once, so the latest outcome needs no array.
        private var latest: Outcome?
        private var earlier: [Outcome] = []

        init(request: JournalHead) { self.request = request }

        var outcomes: Outcomes { Outcomes(latest: latest, earlier: earlier) }

        mutating func add(_ outcome: Outcome) {
            if let latest {
                if earlier.count == Self.maxCount - 1 { earlier.removeFirst() }
                earlier.append(latest)
            }
            latest = outcome
        }

        mutating func end() { (request, latest, earlier) = (nil, nil, []) }

        /// Forgets responses with content in memory.
        mutating func removeContent() {
            guard let last = latest else { return }
            earlier.removeAll(where: \.keepsBytes)
            if last.keepsBytes { latest = earlier.popLast() }
        }
    }

    private struct Outcome {
        let step: JournalEvents.Location
        let value: JournalOutcome

        var keepsBytes: Bool { if case .response(let head) = value { head.body.keepsBytes } else { false } }
    }

    private struct Outcomes {
        let latest: Outcome?
        let earlier: [Outcome]

        var all: [Outcome] { earlier + [latest].compactMap(\.self) }
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
            state.removeContent()
            return state.request
        }
    }

    func end(_ response: HTTPResponse) {
        let (request, outcomes) = finish()
        let (head, source) = Self.head(of: response, among: outcomes)
        // Bytes of another segment may be gone when these are read.
        let isReadable = source.map { $0.step.segment == 0 || $0.step.segment == location.segment } ?? false
        if isReadable, let source, source.head === head {
            journal.record(.responded, of: self) { bytes, _, _ in
                bytes.append(number: source.step.step)
                bytes.append(JournalWriter.Parts().rawValue)
                return 0
            }
        } else {
            record(response, head, after: isReadable ? source : nil, requestURL: request?.url)
        }
        parent?.add(.response(head), of: location)
    }

    // Apart, because a closure that captures a response copies it, even if it isn't called.
    @inline(never)
    private func record(
        _ response: HTTPResponse,
        _ head: JournalHead,
        after source: Source?,
        requestURL: URL?
    ) {
        journal.record(.responded, of: self) { bytes, isBrief, writer in
            let source = isBrief ? nil : source
            bytes.append(number: source?.step.step ?? 0)
            if isBrief { return writer.write(statusOf: response, to: &bytes) }
            return writer.write(response, head, after: source?.head, to: requestURL, to: &bytes)
        }
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
            state.add(Outcome(step: step, value: outcome))
        }
    }

    private func finish() -> (request: JournalHead?, outcomes: Outcomes) {
        state.withLock { state in
            let (request, outcomes) = (state.request, state.outcomes)
            state.end()
            return (request, outcomes)
        }
    }

    private typealias Source = (step: JournalEvents.Location, head: JournalHead)

    /// The head of a response, and the inner step whose response it was made from: the one with most in common, or else the
    /// latest.
    private static func head(
        of response: borrowing HTTPResponse,
        among outcomes: Outcomes
    ) -> (head: JournalHead, source: Source?) {
        if outcomes.earlier.isEmpty {
            guard let latest = outcomes.latest, case .response(let head) = latest.value else {
                return (JournalHead.of(response, after: nil), nil)
            }
            return (JournalHead.of(response, after: head), (latest.step, head))
        }
        let own = JournalHead.of(response, after: nil)
        var best: Source?
        var bestScore = -1
        for outcome in outcomes.all {
            guard case .response(let head) = outcome.value else { continue }
            let hasFields = head.fields.isIdentical(to: own.fields) && !head.fields.isEmpty
            let score = (hasFields ? 2 : 0) + (head.body == own.body ? 1 : 0)
            guard score >= bestScore else { continue }
            (best, bestScore) = ((outcome.step, head), score)
        }
        return (own, best)
    }

    /// The inner step that failed with the same error.
    private static func base(of fault: JournalFault, among outcomes: Outcomes) -> JournalEvents.Location? {
        outcomes.all.last { if case .failure(let other) = $0.value { other == fault } else { false } }?.step
    }
}

// The state holds URLs, fields and content as they are.
extension JournalVisit: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: ["callID": record.id]) }
}

extension JournalVisit: ObservedStep {
    var callID: Int { record.id }

    func add(_ note: CallNote) { journal.add(note, to: self) }
}

extension HTTPContext {
    /// On a request: the run of the element that it has reached, if a journal records the call.
    var journalVisit: JournalVisit? {
        get { observedStep as? JournalVisit }
        set { observedStep = newValue }
    }

    /// On a request that begins a call: the run of the element that makes the call.
    var journalCaller: JournalVisit? { callingStep as? JournalVisit }
}
