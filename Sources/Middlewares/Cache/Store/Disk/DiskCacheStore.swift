public import Foundation
internal import Interceptors

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
    let access: DiskAccess
    let stamps: RecentStamps
    private let entryByteLimit: Int64
    let room: DiskRoom

    /// A store in a directory, which is made if it isn't there. Nothing is read or written before the first use.
    ///
    /// - Parameters:
    ///   - directory: where its own directory is, or is made; several stores and processes may have the same.
    ///   - byteLimit: the most bytes in all files, those of bodies that are being received included, in whole blocks of the
    ///     file system; 512 MiB by default.
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
        access = DiskAccess(directory, protection, now)
        self.entryByteLimit = min(max(0, entryByteLimit ?? byteLimit / 4), max(0, byteLimit))
        stamps = RecentStamps(now: now)
        room = DiskRoom(
            limit: DiskUsage.Amount(entries: Int64(max(0, entryLimit)), bytes: max(0, byteLimit)),
            entryByteLimit: self.entryByteLimit,
            stamps: stamps
        )
    }

    static func tooLarge(_ limit: Int64) -> CacheStoreError {
        CacheStoreError(.tooLarge, "The body is longer than the \(limit) bytes that the store keeps of one.")
    }

    /// How many URLs are stored, and the bytes of their files; what a killed process was writing may count.
    @concurrent
    public func usage() async throws -> (entries: Int, bytes: Int64) {
        let total = try await access { directory in try directory.usage.read() }
            .reduce(DiskUsage.Amount()) { $0 + ($1 ?? DiskUsage.Amount()) }
        return (Int(total.entries), total.bytes)
    }

    /// The key of the digests that stand for credentials in the directory: it lies there in a file of its own (0600).
    @concurrent
    public func digestKey() async throws -> Data {
        Data(try await access.digestKey())
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
        let directory = try await access.directoryForWriting()
        return DiskCacheWriter(directory, limit: entryByteLimit, room: room) { [self] body, isWanted in
            let name = DiskName(key)
            let isFile = body.incoming != nil
            let new = DiskRecord.Variant(
                id: body.id,
                response: response,
                length: body.length,
                content: isFile ? .file : .inline(body.inline[...])
            )
            return try await directory.withShard(name.shard) { shard in
                guard isWanted(try access.generation(of: name.shard, in: directory)) else { return false }
                try shard.change(name, of: key, stamp: stamps.stamp(), arrival: body.incoming) { variants in
                    variants.removeAll {
                        entries.contains($0.id) || $0.selectingFields == response.selectingFields
                    }
                    variants.append(new)
                    variants.removeFirst(max(0, variants.count - DiskRecord.variantLimit))
                    return true
                }
                return true
            }
        }
    }

    /// Gives an entry new metadata.
    @concurrent
    public func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
        let name = DiskName(key)
        try await access.withShard(name.shard) { shard in
            try shard.change(name, of: key, stamp: stamps.stamp()) { variants in
                guard let index = variants.firstIndex(where: { $0.id == entry }) else { return false }
                variants[index].packed = PackedResponse(response)
                return true
            }
        }
    }
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
