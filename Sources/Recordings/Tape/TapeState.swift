internal import Foundation
internal import Transport

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

    /// What a session does with requests.
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
        var next = 1
        var returned: [Int] = []

        mutating func take() -> Int {
            if let least = returned.min() {
                returned.removeAll { $0 == least }
                return least
            }
            defer { next += 1 }
            return next
        }
    }

    let policy: Policy
    private var positions: [TapeRules.Key: Positions] = [:]
    private var used: [Bool]
    private var expired: Set<Int> = []
    private(set) var problems: [RecordingError.Problem] = []
    /// The exchanges that are being recorded.
    private var open: [Int: String] = [:]
    private var lastID = 0
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
        let ticket = Ticket(key: key, ordinal: positions[key, default: Positions()].take(), id: lastID)
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
        positions[key]?.returned.append(ticket.ordinal)
        let count = index.count(of: key)
        if policy.repeatsLast, let last = index.index(of: key, count) {
            return .play(last, Ticket(key: key, ordinal: 0, id: lastID))
        }
        return .refuse(count: count)
    }

    /// Gives a position back, because the call was cancelled, or had nothing to do with a server.
    mutating func giveBack(_ ticket: Ticket) {
        guard ticket.ordinal > 0 else { return }
        positions[ticket.key]?.returned.append(ticket.ordinal)
    }

    /// Ends the recording of an exchange.
    mutating func end(_ ticket: Ticket) { open[ticket.id] = nil }

    mutating func add(_ kind: RecordingError.Problem.Kind, _ entry: String, _ detail: String) {
        problems.append(RecordingError.Problem(kind: kind, entry: entry, detail: detail))
    }

    /// The entries that have played although they had expired.
    func expired(of index: TapeIndex) -> [RecordedExchange] { expired.sorted().map { index.exchanges[$0] } }

    /// What a session reports at its end. Reported once, except for entries that stay unused.
    mutating func takeProblems(_ index: TapeIndex, allowingUnused: Bool) -> [RecordingError.Problem] {
        var result: [RecordingError.Problem] = []
        if policy.plays, !allowingUnused {
            for (exchange, isUsed) in zip(index.exchanges, used) where !isUsed {
                let detail = "No request has used this entry."
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
