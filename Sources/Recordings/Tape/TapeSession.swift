internal import Dispatch
internal import Foundation
internal import InterceptorsTransport
internal import Synchronization

/// One recording at work: the entries as they were at its start, and what was used and recorded since.
final class TapeSession: Sendable {
    let file: URL
    let mode: Recording.Mode
    let index: TapeIndex
    let options: Recording.Options
    let files: TapeFiles

    /// The lines of the side file that a killed process left before this one recorded, in mode once.
    private let leftovers: Set<Version>
    private let state: Mutex<TapeState>
    // Writing waits for the disk and for locks, and tasks have few threads to wait on. In order, so that `finish` comes after all
    // exchanges that have ended.
    private let queue = DispatchQueue(label: "recording", qos: .userInitiated)

    /// Reads the file.
    ///
    /// - Throws: `TransportError` if the mode is unknown, or if the file is missing although the mode needs it, can't be read, or
    ///   isn't an HTTP Archive.
    init(file: URL, mode: Recording.Mode, options: Recording.Options) throws {
        guard Recording.Mode.known.contains(mode) else { throw TransportError.unknownMode(mode) }
        self.file = file
        self.mode = mode
        self.options = options
        files = try TapeFiles(file)
        let once = mode == .once ? try OnceDecisions.decision(files) : nil
        leftovers = once?.leftovers ?? []
        let recordsEverything = mode == .all || once?.fileExists == false
        if mode == .once, recordsEverything {
            index = TapeIndex()
        } else {
            let bytes = try files.read()
            if mode == .none, bytes.tape == nil, bytes.side == nil { throw TransportError.missing(files.path) }
            let exchanges = try TapeMerge(rules: options.rules).exchanges(bytes, file: files.path)
            index = TapeIndex(exchanges, rules: options.rules)
        }
        let policy = TapeState.Policy(
            plays: !recordsEverything,
            recordsMissing: recordsEverything || mode == .new,
            recordsExpired: mode != .none,
            repeatsLast: options.repeatsLast
        )
        state = Mutex(TapeState(policy, count: index.exchanges.count))
    }

    var expired: [String] { state.withLock { $0.expired(of: index) }.map(\.name) }
}

extension TapeSession {
    /// Decides about a request. Call ``giveBack(_:)`` if the call is cancelled before it has its response.
    ///
    /// - Parameter request: the request, as it arrived.
    func take(_ request: RecordedExchange.Request) -> TapeState.Decision {
        let key = options.rules.key(of: request)
        let age = options.expiry.age
        let now = age == nil ? Date.distantPast : options.time.now()
        return state.withLock { state in
            state.take(key, index, entry: options.rules.name(of: request)) { entry in
                guard let age else { return false }
                let elapsed = now.timeIntervalSince(index.exchanges[entry].startedAt)
                // A clock that has been wrong may have dated an entry years ahead; one that is minutes fast is usual.
                return elapsed >= age / .seconds(1) || elapsed < -300
            }
        }
    }

    func giveBack(_ ticket: TapeState.Ticket) { state.withLock { $0.giveBack(ticket, index) } }

    /// The capture of an exchange, which keeps it in the side file.
    ///
    /// - Parameter request: the request, as it was sent.
    func capture(
        _ request: RecordedExchange.Request,
        replacing old: Int?,
        _ ticket: TapeState.Ticket
    ) -> ExchangeCapture {
        ExchangeCapture(request: request, limit: options.contentLimit, time: options.time) { [self] outcome, done in
            queue.async { [self] in
                keep(outcome, of: request, replacing: old, ticket)
                done()
            }
        }
    }

    private func keep(
        _ outcome: ExchangeCapture.Outcome,
        of request: RecordedExchange.Request,
        replacing old: Int?,
        _ ticket: TapeState.Ticket
    ) {
        var problem: Problem?
        switch outcome {
        case .nothing: state.withLock { $0.giveBack(ticket, index) }
        case .exchange(let exchange):
            do {
                problem = try append(exchange, replacing: old, ticket)
            } catch {
                problem = (.notRecorded, (error as? any HTTPError)?.message ?? ErrorText.line(error))
            }
        }
        state.withLock { state in
            if let problem { state.add(problem.kind, options.rules.name(of: request), problem.detail) }
            state.end(ticket)
        }
    }

    private typealias Problem = (kind: RecordingError.Problem.Kind, detail: String)

    /// Appends the line of an exchange, unless the old entry is better. Returns the problem to report, if any.
    private func append(
        _ exchange: RecordedExchange,
        replacing old: Int?,
        _ ticket: TapeState.Ticket
    ) throws -> Problem? {
        let old = old.map { index.exchanges[$0] }
        let replaced = Mutex<[String]>([])
        var new = options.rules.redaction.noting { name in replaced.withLock { $0.append(name) } }.redacted(exchange)
        if let reason = new.reasonNotToReplace(old) {
            let detail = reason + " The old response stays. Delete its entry to record the new outcome."
            return (.notRecorded, detail)
        }
        let id = old?.id ?? index.newID(ticket.key, ticket.ordinal, series: options.rules.series(ticket.key))
        new.id = id
        try files.append(SideLine(json: HARArchive.encode([new])).bytes)
        state.withLock { state in
            state.add(replaced: replaced.withLock { $0 })
            state.record(ticket, id)
        }
        if let omission = exchange.response?.omission { return (.notRecorded, omission) }
        return old.flatMap { Drift.difference(from: $0, to: new) }.map { (.drifted, $0) }
    }
}

extension RecordedExchange {
    /// The reason to keep an old exchange: it has a whole response, and this one hasn't.
    fileprivate func reasonNotToReplace(_ old: RecordedExchange?) -> String? {
        guard let old, let oldResponse = old.response, oldResponse.omission == nil,
            old.failure.map(\.isOfReader) ?? true
        else { return nil }
        if let omission = response?.omission { return omission }
        guard let failure, !failure.isOfReader else { return nil }
        return "The request failed with \(failure.code)."
    }
}

/// An entry as it was at some time. Recorded again, it is another version.
private struct Version: Hashable {
    let id: EntryID?
    let startedAt: Date

    init(_ exchange: RecordedExchange) { (id, startedAt) = (exchange.id, exchange.startedAt) }
}

extension TapeSession {
    /// Moves the side file's lines into the file, and reports.
    func finish(allowingUnused: Bool) throws -> [String: Int] {
        try queue.sync {
            let mayMerge = mode == .new || mode == .all
            let isDue = state.withLock(\.hasAppended) || mayMerge && files.hasSideFile
            if isDue {
                let (merge, superseded) = (TapeMerge(rules: options.rules), superseded())
                try files.rewrite { bytes in
                    guard bytes.side != nil else { return nil }
                    let exchanges = try merge.exchanges(bytes, file: files.path)
                    return HARArchive.encode(exchanges.filter { !superseded.contains(Version($0)) })
                }
                state.withLock { $0.hasAppended = false }
            }
        }
        let problems = state.withLock { $0.takeProblems(index, allowingUnused: allowingUnused) }
        guard problems.isEmpty else { throw RecordingError(file: file, problems: problems) }
        return state.withLock(\.replaced)
    }

    /// The entries that would play before, or behind, the responses that were recorded instead of them.
    private func superseded() -> Set<Version> {
        let (skipped, recorded) = state.withLock { ($0.skipped(index), $0.recordedIDs) }
        let series = Set(recorded.map(\.series))
        let replaced = leftovers.filter { line in
            line.id.map { series.contains($0.series) && !recorded.contains($0) } ?? false
        }
        return replaced.union(skipped.map(Version.init))
    }
}

/// The state of a file when this process first used it, for ``Recording/Mode/once``. One entry for each file, for the lifetime of
/// the process.
private enum OnceDecisions {
    struct Decision {
        let fileExists: Bool
        /// The lines of a side file without a recording: a process was killed, or another one is recording.
        var leftovers: Set<Version> = []
    }

    private static let decisions = Mutex([String: Decision]())

    static func decision(_ files: TapeFiles) throws -> Decision {
        try decisions.withLock { decisions in
            if let decision = decisions[files.path] { return decision }
            var decision = Decision(fileExists: files.exists)
            if !decision.fileExists, let side = try files.read().side {
                decision.leftovers = Set(try TapeMerge.additions(in: side, file: files.sidePath).map(Version.init))
            }
            decisions[files.path] = decision
            return decision
        }
    }
}
