internal import Foundation
public import Interceptors
internal import Synchronization

/// Records what each interceptor of a chain did with each call: what it changed, decided and took, and what was sent.
///
/// ```swift
/// let journal = Journal()
/// let api = Client(baseURL: url, interceptors: chain, journal: journal)
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
/// `Redaction` says. ``showingSecrets(limit:byteLimit:bodyLimit:time:)`` makes a journal that keeps them.
///
/// ## Limits
/// The journal keeps the newest calls, running ones included, up to a number and a size. A call takes about a sixteenth of the
/// size at most: a loop of retries keeps its first and its last attempts, and counts the others in ``JournalCall/omittedCount``.
/// Steps nested in more than 128 others are only counted too.
///
/// Bodies in memory are kept up to a limit, and up to a sixteenth of a call's size. A stream is never read for the journal; its
/// size is recorded when it ends.
public final class Journal: Sendable {
    let limit: Int
    private let byteLimit: Int
    private let time: TimeSource
    private let elapsed: @Sendable () -> Duration
    private let writer: JournalWriter
    private let records = Mutex(JournalRecords())
    private let size = Atomic<Int>(0)
    let listeners = JournalListeners()

    /// Creates a journal that replaces secrets.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of calls; 1,000 by default.
    ///   - byteLimit: the maximum size of all calls in memory, in bytes; 16 MiB by default.
    ///   - bodyLimit: the number of bytes to keep of each body in memory; 4 KiB by default. With 0, no content is kept.
    ///   - redaction: decides which values are secrets.
    ///   - time: measures the steps and dates the calls.
    public convenience init(
        limit: Int = 1_000,
        byteLimit: Int = 16 << 20,
        bodyLimit: Int = 4 << 10,
        redaction: Redaction = .standard,
        time: TimeSource = .system
    ) {
        self.init(limit: limit, byteLimit: byteLimit, bodyLimit: bodyLimit, redactedBy: redaction, time: time)
    }

    /// Creates a journal that keeps passwords, tokens and cookies as they are. Whoever reads its calls, or a file made from them,
    /// can act as the user.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of calls.
    ///   - byteLimit: the maximum size of all calls in memory, in bytes.
    ///   - bodyLimit: the number of bytes to keep of each body in memory.
    ///   - time: measures the steps and dates the calls.
    public static func showingSecrets(
        limit: Int = 1_000,
        byteLimit: Int = 16 << 20,
        bodyLimit: Int = 4 << 10,
        time: TimeSource = .system
    ) -> Journal {
        Journal(limit: limit, byteLimit: byteLimit, bodyLimit: bodyLimit, redactedBy: nil, time: time)
    }

    private init(limit: Int, byteLimit: Int, bodyLimit: Int, redactedBy redaction: Redaction?, time: TimeSource) {
        self.limit = max(0, limit)
        self.byteLimit = max(0, byteLimit)
        self.time = time
        elapsed = time.startMeasuring()
        writer = JournalWriter(redaction: redaction, bodyLimit: bodyLimit, callLimit: self.byteLimit / 16)
    }

    /// The calls, oldest first, each in its present state.
    public var calls: [JournalCall] {
        // The events are read before the names that they refer to.
        let events = records.withLock(\.all).map { ($0, $0.contents) }
        let (names, values) = (writer.names.texts, writer.values.texts)
        return events.map { JournalCall($0, $1, names: names, values: values) }
    }

    /// The call with a number, unless it has been dropped.
    public subscript(id: JournalCall.ID) -> JournalCall? {
        guard let record = records.withLock({ $0[id] }) else { return nil }
        let events = record.contents
        return JournalCall(record, events, names: writer.names.texts, values: writer.values.texts)
    }

    /// Drops all calls. What running calls still do isn't recorded.
    public func removeAll() { drop(records.withLock { $0.removeAll() }) }

    /// Decides which values are secrets; `nil` if the journal keeps them.
    public var redaction: Redaction? { writer.redaction }

    /// Whether the journal keeps secrets as they are.
    var showsSecrets: Bool { writer.redaction == nil }

    /// The number of the oldest call, or of the next call if the journal is empty.
    var oldestID: JournalCall.ID { records.withLock(\.oldestID) }

    /// Tells a listener the calls that are there, as if they had changed.
    func tellAll(to listener: JournalListener) {
        for id in records.withLock({ $0.all.map(\.id) }) { listener.hasChanged(id) }
    }

    /// The size of the calls in memory, in bytes.
    var byteCount: Int { size.load(ordering: .relaxed) }

    private var now: Int64 { elapsed().journalNanoseconds }
}

extension Journal {
    /// Records that a request arrived at an element. A request that no element of this journal has seen begins a call.
    ///
    /// So does a request that was kept and is sent again after its call: it arrives at the first element of a chain, from a run
    /// that is over. Work that outlives a call goes on inside the chain, and stays a part of the call.
    func begin(_ name: JournalName, _ request: borrowing HTTPRequest) -> JournalVisit {
        let now = now
        let visited = request.context.journalVisit.flatMap { $0.journal === self ? $0 : nil }
        let parent = visited.flatMap { name.isFirst && $0.isOver ? nil : $0 }
        // Not `??`, whose right side is a closure and can't capture the borrowed request.
        let record =
            if let parent { parent.record } else { beginCall(for: request.context.journalCaller ?? visited, at: now) }
        let outer = parent.map { $0.depth < JournalVisit.maxDepth ? $0.location : .omitted }
        let previous = parent?.beginInner()
        let head = JournalHead.of(request, after: previous)
        let isTransport = name.isTransport
        // Only the body is written from the request.
        let body: HTTPBody = head === previous ? .empty : request.body
        let (location, growth) = record.begin(inside: outer, isTransport: isTransport, at: now) { bytes in
            bytes.append(number: name.number)
            if name.number == 0 { bytes.append(text: name.text) }
            return writer.write(body, head, after: previous, to: &bytes)
        }
        hasChanged(record, by: growth)
        return JournalVisit(self, record, location, inside: parent, request: head)
    }

    private func beginCall(for caller: JournalVisit?, at now: Int64) -> JournalRecord {
        let date = time.now()
        let callerID = caller?.journal === self ? caller?.record.id : nil
        let (record, dropped) = records.withLock { records in
            let record = JournalRecord(
                id: records.nextID(),
                startedAt: date,
                parentID: callerID,
                start: now,
                limit: byteLimit / 16
            )
            return (record, records.add(record, limit: limit))
        }
        size.add(JournalRecord.overhead, ordering: .relaxed)
        drop(dropped)
        return record
    }

    /// Records an event of an element's run.
    func record(
        _ tag: JournalEvents.Tag,
        of visit: JournalVisit,
        write: (_ bytes: inout JournalBytes, _ isBrief: Bool, _ writer: JournalWriter) -> Int
    ) {
        let growth = visit.record.record(tag, of: visit.location, at: now) { write(&$0, $1, writer) }
        hasChanged(visit.record, by: growth)
    }

    /// Records a note of an element's run.
    func add(_ note: CallNote, to visit: JournalVisit) {
        record(.noted, of: visit) { bytes, _, writer in
            writer.write(note, to: &bytes)
            return 0
        }
    }

    private func hasChanged(_ record: JournalRecord, by growth: Int) {
        if growth != 0 {
            let size = size.add(growth, ordering: .relaxed).newValue
            if growth > 0, size > byteLimit { removeOldest() }
        }
        listeners.hasChanged(record.id)
    }

    private func removeOldest() {
        while size.load(ordering: .relaxed) > byteLimit, let oldest = records.withLock({ $0.removeFirst() }) {
            drop([oldest])
        }
    }

    private func drop(_ records: [JournalRecord]) {
        for record in records {
            size.subtract(record.drop() + JournalRecord.overhead, ordering: .relaxed)
        }
    }
}

extension Journal: ChainObserver {
    /// An interceptor that records the runs of another one.
    ///
    /// - Parameters:
    ///   - interceptor: the element to run.
    ///   - name: the element's name in the printed chain.
    ///   - isFirst: whether the element is the outermost one of its chain.
    public func observing(_ interceptor: any Interceptor, named name: String, isFirst: Bool) -> any Interceptor {
        JournalHop(base: interceptor, name: self.name(name, isTransport: false, isFirst: isFirst), journal: self)
    }

    /// A transport that records the runs of another one.
    ///
    /// - Parameters:
    ///   - transport: the transport to run.
    ///   - isFirst: whether its chain has no interceptors.
    public func observing(_ transport: any Transport, isFirst: Bool) -> any Transport {
        let name = name("\(type(of: transport))", isTransport: true, isFirst: isFirst)
        return JournalEnd(base: transport, name: name, journal: self)
    }

    private func name(_ text: String, isTransport: Bool, isFirst: Bool) -> JournalName {
        JournalName(text: text, number: writer.names.number(of: text), isTransport: isTransport, isFirst: isFirst)
    }
}

extension InterceptorChain {
    /// Creates a chain that records its calls in a journal.
    ///
    /// A transport that is itself a chain or a client, and has no journal, is recorded with its elements.
    ///
    /// - Parameters:
    ///   - interceptors: the interceptors, outermost first.
    ///   - transport: the transport that the innermost interceptor calls.
    ///   - journal: the journal; `nil` for none.
    public init(_ interceptors: [any Interceptor], transport: any Transport, journal: Journal?) {
        self.init(interceptors, transport: transport, observer: journal)
    }
}

extension Journal: CustomStringConvertible, CustomReflectable {
    /// The number of calls, such as `Journal(12 calls)`.
    public var description: String {
        let count = records.withLock(\.count)
        return "Journal(\(count) \(count == 1 ? "call" : "calls"))"
    }

    /// A mirror that shows ``description`` and no calls.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
