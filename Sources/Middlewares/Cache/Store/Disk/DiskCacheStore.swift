public import Foundation
internal import Interceptors
internal import Synchronization

/// Keeps responses in the files of a directory, up to limits; what was used the longest ago goes first.
///
/// ```swift
/// let client = Client(
///     baseURL: url,
///     interceptors: [.bearerAuth(tokens), .cache(.disk(at: cachesDirectory)), .retry()]
/// )
/// ```
/// ## What is where
/// In the directory given, a directory of its own (0700, files 0600) with a file for each key in 256 shards. It holds the
/// responses of all variants and their bodies up to 64 KiB, so that a look-up reads one file; longer bodies have a file
/// each. Names are hashes; the key stands in the file, and is compared. Of credentials in requests, which tell partitions and
/// variants apart, digests are kept (HMAC-SHA256, with a random key in the file `key`): whoever gets files of entries alone
/// learns nothing of them. Whoever gets the key as well can try guesses, and every reader finds URLs and responses.
///
/// ## What it costs
/// No memory for any entry: the least recently used is told by the times of the files, and how much there is by a file of
/// 6 KB. Opening a store takes the same time whatever is in it.
///
/// ## What it withstands
/// A process that is killed leaves the old entry, the new one or none. Metadata and bodies are guarded by checksums; what
/// is damaged is reported, removed and asked for anew. After a loss of power, what had not reached the disk is found to be
/// damaged. Where the directory can't be made, read or written, everything is passed on, and reported.
/// Several processes and several stores may share a directory; their limits should be the same.
///
/// ## Where the work is done
/// On the threads of Swift's pool, never on the caller's actor: a call reads or writes a quarter of a megabyte at a time, or
/// lists one shard.
public final class DiskCacheStore: CacheStore {
    private struct State {
        var directory: DiskDirectory?
        var clearings = 0
        /// That of the digests, once it is known: a directory that is made again gets the same.
        var key: [UInt8]?
    }

    // A key with more variants than these varies by something that never comes again.
    private static let variantLimit = 16

    private let parent: URL
    private let protection: DiskProtection
    private let now: @Sendable () -> Date
    private let entryByteLimit: Int64
    private let stamps: RecentStamps
    private let eviction: DiskEviction
    private let state = Mutex(State())

    /// A store in a directory, which is made if it isn't there. Nothing is read or written before the first use.
    ///
    /// - Parameters:
    ///   - directory: where its own directory is, or is made; several stores and processes may have the same.
    ///   - byteLimit: the most bytes in all files; 512 MiB by default.
    ///   - entryLimit: the most URLs, the variants of one counting as one; 100,000 by default.
    ///   - entryByteLimit: the longest body, by default a quarter of all.
    ///   - now: the wall clock, by which the least recently used is told.
    public convenience init(
        at directory: URL,
        byteLimit: Int64 = 512 << 20,
        entryLimit: Int = 100_000,
        entryByteLimit: Int64? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.init(directory, byteLimit, entryLimit, entryByteLimit, DiskProtection(), now)
    }

    #if canImport(Darwin)
    /// A store with another class of protection, or in backups.
    ///
    /// Without these parameters files can be read from the first unlocking of the device on, and are in no backup.
    ///
    /// - Parameters:
    ///   - directory: where its own directory is, or is made.
    ///   - byteLimit: the most bytes in all files.
    ///   - entryLimit: the most URLs, the variants of one counting as one.
    ///   - entryByteLimit: the longest body, by default a quarter of all.
    ///   - protection: the class of files that are made from then on; macOS, where FileVault protects all, has none. While a
    ///     locked device refuses to open files, they are misses, and are kept.
    ///   - isExcludedFromBackup: whether the directory is left out of backups.
    ///   - now: the wall clock, by which the least recently used is told.
    public convenience init(
        at directory: URL,
        byteLimit: Int64 = 512 << 20,
        entryLimit: Int = 100_000,
        entryByteLimit: Int64? = nil,
        protection: FileProtectionType,
        isExcludedFromBackup: Bool = true,
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        let protection = DiskProtection(type: protection, isExcludedFromBackup: isExcludedFromBackup)
        self.init(directory, byteLimit, entryLimit, entryByteLimit, protection, now)
    }
    #endif

    private init(
        _ directory: URL,
        _ byteLimit: Int64,
        _ entryLimit: Int,
        _ entryByteLimit: Int64?,
        _ protection: DiskProtection,
        _ now: @escaping @Sendable () -> Date
    ) {
        parent = directory
        self.protection = protection
        self.now = now
        self.entryByteLimit = min(max(0, entryByteLimit ?? byteLimit / 4), max(0, byteLimit))
        stamps = RecentStamps(now: now)
        eviction = DiskEviction(
            limit: DiskUsage.Amount(entries: Int64(max(0, entryLimit)), bytes: max(0, byteLimit)),
            stamps: stamps
        )
    }

    /// How often what is stored has been cleared by this store: what others do that share its directory doesn't count.
    public var clearings: Int { state.withLock { $0.clearings } }

    static func tooLarge(_ limit: Int64) -> CacheStoreError {
        CacheStoreError(.tooLarge, "The body is longer than the \(limit) bytes that the store keeps of one.")
    }

    private static var cleared: CacheStoreError {
        CacheStoreError(.incomplete, "The store was cleared while the body arrived: it is not kept.")
    }

    /// How many URLs are stored, and the bytes of their files; what a killed process was writing may count.
    @concurrent
    public func usage() async throws -> (entries: Int, bytes: Int64) {
        let total = try await reporting { directory in try directory.usage.read() }
            .reduce(DiskUsage.Amount()) { $0 + ($1 ?? DiskUsage.Amount()) }
        return (Int(total.entries), total.bytes)
    }

    /// All that is stored for a key.
    @concurrent
    public func entries(for key: CacheKey) async throws -> [CacheEntry] {
        let name = DiskName(key)
        do {
            // Of a directory that was removed nothing is found, and nothing needs to be.
            return try await reporting(isChecked: false) { directory in
                let record = try directory.record(name, of: key) { stamps.use(name, modified: $0) }
                return record?.variants.map { entry($0, name, directory) } ?? []
            }
        } catch is DiskRecord.Damage {
            try await withShard(name.shard) { try $0.removeDamaged(name) }
            throw CacheStoreError(.damaged, "A stored response was damaged; it has been removed.")
        }
    }

    private func entry(_ variant: DiskRecord.Variant, _ name: DiskName, _ directory: DiskDirectory) -> CacheEntry {
        let (id, length) = (variant.id, variant.length)
        switch variant.content {
        case .inline(let bytes):
            return CacheEntry(id: id, response: variant.response, length: length) { range in
                let start = bytes.startIndex + Int(range.lowerBound)
                return HTTPBody(Data(bytes[start..<(start + range.count)]))
            }
        case .file:
            return CacheEntry(id: id, response: variant.response, length: length) { range in
                try await Self.reading(id, length, name, directory) { body in
                    try await body.check(range)
                    return .restartable(length: Int64(range.count)) { body.chunks(range) }
                }
            } collect: { range in
                try await Self.reading(id, length, name, directory) { try await $0.bytes(range) }
            }
        }
    }

    // Looked at before it is handed out: what is damaged must be a miss, not a failure in the middle.
    @concurrent
    private static func reading<Value: Sendable>(
        _ id: UInt64,
        _ length: Int64,
        _ name: DiskName,
        _ directory: DiskDirectory,
        _ read: @Sendable (DiskBody) async throws -> Value
    ) async throws -> Value {
        do {
            let path = DiskName.directory(name.shard) + "/" + name.body(id)
            return try await read(try DiskBody(try OpenFile.open(path, in: directory.root), id: id, length: length))
        } catch is DiskRecord.Damage {
            throw CacheStoreError(.damaged, "A stored body was damaged.")
        } catch let error as SystemError {
            if error.isOfAnotherKind { throw CacheStoreError(.damaged, "A stored body was damaged.") }
            guard error.isMissing else { throw error.storeError }
            throw CacheStoreError(.gone, "A stored body is gone: its entry was replaced, or the file was removed.")
        }
    }

    /// The key of the digests that stand for credentials in the directory: it lies there in a file of its own (0600).
    @concurrent
    public func digestKey() async throws -> Data {
        let known = state.withLock { $0.key }
        let key = try await reporting { try known ?? DiskKey.get(in: $0.root, known: nil) }
        state.withLock { $0.key = key }
        return Data(key)
    }

    /// Begins to store a response.
    @concurrent
    public func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        if let length, length > entryByteLimit { throw Self.tooLarge(entryByteLimit) }
        let directory = try await reporting { directory in directory }
        if directory.isIncomplete { state.withLock { $0.directory = nil } }
        let clearings = state.withLock { $0.clearings }
        return DiskCacheWriter(directory, limit: entryByteLimit) { [self] body in
            let name = DiskName(key)
            let isFile = body.incoming != nil
            let new = DiskRecord.Variant(
                id: body.id,
                response: response,
                length: body.length,
                content: isFile ? .file : .inline(body.inline[...])
            )
            try await directory.withShard(name.shard) { shard in
                // What was cleared meanwhile is not to come back.
                guard state.withLock({ $0.clearings }) == clearings else { throw Self.cleared }
                try shard.change(name, of: key, stamp: stamps.stamp(), arrival: body.incoming) { variants in
                    variants.removeAll {
                        entries.contains($0.id) || $0.response.selectingFields == response.selectingFields
                    }
                    variants.append(new)
                    variants.removeFirst(max(0, variants.count - Self.variantLimit))
                    return true
                }
            }
            try await eviction.makeRoom(in: directory)
        }
    }

    /// Gives an entry new metadata.
    @concurrent
    public func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
        let name = DiskName(key)
        try await withShard(name.shard) { shard in
            try shard.change(name, of: key, stamp: stamps.stamp()) { variants in
                guard let index = variants.firstIndex(where: { $0.id == entry }) else { return false }
                variants[index].response = response
                return true
            }
        }
    }

    /// Removes some entries of a key.
    @concurrent
    public func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        guard !entries.isEmpty else { return }
        try await removeAll(of: key) { entries.contains($0.id) }
    }

    /// Removes every entry of a key.
    @concurrent
    public func removeAll(of key: CacheKey) async throws { try await removeAll(of: key) { _ in true } }

    private func removeAll(of key: CacheKey, _ isRemoved: (DiskRecord.Variant) -> Bool) async throws {
        let name = DiskName(key)
        // Without a file there is nothing to wait for.
        guard try await reporting({ try $0.has(name) }) else { return }
        try await withShard(name.shard) { shard in
            try shard.change(name, of: key, stamp: stamps.stamp()) { variants in
                let count = variants.count
                variants.removeAll(where: isRemoved)
                return variants.count < count
            }
        }
    }

    /// Removes what the predicate says, and what is being stored meanwhile. What can't be removed keeps nothing else from being
    /// removed; the first error is thrown at the end.
    @concurrent
    public func removeAll(where isRemoved: @Sendable (CacheListing) -> Bool) async throws {
        // A writer that has looked at it before holds its shard, and is done once that can be had; none comes after.
        state.withLock { $0.clearings += 1 }
        try await forEachShard { shard in
            let files = try await withShard(shard) { try $0.directory.files(of: shard) }
            var failure: (any Error)?
            for file in files {
                do { try await removeVariants(of: DiskName(shard: shard, file: file), isRemoved) } catch {
                    failure = failure ?? error
                }
            }
            await Task.yield()
            if let failure { throw failure }
        }
    }

    private func removeVariants(of name: DiskName, _ isRemoved: (CacheListing) -> Bool) async throws {
        do {
            guard let record = try await reporting({ try $0.anyRecord(name) }) else { return }
            // The predicate is the user's: it is called outside the lock.
            let removed = record.variants.filter { isRemoved($0.listing(record.key)) }.map(\.id)
            try await remove(removed, of: record.key)
        } catch is DiskRecord.Damage {
            // Whose it was can't be told.
            try await withShard(name.shard) { try $0.removeDamaged(name) }
        }
    }

    /// Removes everything, and what is being stored meanwhile, with errors as in ``removeAll(where:)``.
    @concurrent
    public func removeAll() async throws {
        state.withLock { $0.clearings += 1 }
        try await forEachShard { shard in try await withShard(shard) { _ = try $0.sweep { _, _ in true } } }
    }

    // One that can't be had must not keep the others from being cleared: the first error is thrown at the end.
    private func forEachShard(_ body: (UInt8) async throws -> Void) async throws {
        var failure: (any Error)?
        for shard in UInt8.min...UInt8.max {
            do {
                if try await reporting({ try $0.hasShard(shard) }) { try await body(shard) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// What is stored, in no particular order. It reads every file.
    @concurrent
    public func listing() async throws -> [CacheListing] {
        var all: [CacheListing] = []
        for shard in UInt8.min...UInt8.max {
            for file in try await reporting({ try $0.files(of: shard) }) {
                do {
                    let record = try await reporting { try $0.anyRecord(DiskName(shard: shard, file: file)) }
                    if let record { all += record.variants.map { $0.listing(record.key) } }
                } catch is DiskRecord.Damage {
                    // It is left for the look-up that finds it.
                }
            }
            await Task.yield()
        }
        return all
    }
}

extension DiskCacheStore {
    private func withShard<Value>(_ shard: UInt8, _ work: (LockedShard) throws -> Value) async throws -> Value {
        let directory = try await reporting { directory in directory }
        do {
            return try await directory.withShard(shard, work)
        } catch let error as SystemError {
            throw error.storeError
        }
    }

    /// Does something in the directory, opened if it isn't or was removed.
    private func reporting<Value>(
        isChecked: Bool = true,
        _ work: (DiskDirectory) throws -> Value
    ) async throws -> Value {
        do {
            return try work(try await opened(isChecked: isChecked))
        } catch let error as SystemError {
            throw error.storeError
        }
    }

    private func opened(isChecked: Bool) async throws -> DiskDirectory {
        if let directory = state.withLock({ $0.directory }), !isChecked || !directory.isGone { return directory }
        let directory = try DiskDirectory(in: parent, protection)
        directory.removeLeftovers(now: now())
        if let key = state.withLock({ $0.key }) { _ = try DiskKey.get(in: directory.root, known: key) }
        let usage = try directory.usage.read()
        for shard in UInt8.min...UInt8.max where directory.needsCount || usage[Int(shard)] == nil {
            guard try directory.hasShard(shard) else { continue }
            try await directory.withShard(shard) { _ = try $0.sweep { _, _ in false } }
        }
        state.withLock { $0.directory = directory }
        return directory
    }
}

extension DiskRecord.Variant {
    func listing(_ key: CacheKey) -> CacheListing { CacheListing(key: key, response: response, length: length) }
}

extension CacheStore where Self == DiskCacheStore {
    /// A store in the files of a directory: see ``DiskCacheStore``.
    public static func disk(
        at directory: URL,
        byteLimit: Int64 = 512 << 20,
        entryLimit: Int = 100_000,
        entryByteLimit: Int64? = nil,
        now: @escaping @Sendable () -> Date = { Date() }
    ) -> Self {
        DiskCacheStore(
            at: directory,
            byteLimit: byteLimit,
            entryLimit: entryLimit,
            entryByteLimit: entryByteLimit,
            now: now
        )
    }
}
