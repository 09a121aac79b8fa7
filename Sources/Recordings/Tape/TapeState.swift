internal import InterceptorsTransport

/// Which entries a session has used, and what came up. A state machine: mutate it under the lock.
struct TapeState {
    /// One request that has arrived, at its position among equal ones.
    struct Ticket: Sendable {
        let key: TapeRules.Key
        let ordinal: Int
        /// Tells the exchange from others in progress.
        let id: Int
    }

    enum Decision: Sendable {
        /// Play the exchange at this index.
        case play(Int, Ticket)
        /// Send the request and record the exchange, which replaces the one at the index, if any.
        case record(replacing: Int?, Ticket)
        /// Fail: all recorded responses, of this number, were given already.
        case refuse(count: Int)
    }

    /// The rules by which a session plays and records.
    struct Policy: Sendable {
        /// Whether recorded responses play, unless they have expired.
        var plays: Bool
        /// Whether a request without a recorded response is sent and recorded.
        var recordsMissing: Bool
        /// Whether a request whose response has expired is sent and recorded again.
        var recordsExpired: Bool
        var repeatsLast = false
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

    let policy: Policy
    private var positions: [TapeRules.Key: Positions] = [:]
    private var used: [Bool]
    private var expired: Set<Int> = []
    private var problems: [RecordingError.Problem] = []
    /// The last position that was recorded, for each key.
    private var recorded: [TapeRules.Key: Int] = [:]
    /// The identities of the exchanges in the side file.
    private(set) var recordedIDs: Set<EntryID> = []
    /// The exchanges that are being recorded.
    private var open: [Int: String] = [:]
    private var lastID = 0
    /// How often values of each name were replaced.
    private(set) var replaced: [String: Int] = [:]
    /// Whether the side file has lines of this session.
    var hasAppended = false

    init(_ policy: Policy, count: Int) {
        self.policy = policy
        used = Array(repeating: false, count: count)
    }

    /// - Parameter isExpired: whether the exchange at an index has expired.
    mutating func take(
        _ key: TapeRules.Key,
        _ index: TapeIndex,
        entry: @autoclosure () -> String,
        isExpired: (Int) -> Bool
    ) -> Decision {
        lastID += 1
        let count = index.count(of: key)
        let ordinal = positions[key, default: Positions()].take(playing: policy.plays ? count : 0)
        let ticket = Ticket(key: key, ordinal: ordinal, id: lastID)
        if let found = index.index(of: key, ticket.ordinal) {
            used[found] = true
            let isExpired = isExpired(found)
            if policy.plays, !(isExpired && policy.recordsExpired) {
                if isExpired { expired.insert(found) }
                return .play(found, ticket)
            }
            open[ticket.id] = entry()
            return .record(replacing: found, ticket)
        }
        if policy.recordsMissing {
            open[ticket.id] = entry()
            return .record(replacing: nil, ticket)
        }
        positions[key]?.giveBack(ordinal)
        guard policy.repeatsLast, let last = index.index(of: key, count) else { return .refuse(count: count) }
        let repeated = Ticket(key: key, ordinal: 0, id: lastID)
        guard isExpired(last) else { return .play(last, repeated) }
        if policy.recordsExpired {
            open[lastID] = entry()
            return .record(replacing: last, repeated)
        }
        expired.insert(last)
        return .play(last, repeated)
    }

    /// Gives a position back, because the call was cancelled, or had nothing to do with a server.
    mutating func giveBack(_ ticket: Ticket, _ index: TapeIndex) {
        guard ticket.ordinal > 0 else { return }
        positions[ticket.key]?.giveBack(ticket.ordinal)
        if let unused = index.index(of: ticket.key, ticket.ordinal) {
            used[unused] = false
            expired.remove(unused)
        }
    }

    /// Notes that the side file has the exchange.
    mutating func record(_ ticket: Ticket, _ id: EntryID) {
        hasAppended = true
        recordedIDs.insert(id)
        recorded[ticket.key] = max(recorded[ticket.key] ?? 0, ticket.ordinal)
    }

    /// The entries that were to be recorded again by calls that were cancelled, while later calls were recorded. They would play
    /// before the responses to the later calls.
    func skipped(_ index: TapeIndex) -> [RecordedExchange] {
        if policy.plays { return [] }
        return recorded.flatMap { key, last in
            (positions[key]?.returned ?? []).compactMap { $0 < last ? index.index(of: key, $0) : nil }
        }
        .map { index.exchanges[$0] }
    }

    /// Ends the recording of an exchange.
    mutating func end(_ ticket: Ticket) { open[ticket.id] = nil }

    mutating func add(_ kind: RecordingError.Problem.Kind, _ entry: String, _ detail: String) {
        problems.append(RecordingError.Problem(kind: kind, entry: entry, detail: detail))
    }

    /// The entries that have played although they had expired.
    func expired(of index: TapeIndex) -> [RecordedExchange] { expired.sorted().map { index.exchanges[$0] } }

    /// The problems that a session reports at its end. Each is reported once, except for entries that stay unused.
    mutating func add(replaced names: [String]) {
        for name in names { replaced[name, default: 0] += 1 }
    }

    mutating func takeProblems(_ index: TapeIndex, allowingUnused: Bool) -> [RecordingError.Problem] {
        var result: [RecordingError.Problem] = []
        if policy.plays, !allowingUnused {
            for (exchange, isUsed) in zip(index.exchanges, used) where !isUsed {
                let detail = "No request has used this entry. Delete it, or pass allowingUnused: true."
                result.append(RecordingError.Problem(kind: .unused, entry: exchange.name, detail: detail))
            }
        }
        result += problems
        problems = []
        for (_, entry) in open.sorted(by: { $0.key < $1.key }) {
            let detail = "The exchange hasn't ended, so it isn't recorded yet."
            result.append(RecordingError.Problem(kind: .unfinished, entry: entry, detail: detail))
        }
        return result
    }
}

extension RecordedExchange.Request {
    /// Method and URL, on one line.
    var name: String { PrintableText.line("\(method) \(url)") }
}

extension RecordedExchange {
    /// Method and URL of the request, on one line.
    var name: String { request.name }
}
