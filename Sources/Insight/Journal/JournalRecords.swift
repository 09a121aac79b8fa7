internal import Interceptors

/// The calls of a journal, oldest first, with a limit on their number.
struct JournalRecords {
    private var records: [JournalRecord?] = []
    /// The index of the oldest call. The entries before it are empty; they are removed from time to time, not one by one.
    private var first = 0
    private(set) var lastID = 0

    var count: Int { records.count - first }

    var oldestID: Int { lastID + 1 - count }

    var all: [JournalRecord] { records[first...].compactMap(\.self) }

    mutating func nextID() -> Int {
        lastID += 1
        return lastID
    }

    /// Adds a call and returns the oldest ones beyond a limit.
    mutating func add(_ record: JournalRecord, limit: Int) -> [JournalRecord] {
        records.append(record)
        var removed: [JournalRecord] = []
        while count > limit, let oldest = removeFirst() { removed.append(oldest) }
        return removed
    }

    mutating func removeFirst() -> JournalRecord? {
        guard first < records.count else { return nil }
        let record = records[first]
        records[first] = nil
        first += 1
        if first > 32, first > records.count / 2 {
            records.removeFirst(first)
            first = 0
        }
        return record
    }

    mutating func removeAll() -> [JournalRecord] {
        let all = all
        records = []
        first = 0
        return all
    }

    subscript(id: Int) -> JournalRecord? {
        // IDs rise, and each call is added under the lock that numbered it.
        guard let oldest = count > 0 ? records[first] : nil, id >= oldest.id, id - oldest.id < count else { return nil }
        return records[first + id - oldest.id]
    }
}
