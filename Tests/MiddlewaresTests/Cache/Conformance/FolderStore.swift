import Foundation
import Interceptors
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// A small store on disk, with at most one fault. Most faults have the name of the rule that finds them.
///
/// ```
/// lock            flock during each change
/// digest          the key of the digests
/// generation      a number
/// HASH.entry      a checksum, and the records of a key
/// ID.body         a body
/// ```
final class FolderStore: CacheStore {
    enum Fault: String, CaseIterable, Sendable {
        case entriesOutliveTheStore, digestKeyOutlivesTheStore, removedContentIsOffTheDisk
        case killBetweenTwoCallsLeavesTheOldEntryTheNewOneOrNone, killWithinACallLeavesTheOldEntryTheNewOneOrNone
        case truncatedFileIsAMiss, flippedBitIsAMiss, missingFileIsAMiss, foreignItemIsNoEntry
        case fileTimesDontDecideWhatIsServed, writeThatHasReturnedIsSeenByEveryStore
        case invalidationInOneStoreKeepsOutResponsesOfAnother, fileRemovedUnderAnOpenStoreIsAMiss
        #if os(Linux)
        case noFileStaysOpen
        #endif

        /// The rule that finds the fault.
        var rule: String {
            switch self {
            case .killBetweenTwoCallsLeavesTheOldEntryTheNewOneOrNone, .killWithinACallLeavesTheOldEntryTheNewOneOrNone:
                "aKillLeavesTheOldEntryTheNewOneOrNone"
            case .truncatedFileIsAMiss, .flippedBitIsAMiss, .missingFileIsAMiss, .foreignItemIsNoEntry:
                "damagedFileIsAMiss"
            default: rawValue
            }
        }
    }

    private struct Memory {
        var generation: UInt64 = 1
        /// Whether the generation was missing when the store was opened.
        var isLacking = false
        var removals: [(ids: [CacheEntry.ID], key: CacheKey)] = []
        var shelves: [String: (size: Int, shelf: FolderShelf)] = [:]
    }

    let arrivals = CacheArrivals()
    private let files: FolderFiles
    private let fault: Fault?
    private let memory = Mutex(Memory())
    private let ownKey = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

    init(at folder: URL, _ fault: Fault?) throws {
        files = try FolderFiles(folder)
        self.fault = fault
        try files.locked {
            if files.read("digest")?.count != 32 { try files.write(ownKey, to: "digest") }
            let mayLack = fault == .missingFileIsAMiss && !files.entries.isEmpty
            if files.read("generation") == nil {
                if mayLack { memory.withLock { $0.isLacking = true } } else { try setGeneration(1) }
            }
            guard fault == .entriesOutliveTheStore else { return }
            for name in files.entries where abs(files.time(name).timeIntervalSinceNow) < 3_600 {
                for record in shelf(name)?.records ?? [] { files.remove(record.file) }
                files.remove(name)
            }
        }
    }

    // MARK: Files

    private func generation() throws -> UInt64 {
        if fault == .invalidationInOneStoreKeepsOutResponsesOfAnother { return memory.withLock(\.generation) }
        let text = files.read("generation")
        if text == nil, memory.withLock(\.isLacking) || fault == .fileRemovedUnderAnOpenStoreIsAMiss {
            throw CacheStoreError(.storeUnavailable, "No generation.")
        }
        if let number = text.flatMap({ UInt64(String(decoding: $0, as: UTF8.self)) }) { return number }
        let number = UInt64.random(in: 1 << 40..<1 << 50)
        try setGeneration(number)
        return number
    }

    private func setGeneration(_ number: UInt64) throws {
        memory.withLock { $0.generation = number }
        try files.write(Data("\(number)".utf8), to: "generation")
    }

    private func shelf(_ name: String) -> FolderShelf? {
        guard let bytes = files.read(name) else { return nil }
        if let shelf = FolderShelf(bytes) { return shelf }
        files.remove(name)
        return nil
    }

    private func records(_ key: CacheKey) -> [FolderRecord] {
        guard let shelf = shelf(FolderShelf.name(key)), shelf.key == key else { return [] }
        return shelf.records
    }

    /// Replaces the records of a key, and removes the bodies that no record names any more.
    private func set(_ records: [FolderRecord], _ key: CacheKey, old: [FolderRecord]) throws {
        let name = FolderShelf.name(key)
        if records.isEmpty { files.remove(name) } else { try files.write(FolderShelf(key, records).bytes, to: name) }
        let kept = Set(records.map(\.file))
        for record in old where !kept.contains(record.file) { files.remove(record.file) }
    }

    // MARK: CacheStore

    func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) {
        let name = FolderShelf.name(key)
        if fault == .foreignItemIsNoEntry, files.isPipe(name) { for await _ in AsyncStream(Int.self, { _ in }) {} }
        try flush()
        return try files.locked {
            let generation = try generation()
            var records = records(key)
            if fault == .fileTimesDontDecideWhatIsServed, files.time(name) > Date() { records = [] }
            if fault == .writeThatHasReturnedIsSeenByEveryStore { records = remembered(records, key) }
            let entries = records.map { record in
                CacheEntry(id: record.id, response: record.response, length: Int64(record.length)) { range in
                    HTTPBody(try self.body(record, key).dropFirst(Int(range.lowerBound)).prefix(range.count))
                }
            }
            return (entries, generation)
        }
    }

    /// The records of an earlier lookup, if the file has the same length.
    private func remembered(_ records: [FolderRecord], _ key: CacheKey) -> [FolderRecord] {
        let (name, shelf) = (FolderShelf.name(key), FolderShelf(key, records))
        let size = shelf.bytes.count
        return memory.withLock { memory in
            if let known = memory.shelves[name], known.size == size { return known.shelf.records }
            memory.shelves[name] = (size, shelf)
            return records
        }
    }

    private func body(_ record: FolderRecord, _ key: CacheKey) throws -> Data {
        try files.locked {
            #if os(Linux)
            if fault == .noFileStaysOpen { files.leaveOpen(record.file) }
            #endif
            guard let content = files.read(record.file) else {
                try set(records(key).filter { $0.id != record.id }, key, old: [record])
                throw CacheStoreError(.entryGone, "The entry is gone.")
            }
            if fault == .truncatedFileIsAMiss, content.isEmpty { return content }
            let (body, checksum) =
                record.file.hasPrefix("fixed")
                ? (content.dropLast(16), String(decoding: content.suffix(16), as: UTF8.self))
                : (content, record.checksum)
            let isIntact = fault == .flippedBitIsAMiss || FolderShelf.checksum(body) == checksum
            guard body.count == record.length, isIntact else {
                try set(records(key).filter { $0.id != record.id }, key, old: [record])
                throw CacheStoreError(.entryDamaged, "The entry is damaged.")
            }
            return body
        }
    }

    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        try flush()
        return FolderWriter { body, isWanted in
            try self.insert(body, response, key, entries, if: isWanted)
        }
    }

    private func insert(
        _ body: Data,
        _ response: CachedResponse,
        _ key: CacheKey,
        _ replacing: [CacheEntry.ID],
        if isWanted: @Sendable (UInt64) -> Bool
    ) throws -> Bool {
        try files.locked {
            guard isWanted(try generation()) else { return false }
            let old = records(key)
            let kept = old.filter {
                !replacing.contains($0.id) && $0.response.selectingFields != response.selectingFields
            }
            let isFixed = fault == .killWithinACallLeavesTheOldEntryTheNewOneOrNone
            let variant = response.selectingFields[.accept] ?? ""
            let record = FolderRecord(
                id: UInt64.random(in: 1_000_000_000_000_000_000..<9_000_000_000_000_000_000),
                response: response,
                length: body.count,
                file: isFixed ? "fixed\(variant)-\(FolderShelf.name(key)).body" : "\(UUID().uuidString).body",
                checksum: FolderShelf.checksum(body)
            )
            try files.write(isFixed ? body + Data(record.checksum.utf8) : body, to: record.file)
            try set(kept + [record], key, old: old)
            return true
        }
    }

    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
        try files.locked {
            var records = records(key)
            guard let index = records.firstIndex(where: { $0.id == entry }) else { return }
            records[index].response = response
            try set(records, key, old: [])
        }
    }

    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        memory.withLock { $0.removals.append((entries, key)) }
        if fault != .killBetweenTwoCallsLeavesTheOldEntryTheNewOneOrNone { try flush() }
    }

    private func flush() throws {
        let removals = memory.withLock { memory in
            defer { memory.removals = [] }
            return memory.removals
        }
        for (ids, key) in removals {
            try files.locked {
                let old = records(key)
                try set(old.filter { !ids.contains($0.id) }, key, old: old)
            }
        }
    }

    func removeAll(of key: CacheKey) async throws {
        try files.locked {
            try setGeneration(try generation() + 1)
            try set([], key, old: records(key))
        }
    }

    func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws {
        try files.locked {
            try setGeneration(try generation() + 1)
            for name in files.entries {
                guard let shelf = shelf(name) else { continue }
                let kept = shelf.records.filter { !isRemoved($0.summary(shelf.key)) }
                let keepsBodies = fault == .removedContentIsOffTheDisk
                try set(kept, shelf.key, old: keepsBodies ? [] : shelf.records)
            }
        }
    }

    func listing() async throws -> [CacheEntrySummary] {
        try files.locked {
            files.entries.compactMap { shelf($0) }.flatMap { shelf in shelf.records.map { $0.summary(shelf.key) } }
        }
    }

    func digestKey() async throws -> Data {
        fault == .digestKeyOutlivesTheStore ? ownKey : try files.locked { files.read("digest") ?? ownKey }
    }
}

private final class FolderWriter: CacheWriter {
    typealias Insertion = @Sendable (Data, @Sendable (UInt64) -> Bool) throws -> Bool

    private let insert: Insertion
    private let body = Mutex<Data?>(Data())

    init(insert: @escaping Insertion) { self.insert = insert }

    func append(_ chunk: Data) async { body.withLock { $0?.append(chunk) } }

    func commit(if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool {
        guard let body = body.withLock({ $0.take() }) else { return false }
        return try insert(body, isWanted)
    }

    func abandon() { body.withLock { $0 = nil } }
}
