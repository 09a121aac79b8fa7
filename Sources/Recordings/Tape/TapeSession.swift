internal import Dispatch
internal import Foundation
internal import Synchronization

/// One recording at work: the entries as they were at its start, and what was used and recorded since.
final class TapeSession: Sendable {
    let file: URL
    /// The mode; `new` for `once` without a file.
    let mode: Recording.Mode
    let index: TapeIndex
    let options: Recording.Options
    let files: TapeFiles

    private let state: Mutex<TapeState>
    /// The right to record, from the first exchange to the next `finish`.
    private let lock = Mutex<WriteLock?>(nil)
    // Writing waits for the disk, and tasks have few threads to wait on. In order, so that `finish` comes after all exchanges that have
    // ended.
    private let queue = DispatchQueue(label: "recording", qos: .userInitiated)

    /// Whether each file existed when this process first used it, for ``Recording/Mode/once``.
    private static let existed = Mutex([String: Bool]())

    /// Reads the file.
    ///
    /// - Throws: `TransportError` if the mode is unknown, or if the file is missing although the mode needs it, can't be read, or
    ///   isn't an HTTP Archive.
    init(file: URL, mode: Recording.Mode, options: Recording.Options) throws {
        let known = Recording.Mode.known
        guard known.contains(mode) else {
            throw TransportError(
                .unsupported,
                "\"\(PrintableText.line(mode.rawValue))\" is no mode of a recording: \(Recording.environmentVariable) or the"
                    + " recording's mode must be one of \(known.map(\.rawValue).joined(separator: ", "))."
            )
        }
        self.file = file
        self.options = options
        let files = try TapeFiles(file)
        let existed = Self.existed.withLock { existed in
            let isThere = existed[files.path] ?? files.exists
            existed[files.path] = isThere
            return isThere
        }
        self.files = files
        self.mode = mode == .once && !existed ? .new : mode
        let bytes = try files.read()
        if mode == .none, bytes.tape == nil, bytes.side == nil {
            throw TransportError(
                .unreadableFile,
                "The recording \(files.path) doesn't exist, and mode none records nothing. Record it in mode once, and check that"
                    + " \(Recording.environmentVariable) isn't set to none."
            )
        }
        let exchanges = try TapeMerge(redaction: options.redaction).exchanges(bytes, file: files.path)
        index = TapeIndex(exchanges, options.matching, options.redaction)
        state = Mutex(TapeState(self.mode, repeatsLast: options.repeatsLast, count: index.exchanges.count))
    }

    deinit {
        if let lock = lock.withLock(\.self) { files.release(lock) }
    }
}

extension TapeSession {
    /// Decides about a request. Call ``giveBack(_:)`` if the call is cancelled before it has its response.
    ///
    /// - Parameter request: the request, as it arrived.
    func take(_ request: RecordedExchange.Request) -> TapeState.Decision {
        let key = index.key(of: request)
        let now = options.expiry == nil ? Date.distantPast : options.time.now()
        return state.withLock { state in
            let name = { PrintableText.line("\(request.method) \(self.options.redaction.url(request.url))") }
            return state.take(key, index, entry: name()) { entry in
                guard let age = options.expiry else { return false }
                let elapsed = now.timeIntervalSince(index.exchanges[entry].startedAt)
                // A clock that has been wrong may have dated an entry years ahead; one that is minutes fast is usual.
                return elapsed >= age / .seconds(1) || elapsed < -300
            }
        }
    }

    func giveBack(_ ticket: TapeState.Ticket) { state.withLock { $0.giveBack(ticket, index) } }

    /// Acquires the right to record, unless this session has it.
    ///
    /// - Throws: also if another process records.
    @discardableResult
    private func claim() throws -> WriteLock {
        if let lock = try claimUnlessBusy() { return lock }
        throw TransportError(
            .unwritableFile,
            "Another process is recording \(files.path), and one process records a file at a time. Wait for its end, record into"
                + " another file, or play in mode none."
        )
    }

    private func claimUnlessBusy() throws -> WriteLock? {
        try lock.withLock { lock in
            if lock == nil { lock = try files.lock() }
            return lock
        }
    }

    /// The capture of an exchange, which keeps it in the side file. Acquires the right to record, which stays until the next
    /// `finish`.
    ///
    /// - Parameter request: the request, as it was sent.
    /// - Throws: if nothing can be recorded, also because another process records.
    func capture(
        _ request: RecordedExchange.Request,
        replacing old: Int?,
        _ ticket: TapeState.Ticket
    ) throws -> ExchangeCapture {
        do {
            try claim()
        } catch {
            giveBack(ticket)
            throw error
        }
        return ExchangeCapture(request: request, limit: options.bodyLimit, time: options.time) {
            [self] exchange, done in
            queue.async { [self] in
                var problem: String?
                do {
                    if let exchange {
                        problem = try append(exchange, replacing: old.map { index.exchanges[$0] }, ticket)
                    } else {
                        giveBack(ticket)
                    }
                } catch {
                    problem = (error as? any HTTPError)?.message ?? ErrorText.line(error)
                }
                state.withLock { $0.end(ticket, problem) }
                done()
            }
        }
    }

    /// Appends the line of an exchange, unless the old entry is better. Returns the problem to report, if any.
    private func append(
        _ exchange: RecordedExchange,
        replacing old: RecordedExchange?,
        _ ticket: TapeState.Ticket
    ) throws -> String? {
        let replaced = Mutex<[String]>([])
        var new = options.redaction.noting { name in replaced.withLock { $0.append(name) } }.redacted(exchange)
        if let reason = new.reasonNotToReplace(old) {
            return reason + " The old response stays. Delete its entry to record the new outcome."
        }
        new.number = old?.number ?? ticket.number
        try files.append(HARArchive.encode(line: new), try claim())
        state.withLock { $0.record(ticket, replaced: replaced.withLock(\.self)) }
        return exchange.response?.omission
    }

    /// Moves the side file's lines into the file, and reports.
    func finish(allowingUnused: Bool) throws -> [String: Int] {
        try queue.sync { try write() }
        let problems = state.withLock { state in
            (unused: allowingUnused ? [] : state.unused(index), notRecorded: state.takeProblems())
        }
        guard problems.unused.isEmpty, problems.notRecorded.isEmpty else {
            throw RecordingError(file: file, unused: problems.unused, notRecorded: problems.notRecorded)
        }
        return state.withLock(\.replaced)
    }

    private func write() throws {
        // Lines of a process that was killed are moved too; those of one that records are left to it.
        let isDue = lock.withLock { $0 != nil } || (mode == .new || mode == .all) && files.hasSideFile
        guard isDue, let acquired = try claimUnlessBusy() else { return }
        let skipped = state.withLock { $0.skipped(index) }
        try files.rewrite(acquired) { bytes in
            let exchanges = try TapeMerge(redaction: options.redaction).exchanges(bytes, file: files.path)
            // An entry that another recording has recorded again stays.
            return HARArchive.encode(exchanges.filter { !skipped.contains($0) })
        }
        lock.withLock { $0 = nil }
        files.release(acquired)
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
