public import Foundation
internal import Synchronization

/// Records what each interceptor of a chain did with each call: what it changed, decided and took, and what was sent.
///
/// ```swift
/// let journal = Journal()
/// let api = Client(baseURL: url, interceptors: chain, observer: journal)
///
/// let user: User = try await api.get("/users/42")
/// print(journal.calls.last?.explained ?? "no call")
/// ```
/// A journal works for every interceptor, the app's own included: it compares the request before and after the interceptor, and
/// the response likewise. An interceptor adds the reason for a decision with `HTTPRequest.note(_:)`.
///
/// Several clients may share a journal. A chain without one costs nothing.
///
/// ## Secrets
/// The journal replaces secrets when it records them, so it never holds them: in fields, URLs, bodies, errors and notes, as its
/// `Redaction` says. A journal with `redaction: nil` keeps them.
///
/// ## Limits
/// The journal keeps the newest calls, running ones included, up to a number and an estimated size. A call takes about a
/// sixteenth of the size at most: a loop of retries keeps its first and its last attempts, and counts the others in
/// ``JournalCall/omittedCount``.
/// Steps nested in more than 128 others are only counted too.
///
/// Bodies in memory are kept up to a limit, and up to a sixteenth of a call's size. A stream is never read for the journal; its
/// size is recorded when it ends.
public final class Journal: Sendable {
    /// The calls, oldest first. Their numbers rise by one.
    private struct Records {
        // A slice, because that removes its first element without moving the others.
        var calls: ArraySlice<JournalRecord> = []
        var lastID = 0
    }

    let limit: Int
    private let byteLimit: Int
    private let time: TimeSource
    private let elapsed: @Sendable () -> Duration
    let writer: JournalWriter
    private let records = Mutex(Records())
    private let size = Atomic<Int>(0)
    let listeners = JournalListeners()

    /// Creates an empty journal.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of calls; 1,000 by default.
    ///   - byteLimit: the maximum size of all calls in memory, in bytes; 16 MiB by default.
    ///   - bodyLimit: the number of bytes to keep of each body in memory; 4 KiB by default. With 0, no content is kept.
    ///   - redaction: decides which values are secrets. With `nil`, the journal keeps passwords, tokens and cookies as they are: its
    ///     reader, and the reader of a file made from it, can act as the user.
    ///   - time: measures the steps and dates the calls.
    public init(
        limit: Int = 1_000,
        byteLimit: Int = 16 << 20,
        bodyLimit: Int = 4 << 10,
        redaction: Redaction? = .standard,
        time: TimeSource = .system
    ) {
        self.limit = max(0, limit)
        self.byteLimit = max(0, byteLimit)
        self.time = time
        elapsed = time.startMeasuring()
        writer = JournalWriter(redaction: redaction, bodyLimit: bodyLimit, callLimit: self.byteLimit / 16)
    }

    /// The calls, oldest first, each in its present state.
    public var calls: [JournalCall] { records.withLock(\.calls).map(\.call) }

    /// The call with a number, unless it has been dropped.
    public subscript(id: JournalCall.ID) -> JournalCall? {
        let record = records.withLock { records in
            let (calls, lastID) = (records.calls, records.lastID)
            return id <= lastID && id > lastID - calls.count ? calls[calls.endIndex - 1 - (lastID - id)] : nil
        }
        return record?.call
    }

    /// Drops all calls. What running calls still do isn't recorded.
    public func removeAll() {
        let removed = records.withLock { records in
            defer { records.calls = [] }
            return records.calls
        }
        removed.forEach(drop)
    }

    /// Decides which values are secrets; `nil` if the journal keeps them.
    public var redaction: Redaction? { writer.redaction }

    /// The number of the oldest call, or of the next call if the journal is empty.
    var oldestID: JournalCall.ID { records.withLock { $0.lastID + 1 - $0.calls.count } }

    /// Tells a listener the calls that are there, as if they had changed.
    func tellAll(to listener: JournalListener) {
        for id in records.withLock({ $0.calls.map(\.id) }) { listener.hasChanged(id) }
    }

    /// The estimated size of the calls in memory, in bytes.
    var byteCount: Int { size.load(ordering: .relaxed) }
}

extension Journal {
    /// Records that a request arrived at an element. A request that no element of this journal has seen begins a call.
    ///
    /// So does a request that was kept and is sent again after its call: it arrives at the first element of a chain, from a run
    /// that is over. Work that outlives a call goes on inside the chain, and stays a part of the call.
    func begin(_ name: JournalName, _ request: borrowing HTTPRequest) -> JournalVisit {
        let now = elapsed()
        let visited = request.context.journalVisit.flatMap { $0.journal === self ? $0 : nil }
        let parent = visited.flatMap { name.isFirst && $0.isOver ? nil : $0 }
        // Not `??`, whose right side is a closure and can't capture the borrowed request.
        let record =
            if let parent { parent.record } else { beginCall(for: request.context.journalCaller ?? visited, at: now) }
        let outer = parent.map { $0.depth < JournalVisit.maxDepth ? $0.location : .omitted }
        let previous = parent?.beginInner()
        let head = JournalHead.of(JournalParts(request), after: previous, by: writer)
        let step = JournalStep(name: name, parent: outer, start: now - record.start, request: head.message)
        let location = change(record) { $0.begin(step, isShared: head === previous) }
        return JournalVisit(self, record, location, inside: parent, request: head)
    }

    private func beginCall(for caller: JournalVisit?, at now: Duration) -> JournalRecord {
        let date = time.now()
        let callerID = caller?.journal === self ? caller?.record.id : nil
        let record = records.withLock { records in
            records.lastID += 1
            let record = JournalRecord(
                id: records.lastID,
                startedAt: date,
                parentID: callerID,
                start: now,
                limit: byteLimit / 16
            )
            records.calls.append(record)
            return record
        }
        size.add(JournalRecord.overhead, ordering: .relaxed)
        removeOldest { $0.count > limit }
        return record
    }

    /// Records a step's outcome.
    func end(_ visit: JournalVisit, with outcome: JournalStep.Outcome, isShared: Bool) {
        let time = elapsed() - visit.record.start
        change(visit.record) { $0.end(visit.location, at: time, with: outcome, isShared: isShared) }
    }

    /// Changes a call's steps, makes room for them, and tells the listeners.
    func change<Result: Sendable>(_ record: JournalRecord, _ change: (inout JournalSteps) -> Result) -> Result {
        let (result, growth) = record.change(change)
        if growth != 0, size.add(growth, ordering: .relaxed).newValue > byteLimit {
            removeOldest { _ in size.load(ordering: .relaxed) > byteLimit }
        }
        listeners.hasChanged(record.id)
        return result
    }

    private func removeOldest(while isFull: (ArraySlice<JournalRecord>) -> Bool) {
        while let oldest = records.withLock({ isFull($0.calls) ? $0.calls.popFirst() : nil }) { drop(oldest) }
    }

    private func drop(_ record: JournalRecord) {
        let growth = record.change { $0.drop() }.growth
        size.add(growth - JournalRecord.overhead, ordering: .relaxed)
    }
}

extension Journal {
    /// The calls as an HTTP Archive (HAR 1.2), which browsers' developer tools, proxies and many other programs open.
    ///
    /// ```swift
    /// try journal.har().write(to: harFile)
    /// ```
    /// A call is a page of the archive, and each attempt is an entry with the transport's timings. A call that sent nothing, such
    /// as one that the cache answered, has one entry, which browsers show as cached. The notes of the interceptors are in
    /// `_decisions` of a page. If the journal shows secrets, `comment` and `_isRedacted` say so.
    ///
    /// A body is the text that the journal kept, and a comment says if that is only the beginning. Where the journal knows nothing,
    /// such as the size of a head, the archive has HAR's value for "unknown".
    ///
    /// The archive of a thousand calls takes about 0.1 s, so prefer a task that isn't on the main actor.
    public func har() -> Data { HARFile(calls: calls, isRedacted: redaction != nil).data }

    /// The calls as a page for any browser: an HTML file that needs no other file and no network.
    ///
    /// ```swift
    /// try journal.page().write(to: htmlFile)
    /// ```
    /// Each call is a line that opens: its steps, changes and notes, and the fields and bodies of the call and of its attempts.
    /// A body that comes again in a call is shown once. The browser's own search and keys work. Its appearance is light or dark, as
    /// the system's. If the journal shows secrets, the page says so at its top.
    ///
    /// Nothing in a call can run in the page, whatever a server sent: it has no script, and its content security policy allows none.
    public func page() -> Data { JournalPage(calls: calls, isRedacted: redaction != nil).data }
}

extension Journal: ChainObserver {
    /// An interceptor that records the runs of another one.
    ///
    /// - Parameters:
    ///   - interceptor: the element to run.
    ///   - name: the element's name in the printed chain.
    ///   - isFirst: whether the element is the outermost one of its chain.
    public func observing(_ interceptor: any Interceptor, named name: String, isFirst: Bool) -> any Interceptor {
        let name = JournalName(text: name, isTransport: false, isFirst: isFirst)
        return JournalHop(base: interceptor, name: name, journal: self)
    }

    /// A transport that records the runs of another one.
    ///
    /// - Parameters:
    ///   - transport: the transport to run.
    ///   - isFirst: whether its chain has no interceptors.
    public func observing(_ transport: any Transport, isFirst: Bool) -> any Transport {
        let name = JournalName(text: "\(type(of: transport))", isTransport: true, isFirst: isFirst)
        return JournalEnd(base: transport, name: name, journal: self)
    }
}

extension Journal: CustomStringConvertible, CustomReflectable {
    /// The number of calls, such as `Journal(12 calls)`.
    public var description: String {
        let count = records.withLock(\.calls.count)
        return "Journal(\(count) \(count == 1 ? "call" : "calls"))"
    }

    /// A mirror that shows ``description`` and no calls.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
