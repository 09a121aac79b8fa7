import Foundation

@testable import InterceptorsTransfers

/// A disk as a value, which a test can copy at any moment.
struct FakeDisk: TransferStorage, Equatable {
    struct Full: Error {}

    var records: [String: TransferRecord] = [:]
    var hidden: Set<String> = []
    /// The content of each destination.
    var files: [StoredPath: String] = [:]
    /// The number of changes so far.
    var changes = 0
    /// The changes that fail.
    var failing: Set<Int> = []

    private mutating func change() throws {
        changes += 1
        if failing.contains(changes) { throw Full() }
    }

    mutating func write(_ record: TransferRecord) throws {
        try change()
        records[record.id] = record
    }

    mutating func remove(_ record: TransferRecord) throws {
        try change()
        records[record.id] = nil
        hidden.remove(record.id)
    }

    mutating func stage(_ file: URL, for record: TransferRecord) throws {
        try change()
        hidden.insert(record.id)
    }

    mutating func place(_ record: TransferRecord) throws {
        try change()
        guard let destination = record.destination else { return }
        if hidden.remove(record.id) != nil {
            files[destination] = "new"
        } else if files[destination] == nil {
            throw Full()
        }
    }
}

/// A disk that remembers its state after each change.
struct LoggedDisk: TransferStorage {
    var disk: FakeDisk
    /// The states after each change, with the number of closures that had returned.
    private(set) var log: [(disk: FakeDisk, delivered: Int)] = []
    var delivered = 0

    init(_ disk: FakeDisk) { self.disk = disk }

    private mutating func logged(_ change: (inout FakeDisk) throws -> Void) throws {
        defer { log.append((disk, delivered)) }
        try change(&disk)
    }

    mutating func write(_ record: TransferRecord) throws { try logged { try $0.write(record) } }
    mutating func remove(_ record: TransferRecord) throws { try logged { try $0.remove(record) } }
    mutating func stage(_ file: URL, for record: TransferRecord) throws {
        try logged { try $0.stage(file, for: record) }
    }
    mutating func place(_ record: TransferRecord) throws { try logged { try $0.place(record) } }
}

/// The file of the session with the received content. Nothing reads it.
let receivedFile = URL(filePath: "/videos/received")

let oldFile = StoredPath(URL(filePath: "/films/42.mp4"), home: "/home")

extension TransferRecord {
    static func download(_ id: String = "a", to path: StoredPath = oldFile) -> Self {
        TransferRecord(id: id, destination: path, note: "", allowsOtherOrigins: false)
    }

    static func upload(_ id: String = "a") -> Self {
        TransferRecord(id: id, destination: nil, note: "", allowsOtherOrigins: false)
    }
}

extension TransferResponse {
    static func status(_ status: Int, to final: String = "https://a.example.com/f") -> Self {
        Self(status: status, from: URL(string: "https://a.example.com/f"), to: URL(string: final)) { _ in nil }
    }
}

/// One process with its disk: a machine whose effects are carried out at once or collected.
struct ProcessWorld {
    var machine: TransferMachine<LoggedDisk>
    /// The ends that the app's closure was called with, in this process.
    var ends: [(id: String, ending: TransferEnding)] = []
    var undelivered: [String] = []
    var renewals: [TransferTask] = []
    var cancelled: [TransferTask] = []
    var cancelledNumbers: [Int] = []
    var resumedNumbers: [Int] = []
    /// The callers for which the machine wants the session's tasks.
    var comparing: [Int] = []
    var reports: [TransferFailure] = []
    var resumed: [Int] = []
    /// Whether callers were resumed although an end wasn't delivered.
    var wasResumedTooSoon = false

    var storage: LoggedDisk {
        get { machine.storage }
        set { machine.storage = newValue }
    }

    /// A launch: the records that are on the disk.
    ///
    /// - Parameter isLaunched: whether the launch comes before all other events.
    init(_ disk: FakeDisk, maxAttempts: Int = 1, isLaunched: Bool = true) {
        let records = disk.records.values.sorted { $0.id < $1.id }
        machine = TransferMachine(records, in: LoggedDisk(disk), maxAttempts: maxAttempts)
        if isLaunched { handle(.launched) }
    }

    mutating func enqueue(_ record: TransferRecord) {
        try? storage.write(record)
        handle(.enqueued(record))
    }

    mutating func handle(_ event: TransferEvent) {
        for effect in machine.handle(event) {
            switch effect {
            case .deliver(let record, let ending):
                ends.append((record.id, ending))
                undelivered.append(record.id)
            case .renew(let record, _): renewals.append(record.task)
            case .cancel(let task): cancelled.append(task)
            case .cancelNumber(let number): cancelledNumbers.append(number)
            case .resumeNumber(let number): resumedNumbers.append(number)
            case .compare(let number): comparing.append(number)
            case .report(let failure): reports.append(failure)
            case .resume(let numbers):
                resumed += numbers
                wasResumedTooSoon = wasResumedTooSoon || !undelivered.isEmpty
            }
        }
    }

    /// The app's closure returns for the first end that waits.
    mutating func deliverNext() {
        guard !undelivered.isEmpty else { return }
        storage.delivered += 1
        handle(.delivered(undelivered.removeFirst()))
    }

    /// The session lists its tasks for the callers that wait.
    mutating func compare(_ tasks: [ListedTask]) {
        while !comparing.isEmpty { handle(.compared(comparing.removeFirst(), tasks)) }
    }

    /// Everything that the session could still do is done: lost transfers end, and every end is delivered.
    mutating func finish() {
        compare([])
        handle(.listed([], isFinal: true))
        while !renewals.isEmpty || !undelivered.isEmpty {
            if !renewals.isEmpty { handle(.notRenewed(renewals.removeFirst())) }
            deliverNext()
        }
    }
}

/// All orders of some elements.
func permutations<Element>(_ elements: [Element]) -> [[Element]] {
    guard elements.count > 1 else { return [elements] }
    return elements.indices.flatMap { index -> [[Element]] in
        var rest = elements
        let first = rest.remove(at: index)
        return permutations(rest).map { [first] + $0 }
    }
}

/// All parts of some elements, in their order.
func subsets<Element>(_ elements: [Element]) -> [[Element]] {
    elements.reduce([[]]) { parts, element in parts + parts.map { $0 + [element] } }
}
