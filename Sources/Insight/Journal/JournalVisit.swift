internal import Synchronization

/// One run of one element of a chain, as a request carries it inward.
final class JournalVisit: Sendable {
    private struct State {
        // More than four matter only to a step that runs more than four branches at once.
        static let maxCount = 4
        /// The request as it arrived here. `nil` after the run, because a stream may keep the run for hours, and a request's body
        /// with it.
        var request: JournalHead?
        /// How the latest runs inside of this one ended.
        var outcomes: [(step: JournalSteps.Location, value: Outcome)] = []
    }

    private enum Outcome {
        case response(JournalHead)
        /// The text of the error, to recognize the error by, and its text as the journal keeps it.
        case failure(raw: String, shown: String)

        var keepsBytes: Bool { if case .response(let head) = self { head.parts.body.keepsBytes } else { false } }
    }

    /// The maximum number of runs that a run is inside of. Readers of the steps may recurse.
    static let maxDepth = 128

    let journal: Journal
    let record: JournalRecord
    let location: JournalSteps.Location
    /// The number of runs that this run is inside of.
    let depth: Int
    /// The run that started this one. A run that is too deep has none, so that no list of runs grows without limit.
    private let parent: JournalVisit?
    private let state: Mutex<State>

    init(
        _ journal: Journal,
        _ record: JournalRecord,
        _ location: JournalSteps.Location,
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
            state.outcomes.removeAll(where: \.value.keepsBytes)
            return state.request
        }
    }

    func end(_ response: HTTPResponse) {
        let state = finish()
        let parts = JournalParts(response)
        let source = source(of: parts, among: state)
        let head = JournalHead.of(parts, after: source?.head, to: state.request, by: journal.writer)
        let bodySource = source.flatMap { $0.head.parts.hasSameBody(as: parts) ? $0.step : nil }
        let isShared = source?.head === head
        journal.end(self, with: .response(head.message, bodySource: bodySource), isShared: isShared)
        parent?.add(.response(head), of: location)
    }

    func end(_ error: any Error) {
        let raw = JournalWriter.rawText(of: error)
        // Most steps pass an error on: its text is redacted once, and shared.
        var shared: String?
        for case (let step, .failure(let other, let shown)) in finish().outcomes
        where step.part == location.part && other == raw {
            shared = shown
        }
        let shown = shared ?? journal.writer.text(of: error)
        journal.end(self, with: .failure(shown), isShared: shared != nil)
        parent?.add(.failure(raw: raw, shown: shown), of: location)
    }

    // MARK: Outcomes of the inner steps

    private func add(_ outcome: Outcome, of step: JournalSteps.Location) {
        guard step != .omitted else { return }
        state.withLock { state in
            guard state.request != nil else { return }
            if state.outcomes.count == State.maxCount { state.outcomes.removeFirst() }
            state.outcomes.append((step, outcome))
        }
    }

    private func finish() -> State {
        state.withLock { state in
            defer { state = State() }
            return state
        }
    }

    /// The inner step whose response a response was made from: the one with most in common, or else the latest. `nil` for a
    /// step in another part of the call, which doesn't stay as long as this one.
    private func source(
        of parts: JournalParts,
        among state: State
    ) -> (step: JournalSteps.Location, head: JournalHead)? {
        var best: (step: JournalSteps.Location, head: JournalHead)?
        var bestScore = -1
        for case (let step, .response(let head)) in state.outcomes {
            let hasFields = head.parts.fields.isIdentical(to: parts.fields) && !parts.fields.isEmpty
            let score = (hasFields ? 2 : 0) + (head.parts.body == parts.body ? 1 : 0)
            if score >= bestScore { (best, bestScore) = ((step, head), score) }
        }
        return best.flatMap { $0.step.part == location.part ? $0 : nil }
    }
}

// The state holds URLs, fields and content as they are.
extension JournalVisit: CustomReflectable {
    var customMirror: Mirror { Mirror(self, children: ["callID": record.id]) }
}

extension JournalVisit: ObservedStep {
    var callID: Int { record.id }

    func add(_ note: CallNote) { add(.noted(journal.writer.redacted(note))) }

    func add(_ event: JournalEvent) { journal.change(record) { $0.add(event, of: location) } }
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
