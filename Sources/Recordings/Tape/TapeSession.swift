internal import Dispatch
internal import Foundation
internal import Synchronization
internal import Transport

/// One recording at work: the entries as they were at its start, and what was used and recorded since.
final class TapeSession: Sendable {
    let file: URL
    let mode: Recording.Mode
    let index: TapeIndex
    let options: Recording.Options
    let files: TapeFiles

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
        let recordsEverything = mode == .all || mode == .once && !OnceDecisions.fileExists(files)
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

    /// Whether the session never sends a request.
    var onlyPlays: Bool { mode == .none }

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
                return now.timeIntervalSince(index.exchanges[entry].startedAt) >= age / .seconds(1)
            }
        }
    }

    func giveBack(_ ticket: TapeState.Ticket) { state.withLock { $0.giveBack(ticket) } }

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

    /// Notes that an exchange passes without being recorded.
    func skip(_ request: RecordedExchange.Request, _ ticket: TapeState.Ticket) {
        let name = options.rules.name(of: request)
        state.withLock { state in
            state.end(ticket)
            state.add(.notRecorded, name, tooLarge)
        }
    }

    private var tooLarge: String {
        "A content is longer than the limit of \(options.contentLimit) bytes. Raise the recording's contentLimit."
    }

    private func keep(
        _ outcome: ExchangeCapture.Outcome,
        of request: RecordedExchange.Request,
        replacing old: Int?,
        _ ticket: TapeState.Ticket
    ) {
        switch outcome {
        case .nothing:
            state.withLock { state in
                state.giveBack(ticket)
                state.end(ticket)
            }
        case .tooLarge: skip(request, ticket)
        case .exchange(let exchange):
            let exchange = options.rules.redaction.redacted(exchange)
            do {
                let json = HARArchive.encode([exchange])
                try files.append(SideLine(ordinal: ticket.ordinal, json: json).bytes)
                let drift = old.flatMap { Drift.difference(from: index.exchanges[$0], to: exchange) }
                state.withLock { state in
                    state.hasAppended = true
                    if let drift { state.add(.drifted, exchange.name, drift) }
                    state.end(ticket)
                }
            } catch {
                state.withLock { state in
                    state.add(.notRecorded, exchange.name, (error as? any HTTPError)?.message ?? ErrorText.line(error))
                    state.end(ticket)
                }
            }
        }
    }
}

extension TapeSession {
    /// Moves the side file's lines into the file, and reports.
    func finish(allowingUnused: Bool) throws {
        try queue.sync {
            let mayMerge = mode == .new || mode == .all
            let isDue = state.withLock(\.hasAppended) || mayMerge && files.hasSideFile
            if isDue {
                let merge = TapeMerge(rules: options.rules)
                try files.rewrite { bytes in
                    guard bytes.side != nil else { return nil }
                    return HARArchive.encode(try merge.exchanges(bytes, file: files.path))
                }
                state.withLock { $0.hasAppended = false }
            }
        }
        let problems = state.withLock { $0.takeProblems(index, allowingUnused: allowingUnused) }
        guard problems.isEmpty else { throw RecordingError(file: file, problems: problems) }
    }
}

/// Whether a file existed when this process first used it, for ``Recording/Mode/once``.
///
/// One `Bool` for each file, for the lifetime of the process.
private enum OnceDecisions {
    private static let decisions = Mutex([String: Bool]())

    static func fileExists(_ files: TapeFiles) -> Bool {
        decisions.withLock { decisions in
            if let decision = decisions[files.path] { return decision }
            decisions[files.path] = files.exists
            return files.exists
        }
    }
}
