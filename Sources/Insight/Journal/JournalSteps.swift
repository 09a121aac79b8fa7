/// One run of one element, as the call's record keeps it.
struct JournalStep: Sendable {
    enum Outcome: Sendable {
        /// `bodySource` is the inner step whose response has the same body.
        case response(JournalMessage, bodySource: JournalSteps.Location?)
        case failure(String)
    }

    let name: JournalName
    let parent: JournalSteps.Location?
    /// The time since the call began.
    let start: Duration
    let request: JournalMessage
    var duration: Duration?
    var outcome: Outcome?
}

/// Something that a step records beside its begin and its outcome. It may come after the outcome.
enum JournalEvent: Sendable {
    case noted(CallNote)
    case timed(TransferTimings)
    case connected(HTTPConnectionInfo)
    case bodyEnded(size: Int64)

    var isNote: Bool { if case .noted = self { true } else { false } }
}

/// The steps of one call and their events. A value: the call's record keeps it behind a lock.
///
/// The first steps and events are in the head, which is never shortened. When the head is full, each run that a step of the head
/// starts gets a part of the tail. The tail keeps the newest parts; what the others held is only counted. So a loop of ten
/// thousand attempts keeps its first and its last ones.
///
/// Sizes are estimates: a value's stride, 32 bytes and the length for a text, and each message once, however many steps share it.
struct JournalSteps: Sendable {
    struct Location: Hashable, Comparable, Sendable {
        /// The number of the part: 0 is the head.
        let part: Int
        let index: Int

        /// A step that is only counted.
        static let omitted = Location(part: -1, index: 0)

        static func < (left: Self, right: Self) -> Bool { (left.part, left.index) < (right.part, right.index) }
    }

    /// An event with its step, and the number of steps of the part that had begun before it.
    typealias Entry = (step: Location, stepCount: Int, event: JournalEvent)

    struct Part {
        static let overhead = 128

        let number: Int
        fileprivate(set) var steps: [JournalStep] = []
        fileprivate(set) var entries: [Entry] = []
        fileprivate var size = 0

        fileprivate var itemCount: Int { steps.count + entries.count { $0.event.isNote } }
    }

    private let limit: Int
    /// The head, and then the tail, oldest first. Empty if the journal has dropped the call.
    private(set) var parts = [Part(number: 0)]
    private var lastPart = 0
    /// The estimated memory of the parts, in bytes.
    private(set) var size = 0
    private(set) var omittedCount = 0

    init(limit: Int) { self.limit = limit }

    // MARK: Recording

    /// Adds a step and returns its location.
    ///
    /// - Parameter isShared: whether the step's request is that of its parent.
    mutating func begin(_ step: JournalStep, isShared: Bool) -> Location {
        guard !parts.isEmpty else { return .omitted }
        guard let index = partForStep(inside: step.parent) else {
            omittedCount += 1
            return .omitted
        }
        grow(index, by: MemoryLayout<JournalStep>.stride, isShared ? nil : step.request)
        parts[index].steps.append(step)
        return Location(part: parts[index].number, index: parts[index].steps.count - 1)
    }

    /// Sets a step's outcome. A response is cut if there is no room for it.
    ///
    /// - Parameter isShared: whether the response or the error is that of an inner step, which stays as long as this one.
    mutating func end(_ step: Location, at time: Duration, with outcome: JournalStep.Outcome, isShared: Bool) {
        guard let index = index(of: step.part) else { return }
        var outcome = outcome
        switch outcome {
        case .response(var message, _) where !isShared:
            if parts[index].size > (index == 0 ? limit : limit / 4) {
                message = message.cut
                outcome = .response(message, bodySource: nil)
            }
            grow(index, by: 0, message)
        case .response: break
        case .failure(let error): grow(index, by: isShared ? 0 : JournalWriter.size(of: error))
        }
        parts[index].steps[step.index].outcome = outcome
        parts[index].steps[step.index].duration = max(.zero, time - parts[index].steps[step.index].start)
        guard step == Location(part: 0, index: 0) else { return }
        // A copy gives back the memory that growth has left unused: 640 of 4,640 bytes of a call through eleven elements.
        for index in parts.indices {
            parts[index].steps = parts[index].steps.map(\.self)
            parts[index].entries = parts[index].entries.map(\.self)
        }
    }

    mutating func add(_ event: JournalEvent, of step: Location) {
        guard !parts.isEmpty else { return }
        guard let index = partForEvent(of: step.part) else {
            omittedCount += event.isNote ? 1 : 0
            return
        }
        grow(index, by: MemoryLayout<Entry>.stride)
        if case .noted(let note) = event { grow(index, by: JournalWriter.size(of: note.text)) }
        parts[index].entries.append((step, parts[index].steps.count, event))
    }

    /// Forgets everything, and ignores what comes.
    mutating func drop() { (parts, size, omittedCount) = ([], 0, 0) }

    private mutating func grow(_ index: Int, by size: Int, _ message: JournalMessage? = nil) {
        parts[index].size += size + (message?.size ?? 0)
        self.size += size + (message?.size ?? 0)
        omittedCount += message?.omittedCount ?? 0
    }

    // MARK: Parts

    private var isHeadFull: Bool { parts[0].size > limit / 2 }

    private mutating func partForStep(inside parent: Location?) -> Int? {
        guard let parent else { return 0 }
        if parent.part == 0 { return isHeadFull ? addPart() : 0 }
        return indexWithRoom(of: parent.part)
    }

    private mutating func partForEvent(of part: Int) -> Int? {
        guard part == 0 else { return indexWithRoom(of: part) }
        // Events go where the latest steps are.
        return isHeadFull ? indexWithRoom(of: lastPart) ?? addPart() : 0
    }

    private func indexWithRoom(of part: Int) -> Int? {
        index(of: part).flatMap { $0 > 0 && parts[$0].size < limit / 8 ? $0 : nil }
    }

    private func index(of part: Int) -> Int? {
        guard part != 0 else { return parts.isEmpty ? nil : 0 }
        let index = parts.count - 1 - (lastPart - part)
        return part > 0 && index > 0 ? index : nil
    }

    private mutating func addPart() -> Int {
        while size - parts[0].size > limit / 2, parts.count > 2 {
            let oldest = parts.remove(at: 1)
            size -= oldest.size
            omittedCount += oldest.itemCount
        }
        lastPart += 1
        parts.append(Part(number: lastPart))
        grow(parts.count - 1, by: Part.overhead)
        return parts.count - 1
    }
}
