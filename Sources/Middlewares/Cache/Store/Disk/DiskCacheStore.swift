public import Foundation
internal import InterceptorsCore

/// Keeps responses in the files of a directory, up to limits; evicts the least recently used first.
///
/// ```swift
/// let client = Client(
///     baseURL: url,
///     interceptors: [.bearerAuth(tokens), .cache(.disk(at: cachesDirectory)), .retry()]
/// )
/// ```
/// ## Files
/// The store creates a subdirectory (0700, files 0600) in the given directory, with one file per key in 256 shards. That file
/// holds the responses of all variants and their bodies up to 64 KiB, so that a lookup reads one file. Each longer body
/// has a separate file. File names are hashes; the key is in the file, and each lookup compares it.
///
/// Request credentials separate partitions and variants. The store keeps only their digests (HMAC-SHA256, with a random key
/// in the file `key`). A copy of some entries therefore reveals no credential. A copy that includes the key allows guessing,
/// and URLs and responses are in plain text.
///
/// ## Costs
/// Memory doesn't grow with the entries. The files' times show which entry was least recently used, and a file of 6 KB holds
/// the counts. Opening a store takes the same time whatever the store holds.
///
/// ## Failures
/// After a process is killed, a lookup finds the old entry, the new entry or no entry. Checksums guard metadata and bodies;
/// a damaged entry is reported and removed, and the server is asked again. After a loss of power, an entry that hadn't reached
/// the disk counts as damaged. If the directory can't be created, read or written, requests pass through, and the error is
/// reported. If entries can't be removed, they count as misses in this process, and the removal is tried again until it
/// succeeds: nothing that an unsafe request or ``removeAll()`` was to remove is served. Several processes and stores may share a
/// directory; give them the same limits.
///
/// ## Threads
/// Work runs on the threads of Swift's pool, never on the caller's actor. One call reads a record of up
/// to 8 MiB, writes a quarter of a megabyte, or lists one shard.
public final class DiskCacheStore: CacheStore {
    /// The order in which responses arrive for all stores of this process over the directory.
    public var arrivals: CacheArrivals { access.arrivals }
    let access: DiskAccess
    let stamps: RecentStamps
    private let entryByteLimit: Int64
    let room: DiskRoom

    /// Creates a store over a directory, which is created at the first use if it doesn't exist. Nothing is read or written
    /// before.
    ///
    /// - Parameters:
    ///   - directory: where the store's subdirectory is, or is created; several stores and processes may share it.
    ///   - byteLimit: the maximum bytes of all files in whole blocks of the file system, including bodies in progress; 512 MiB
    ///     by default.
    ///   - entryLimit: the maximum number of URLs; all variants of a URL count as one. 100,000 by default.
    ///   - entryByteLimit: the longest body in bytes; by default a quarter of `byteLimit`.
    ///   - time: its wall clock decides what was used least recently.
    public convenience init(
        at directory: URL,
        byteLimit: Int64 = 512 << 20,
        entryLimit: Int = 100_000,
        entryByteLimit: Int64? = nil,
        time: TimeSource = .system
    ) {
        self.init(directory, byteLimit, entryLimit, entryByteLimit, DiskProtection(), time.now)
    }

    #if canImport(Darwin)
    /// Creates a store with another class of file protection, or one that is included in backups.
    ///
    /// A store without these parameters can be read after the device is first unlocked, and is excluded from backups.
    ///
    /// - Parameters:
    ///   - directory: where the store's subdirectory is, or is created; several stores and processes may share it.
    ///   - byteLimit: the maximum bytes of all files in whole blocks of the file system, including bodies in progress; 512 MiB
    ///     by default.
    ///   - entryLimit: the maximum number of URLs; all variants of a URL count as one. 100,000 by default.
    ///   - entryByteLimit: the longest body in bytes; by default a quarter of `byteLimit`.
    ///   - protection: the protection class of new files. macOS has no such classes: FileVault protects the whole disk. On a
    ///     volume without them, the setting has no effect. A file that a locked device refuses to open is a miss, and is kept.
    ///   - isExcludedFromBackup: whether the directory is excluded from backups; `true` by default.
    ///   - time: its wall clock decides what was used least recently.
    public convenience init(
        at directory: URL,
        byteLimit: Int64 = 512 << 20,
        entryLimit: Int = 100_000,
        entryByteLimit: Int64? = nil,
        protection: FileProtectionType,
        isExcludedFromBackup: Bool = true,
        time: TimeSource = .system
    ) {
        let protection = DiskProtection(type: protection, isExcludedFromBackup: isExcludedFromBackup)
        self.init(directory, byteLimit, entryLimit, entryByteLimit, protection, time.now)
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
        access = DiskAccess(directory, protection, now)
        self.entryByteLimit = min(max(0, entryByteLimit ?? byteLimit / 4), max(0, byteLimit))
        stamps = RecentStamps(now: now)
        room = DiskRoom(
            limit: DiskUsage.Amount(entries: Int64(max(0, entryLimit)), bytes: max(0, byteLimit)),
            entryByteLimit: self.entryByteLimit,
            stamps: stamps
        )
    }

    /// The number of stored URLs, and the bytes of all files. May include files that a killed process was writing.
    @concurrent
    public func usage() async throws -> (entries: Int, bytes: Int64) {
        let directory = try await access { $0 }
        try await directory.countUnknownShards()
        let total = try await access { directory in try directory.usage.read() }
            .reduce(DiskUsage.Amount()) { $0 + ($1 ?? DiskUsage.Amount()) }
        return (Int(total.entries), total.bytes)
    }

    /// Returns the key of the digests that replace credentials, from the file `key` (0600) of the directory.
    @concurrent
    public func digestKey() async throws -> Data {
        Data(try await access.digestKey())
    }

    /// Begins to store a response. A body up to 64 KiB is committed with its metadata in one file.
    @concurrent
    public func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        if let length, length > entryByteLimit { throw CacheStoreError.tooLarge(entryByteLimit) }
        let directory = try await access { $0 }
        return DiskCacheWriter(response, in: directory, limit: entryByteLimit, room: room) {
            [self] new, incoming, isWanted in
            let name = DiskName(key)
            return try await access.withShard(name.shard, of: directory) { shard in
                // Another store may have invalidated the key in a new file of generations.
                guard directory.isIntact else {
                    let message = "A response isn't stored, because another program removed the cache's files."
                    throw CacheStoreError(.storeUnavailable, message)
                }
                guard isWanted(try directory.generations.generation(of: name.shard)) else { return false }
                let old = try shard.old(name)
                var record = DiskRecord(key: key, variants: old.variants(of: key))
                record.variants.removeAll {
                    entries.contains($0.id) || $0.response.selectingFields == response.selectingFields
                }
                record.variants.append(new)
                record.variants.removeFirst(max(0, record.variants.count - CacheKey.variantLimit))
                try shard.change(old, name, to: record, stamp: stamps.stamp(), arrival: incoming)
                return true
            }
        }
    }

    /// Replaces the metadata of an entry.
    @concurrent
    public func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
        let name = DiskName(key)
        try await access.withShard(name.shard) { shard in
            let old = try shard.old(name)
            var record = DiskRecord(key: key, variants: old.variants(of: key))
            guard let index = record.variants.firstIndex(where: { $0.id == entry }) else { return }
            record.variants[index].response = response
            try shard.change(old, name, to: record, stamp: stamps.stamp())
        }
    }
}

extension CacheStore where Self == DiskCacheStore {
    /// A store in the files of a directory: see ``DiskCacheStore/init(at:byteLimit:entryLimit:entryByteLimit:time:)``.
    public static func disk(at directory: URL, byteLimit: Int64 = 512 << 20) -> Self {
        DiskCacheStore(at: directory, byteLimit: byteLimit)
    }
}
