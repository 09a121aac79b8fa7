internal import Interceptors

/// The events of one call, as bytes. A value: the journal's record keeps it behind a lock.
///
/// The first events are in the head, which is never shortened. When the head is full, each run that a step of the head starts
/// gets a segment of the tail. The tail keeps the newest segments; what the others held is only counted. So a loop of ten
/// thousand attempts keeps its first and its last ones.
struct JournalEvents {
    enum Tag: UInt8 {
        case began = 1
        case transportBegan
        case responded
        case failed
        case noted
        case timed
        case bodyEnded
        case connected
    }

    /// Where a step's events are.
    struct Location: Equatable, Sendable {
        /// The step's number in its call, from 1; 0 if the step is only counted.
        let step: Int
        /// 0 is the head.
        let segment: Int

        static let omitted = Location(step: 0, segment: -1)
    }

    struct Segment {
        let number: Int
        var bytes = JournalBytes()
        /// The time of the latest event, in nanoseconds since the call began.
        var time: Int64 = 0
        /// The number of steps and notes.
        var itemCount = 0
    }

    private let limit: Int
    private(set) var head = Segment(number: 0)
    private(set) var tail: [Segment] = []
    private var tailSize = 0
    private var lastSegment = 0
    private var lastStep = 0
    private(set) var omittedCount = 0
    /// Whether the journal has dropped the call.
    private(set) var isDropped = false

    init(limit: Int) { self.limit = limit }

    /// The memory that the events take.
    var size: Int { head.bytes.bytes.capacity + tailSize }

    // MARK: Recording

    /// Records a step's begin and returns where its further events go.
    mutating func begin(
        inside parent: Location?,
        isTransport: Bool,
        at time: Int64,
        write: (inout JournalBytes) -> Int
    ) -> Location {
        guard !isDropped else { return .omitted }
        guard let segment = segmentForStep(inside: parent) else {
            omittedCount += 1
            return .omitted
        }
        lastStep += 1
        let step = lastStep
        var omitted = 0
        change(segment) { segment in
            segment.itemCount += 1
            segment.begin(isTransport ? .transportBegan : .began, step, at: time)
            segment.bytes.append(number: parent?.step ?? 0)
            omitted = write(&segment.bytes)
        }
        omittedCount += omitted
        return Location(step: step, segment: segment)
    }

    /// Records an event of a step. `write` gets whether it should be brief, and returns the number of things it left out.
    mutating func record(
        _ tag: Tag,
        of location: Location,
        at time: Int64,
        write: (_ bytes: inout JournalBytes, _ isBrief: Bool) -> Int
    ) {
        guard !isDropped else { return }
        let isEnd = tag == .responded || tag == .failed
        guard location.step > 0, let segment = segmentForEvent(of: location, isEnd: isEnd) else {
            if tag == .noted { omittedCount += 1 }
            return
        }
        let isBrief = segment == 0 ? head.bytes.count > limit : index(of: segment).map { isFull(tail[$0]) } ?? false
        var omitted = 0
        change(segment) { segment in
            if tag == .noted { segment.itemCount += 1 }
            segment.begin(tag, location.step, at: time)
            omitted = write(&segment.bytes, isBrief)
        }
        omittedCount += omitted
        if isEnd, location.step == 1 { end() }
    }

    mutating func drop() {
        self = JournalEvents(limit: 0)
        isDropped = true
    }

    private mutating func end() {
        head.bytes.trim()
        tailSize = 0
        for index in tail.indices {
            tail[index].bytes.trim()
            tailSize += tail[index].size
        }
    }

    // MARK: Segments

    private var isHeadFull: Bool { head.bytes.count > limit / 2 }

    private mutating func segmentForStep(inside parent: Location?) -> Int? {
        guard let parent else { return 0 }
        if parent.segment == 0 { return isHeadFull ? addSegment() : 0 }
        return hasRoom(parent.segment) ? parent.segment : nil
    }

    private mutating func segmentForEvent(of location: Location, isEnd: Bool) -> Int? {
        guard location.segment == 0 else {
            return index(of: location.segment) != nil && (isEnd || hasRoom(location.segment)) ? location.segment : nil
        }
        // The end of a step of the head belongs to the head. The other events go where the latest ones are.
        guard isHeadFull, !isEnd else { return 0 }
        return tail.last.flatMap { hasRoom($0.number) ? $0.number : nil } ?? addSegment()
    }

    private func hasRoom(_ segment: Int) -> Bool {
        index(of: segment).map { tail[$0].bytes.count < limit / 8 } ?? false
    }

    private func isFull(_ segment: Segment) -> Bool { segment.bytes.count > limit / 4 }

    private func index(of segment: Int) -> Int? {
        guard let first = tail.first?.number, segment >= first, segment - first < tail.count else { return nil }
        return segment - first
    }

    private mutating func addSegment() -> Int {
        if tailSize > limit / 2 {
            // Half of them at once, because each removal moves all others.
            while tailSize > limit / 4, tail.count > 1, let oldest = tail.first {
                tailSize -= oldest.size
                omittedCount += oldest.itemCount
                tail.removeFirst()
            }
        }
        lastSegment += 1
        tail.append(Segment(number: lastSegment))
        tailSize += Segment.overhead
        return lastSegment
    }

    private mutating func change(_ segment: Int, _ change: (inout Segment) -> Void) {
        guard segment > 0 else { return change(&head) }
        guard let index = index(of: segment) else { return }
        let before = tail[index].size
        change(&tail[index])
        tailSize += tail[index].size - before
    }
}

extension JournalEvents.Segment {
    static let overhead = 64

    var size: Int { bytes.bytes.capacity + Self.overhead }

    fileprivate mutating func begin(_ tag: JournalEvents.Tag, _ step: Int, at time: Int64) {
        bytes.append(tag.rawValue)
        bytes.append(number: step)
        bytes.append(signed: time - self.time)
        self.time = time
    }
}
