internal import Interceptors

/// The missing ranges of a content, divided among the responses that bring them at once.
///
/// Each missing byte is either unassigned, or in the range of exactly one worker. A worker is one of the tasks that send a
/// request and read its response.
struct DownloadRanges: Sendable {
    /// The rest of a worker's range.
    struct Assignment: Sendable, Hashable {
        let worker: Int
        var rest: Range<Int64>
    }

    /// The most ranges that may be missing at once. The record of a part lists them, and has a fixed size.
    static let holeLimit = 16

    /// The missing ranges that no worker has, in order. None touches another.
    private(set) var unassigned: [Range<Int64>]
    private(set) var assigned: [Assignment] = []
    private let workers: Int
    /// The number of bytes under which a range isn't divided for the sake of speed.
    private let smallest: Int64

    /// - Parameters:
    ///   - missing: the missing ranges, in order. None touches another.
    ///   - workers: the number of workers.
    ///   - smallest: the number of bytes that a request is worth.
    init(missing: [Range<Int64>], workers: Int, smallest: Int64) {
        unassigned = missing.filter { !$0.isEmpty }
        self.workers = max(1, workers)
        self.smallest = max(1, smallest)
    }

    /// The missing rest of a worker's range; `nil` if the worker has no range.
    func rest(of worker: Int) -> Range<Int64>? { assigned.first { $0.worker == worker }?.rest }

    /// Assigns a range to a worker that has none: an even share of the unassigned bytes, or else half of the longest rest.
    /// Returns `nil` if no range is worth a request.
    mutating func assign(to worker: Int) -> Range<Int64>? {
        guard rest(of: worker) == nil, let range = takeShare() ?? takeHalf() else { return nil }
        assigned.append(Assignment(worker: worker, rest: range))
        return range
    }

    private var mayDivide: Bool { unassigned.count + assigned.count < Self.holeLimit }

    private mutating func takeShare() -> Range<Int64>? {
        guard let gap = unassigned.first else { return nil }
        let idle = Int64(max(1, workers - assigned.count))
        let missing = unassigned.reduce(0) { $0 + $1.length }
        let share = max(smallest, missing / idle + (missing % idle == 0 ? 0 : 1))
        // A last piece that isn't worth a request goes with the share.
        guard gap.length > share, gap.length - share >= smallest, mayDivide else { return unassigned.removeFirst() }
        unassigned[0] = gap.lowerBound + share..<gap.upperBound
        return gap.lowerBound..<gap.lowerBound + share
    }

    /// Takes the second half of the longest rest. Its worker stops reading there.
    private mutating func takeHalf() -> Range<Int64>? {
        guard let longest = assigned.indices.max(by: { assigned[$0].rest.length < assigned[$1].rest.length }),
            assigned[longest].rest.length / 2 >= smallest, mayDivide
        else { return nil }
        let rest = assigned[longest].rest
        let middle = rest.lowerBound + rest.length / 2
        assigned[longest].rest = rest.lowerBound..<middle
        return middle..<rest.upperBound
    }

    /// Takes the first bytes out of a worker's range.
    mutating func advance(_ worker: Int, by count: Int64) {
        guard let index = assigned.firstIndex(where: { $0.worker == worker }) else { return }
        let rest = assigned[index].rest
        assigned[index].rest = min(rest.upperBound, rest.lowerBound + count)..<rest.upperBound
    }

    /// Lets a worker whose range is empty go on with the unassigned bytes that follow, up to an offset. Returns `false` if there
    /// are no such bytes.
    mutating func extend(_ worker: Int, upTo end: Int64) -> Bool {
        guard let index = assigned.firstIndex(where: { $0.worker == worker && $0.rest.isEmpty }) else { return false }
        let start = assigned[index].rest.lowerBound
        guard let gap = unassigned.firstIndex(where: { $0.lowerBound == start }), end > start else { return false }
        let border = min(end, unassigned[gap].upperBound)
        assigned[index].rest = start..<border
        unassigned[gap] = border..<unassigned[gap].upperBound
        if unassigned[gap].isEmpty { unassigned.remove(at: gap) }
        return true
    }

    /// Takes the rest of a worker's range back.
    mutating func release(_ worker: Int) {
        guard let index = assigned.firstIndex(where: { $0.worker == worker }) else { return }
        let rest = assigned.remove(at: index).rest
        guard !rest.isEmpty else { return }
        let gap = unassigned.firstIndex { $0.lowerBound >= rest.upperBound } ?? unassigned.count
        unassigned.insert(rest, at: gap)
        join(at: gap)
        if gap > 0 { join(at: gap - 1) }
    }

    /// Joins an unassigned range with the next one if they touch.
    private mutating func join(at index: Int) {
        guard index + 1 < unassigned.count, unassigned[index].upperBound == unassigned[index + 1].lowerBound else {
            return
        }
        unassigned[index] = unassigned[index].lowerBound..<unassigned.remove(at: index + 1).upperBound
    }
}

extension Range<Int64> {
    fileprivate var length: Int64 { upperBound - lowerBound }
}
