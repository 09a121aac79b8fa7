internal import Foundation
internal import Synchronization

/// Which entries a session has used, and what came up. A state machine: mutate it under the lock.
struct TapeState {
    /// One request that has arrived, at its position among equal ones.
    struct Ticket: Sendable {
        let key: RequestKey
        let ordinal: Int
        /// The number of a new entry for it.
        let number: Int64
    }

    enum Decision: Sendable {
        /// Play the exchange at this index.
        case play(Int, Ticket)
        /// Send the request and record the exchange, which replaces the one at the index, if any.
        case record(replacing: Int?, Ticket)
        /// Fail: all recorded responses, of this number, were given already.
        case refuse(count: Int)
    }

    /// The positions of equal requests: the next one, and those that cancelled calls gave back.
    private struct Positions {
        private var next = 1
        private(set) var returned: Set<Int> = []

        /// - Parameter count: the number of recorded responses that play. A position beyond them isn't taken again, because
        ///   calls after it may have been recorded, and would change places with this one.
        mutating func take(playing count: Int) -> Int {
            if let least = returned.min(), least <= count {
                returned.remove(least)
                return least
            }
            defer { next += 1 }
            return next
        }

        mutating func giveBack(_ position: Int) {
            returned.insert(position)
            // No call came after the last one.
            while returned.remove(next - 1) != nil { next -= 1 }
        }
    }

    private let mode: Recording.Mode
    private let repeatsLast: Bool
    private var positions: [RequestKey: Positions] = [:]
    private var used: [Bool]
    /// The reasons why exchanges aren't recorded.
    private var problems: [String] = []
    /// The last position that was recorded, for each key.
    private var recorded: [RequestKey: Int] = [:]
    /// The exchanges that are being recorded, by their numbers.
    private var open: [Int64: String] = [:]
    /// How often values of each name were replaced.
    private(set) var replaced: [String: Int] = [:]

    private var plays: Bool { mode != .all }

    /// - Parameter mode: the mode; `new` for `once` without a file.
    init(_ mode: Recording.Mode, repeatsLast: Bool, count: Int) {
        self.mode = mode
        self.repeatsLast = repeatsLast
        used = Array(repeating: false, count: count)
    }

    /// - Parameter isExpired: whether the exchange at an index has expired.
    mutating func take(
        _ key: RequestKey,
        _ index: TapeIndex,
        entry: @autoclosure () -> String,
        isExpired: (Int) -> Bool
    ) -> Decision {
        let count = index.count(of: key)
        let ordinal = positions[key, default: Positions()].take(playing: plays ? count : 0)
        let ticket = Ticket(key: key, ordinal: ordinal, number: EntryNumbers.next(after: index.lastNumber))
        func answer(_ found: Int?, _ ticket: Ticket) -> Decision {
            if plays, let found, mode == .none || !isExpired(found) { return .play(found, ticket) }
            open[ticket.number] = entry()
            return .record(replacing: found, ticket)
        }
        let found = index.index(of: key, ordinal)
        if let found { used[found] = true }
        if found != nil || mode == .new || mode == .all { return answer(found, ticket) }
        positions[key]?.giveBack(ordinal)
        guard repeatsLast, let last = index.index(of: key, count) else { return .refuse(count: count) }
        return answer(last, Ticket(key: key, ordinal: 0, number: ticket.number))
    }

    /// Gives a position back, because the call was cancelled, or had nothing to do with a server.
    mutating func giveBack(_ ticket: Ticket, _ index: TapeIndex) {
        open[ticket.number] = nil
        guard ticket.ordinal > 0 else { return }
        positions[ticket.key]?.giveBack(ticket.ordinal)
        if let unused = index.index(of: ticket.key, ticket.ordinal) { used[unused] = false }
    }

    /// Notes that the side file has the exchange.
    ///
    /// - Parameter replaced: the names of the values that were replaced in it.
    mutating func record(_ ticket: Ticket, replaced names: [String]) {
        recorded[ticket.key] = max(recorded[ticket.key] ?? 0, ticket.ordinal)
        for name in names { replaced[name, default: 0] += 1 }
    }

    /// The entries that were to be recorded again by calls that were cancelled, while later calls were recorded. They would play
    /// before the responses to the later calls.
    func skipped(_ index: TapeIndex) -> [RecordedExchange] {
        if plays { return [] }
        return recorded.flatMap { key, last in
            (positions[key]?.returned ?? []).compactMap { $0 < last ? index.index(of: key, $0) : nil }
        }
        .map { index.exchanges[$0] }
    }

    /// Ends the recording of an exchange.
    ///
    /// - Parameter problem: why it isn't recorded.
    mutating func end(_ ticket: Ticket, _ problem: String?) {
        let entry = open.removeValue(forKey: ticket.number)
        if let problem, let entry { problems.append("\(entry): \(problem)") }
    }

    /// The entries that no request has used.
    func unused(_ index: TapeIndex) -> [String] {
        plays ? zip(index.exchanges, used).compactMap { exchange, isUsed in isUsed ? nil : exchange.name } : []
    }

    /// The reasons why exchanges aren't recorded. Each problem is reported once, unless an exchange still hasn't ended.
    mutating func takeProblems() -> [String] {
        defer { problems = [] }
        let unfinished = open.sorted { $0.key < $1.key }.map { "\($0.value): The exchange hasn't ended." }
        return problems + unfinished
    }
}

/// The numbers of new entries: higher than those that this package wrote into the file, different in all recordings of the process, and, because they count
/// microseconds, also from those that another process recorded since the file was read.
private enum EntryNumbers {
    private static let last = Mutex<Int64>(0)

    static func next(after lastInFile: Int64) -> Int64 {
        last.withLock { last in
            // A number that no clock reaches for a century is not from here, and the next one might not be read back.
            let lastInFile = lastInFile < 1 << 52 ? lastInFile : 0
            last = max(last, lastInFile, Int64(Date().timeIntervalSince1970 * 1e6)) + 1
            return last
        }
    }
}

extension RecordedExchange {
    /// Method and URL of the request, on one line.
    var name: String { PrintableText.line("\(request.method) \(request.url)") }
}
