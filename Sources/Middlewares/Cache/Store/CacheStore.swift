public import Foundation
internal import InterceptorsCore

/// Keeps responses and their bodies for a cache.
///
/// ## Choose a store
/// ``MemoryCacheStore`` keeps responses until the process ends, ``DiskCacheStore`` in the files of a directory.
///
/// ## Implement a store
/// A store decides nothing about HTTP: the cache says what to keep, and asks for entries by key. A store promises:
/// - ``snapshot(of:)`` returns only entries that a commit has made visible: ``CacheWriter/commit(if:)`` has ended the body, and the body belongs to
///   the response. A damaged entry is left out and removed;
/// - ``snapshot(of:)`` returns all variants of a key with their metadata in one call, so that one file can hold them. Bodies
///   are read on request, or come with the metadata if they are short;
/// - every lookup after a removal finds the entry gone; a reader that has already begun may read the entry to its end;
/// - an ID is never used twice for a key: updating a removed entry must not change the entry that came after it;
/// - any task may call any function at any time, also concurrently for the same key;
/// - it may drop any entry at any time, and refuse any write. If a store fails, the request goes to the server: the cache
///   passes the error to its `report`, and continues without the store.
///
/// ## What must be atomic
/// Requests for a key may be in progress while a POST changes the resource behind it. The cache decides at the last moment
/// whether a response may still be stored. Only the store can make that decision and the commit a single step. So three steps
/// must exclude each other, for each key, in every process and store that shares the content:
/// 1. ``snapshot(of:)`` reads the key's generation no later than its entries;
/// 2. ``CacheWriter/commit(if:)`` calls the closure with the current generation and, if the closure returns `true`, makes the
///    entry visible before anything else changes the key;
/// 3. ``removeAll(of:)``, ``removeAll(where:)`` and ``removeAll()`` change the generation, then remove entries.
///
/// An invalidation then removes every entry that was committed before it. A later commit of a response requested before it
/// finds another generation and stores nothing. Keys may share a generation: a needless change only costs a request to the
/// server. In an actor, a function without `await` is atomic:
///
/// ```swift
/// actor Shelf {
///     private var bodies: [CacheKey: Data] = [:]
///     private var generation: UInt64 = 0
///
///     func insert(_ body: Data, for key: CacheKey, if isWanted: @Sendable (UInt64) -> Bool) -> Bool {
///         guard isWanted(generation) else { return false }
///         bodies[key] = body
///         return true
///     }
///
///     func removeAll(of key: CacheKey) {
///         generation += 1
///         bodies[key] = nil
///     }
/// }
/// ```
/// `Examples/Caching/DictionaryStore.swift` is a complete store, and `CacheStoreConformance` in the module
/// `MiddlewaresTesting` checks these promises, each as a test. A store that wraps another needs no lock: it forwards the
/// other's snapshots, and the cache's closure.
public protocol CacheStore: Sendable {
    /// The order in which responses arrive for the store: always the same object, usually a stored property
    /// (`let arrivals = CacheArrivals()`, in an actor `nonisolated let`).
    ///
    /// Stores over the same content share one. A store that wraps another forwards the other's.
    var arrivals: CacheArrivals { get }

    /// Returns all entries of a key, one for each variant that `Vary` tells apart, and the key's generation.
    ///
    /// The generation is a number that the store changes whenever the key is invalidated or the store is cleared. The store reads
    /// the generation no later than the entries. Only equality counts: a response is stored only if the generation is still the one
    /// that its request found.
    func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64)

    /// Begins to store a response.
    ///
    /// The entry is invisible until ``CacheWriter/commit(if:)``, which replaces the named entries and every entry of the key
    /// with the same ``CachedResponse/selectingFields``.
    ///
    /// - Parameters:
    ///   - response: the response without its body.
    ///   - key: the key to store it under.
    ///   - entries: the IDs of the entries to replace.
    ///   - length: the number of bytes in the body, if known beforehand. The store may use the length to refuse a body or to
    ///     make room. The store needn't compare the length with the bytes that arrive, because the cache doesn't commit a body
    ///     of a different length.
    /// - Throws: ``CacheStoreError`` with `HTTPErrorCode.bodyTooLarge` if the length is known and the body can't fit.
    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter

    /// Replaces the metadata of an entry. Does nothing if the entry has been removed or replaced.
    ///
    /// - Parameters:
    ///   - entry: the entry's ID.
    ///   - key: the entry's key.
    ///   - response: the new metadata.
    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws

    /// Removes some entries of a key. Unlike an invalidation, it doesn't keep out responses in progress.
    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws

    /// Invalidates a key: changes its generation, and removes every entry. Responses to earlier requests for the key aren't
    /// stored afterwards.
    func removeAll(of key: CacheKey) async throws

    /// Changes the generation of every key, then removes the entries for which the predicate returns `true`.
    ///
    /// A response that arrives after an account has signed out must not be stored after the account's entries were removed. So
    /// no response to an earlier request is stored afterwards, whatever its URL and account.
    func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws

    /// Changes the generation of every key, and removes every entry.
    ///
    /// The default implementation calls ``removeAll(where:)``.
    func removeAll() async throws

    /// Lists all entries, in no particular order.
    func listing() async throws -> [CacheEntrySummary]

    /// Returns the key of the digests that the cache stores instead of credentials, in the names of partitions and in
    /// ``CachedResponse/selectingFields``.
    ///
    /// The key is 32 random bytes, and stays the same as long as the entries last. The default implementation returns a key of
    /// the process. If entries outlive the process, the store must keep a key with them; otherwise, entries of requests with
    /// credentials are never found again. A store that wraps another forwards the other's key.
    func digestKey() async throws -> Data
}

/// Receives the body of one response, chunk by chunk. Only one task at a time may use it.
public protocol CacheWriter: Sendable {
    /// Appends bytes to the body.
    ///
    /// - Throws: ``CacheStoreError`` with `HTTPErrorCode.bodyTooLarge` if the body becomes too long.
    func append(_ chunk: Data) async throws

    /// Ends the body, and makes the complete entry visible if the cache still wants to store it.
    ///
    /// The store calls the closure once, with the current generation of the key, under the lock that also excludes
    /// invalidations: see ``CacheStore``. The closure takes about a microsecond, and calls no store.
    ///
    /// - Returns: whether the entry is stored; `false` after ``abandon()``.
    func commit(if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool

    /// Discards the body; nothing remains of it. After ``commit(if:)`` it does nothing.
    ///
    /// The cache calls it wherever a reader drops a response, so it must return at once and do slow work elsewhere.
    func abandon()
}

/// A stored response without its body: see ``CacheStore/listing()`` and ``CacheStore/removeAll(where:)``.
public struct CacheEntrySummary: Sendable, Hashable, CustomStringConvertible {
    /// The URL and the partition.
    public let key: CacheKey
    /// The response without its body.
    public let response: CachedResponse
    /// The number of the body's bytes.
    public let length: Int64

    /// Creates the description of an entry, for a store.
    public init(key: CacheKey, response: CachedResponse, length: Int64) {
        self.key = key
        self.response = response
        self.length = length
    }

    /// The status, the length, the URL with secrets redacted, and a sign of the partition. The sign tells partitions apart in one
    /// process, and doesn't reveal the name.
    public var description: String {
        let partition = key.partition.isEmpty ? "" : ", \(FieldDigest.ofProcess.sign(of: key.partition))"
        return "\(response.status.code), \(length) bytes, \(key)\(partition)"
    }
}

extension CacheStore {
    /// Removes the entries for a URL, in one partition or in all.
    ///
    /// With a partition, it invalidates that key only. Without a partition, it clears by a predicate: responses in progress
    /// aren't stored, whatever their URL.
    public func removeAll(url: URL, partition: String? = nil) async throws {
        guard let key = CacheKey(url: url, partition: partition ?? "") else { return }
        if partition != nil { return try await removeAll(of: key) }
        try await removeAll { $0.key.url == key.url }
    }

    /// Removes the entries of every URL that begins with a text: `https://a.example/users/` removes everything below it.
    ///
    /// Responses in progress aren't stored, whatever their URL.
    public func removeAll(prefix: URL, partition: String? = nil) async throws {
        guard let key = CacheKey(url: prefix) else { return }
        try await removeAll { $0.key.url.hasPrefix(key.url) && (partition == nil || $0.key.partition == partition) }
    }

    /// Removes the entries of a partition, for instance at sign-out.
    ///
    /// Responses in progress aren't stored, whatever their partition.
    public func removeAll(partition: String) async throws {
        try await removeAll { $0.key.partition == partition }
    }

    /// Removes every entry, with a predicate that is always true.
    public func removeAll() async throws { try await removeAll { _ in true } }

    /// Returns all entries of a key.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] { try await snapshot(of: key).entries }

    /// Stores a response whose body is complete: in memory at once, elsewhere through a writer.
    package func store(
        _ body: Data,
        of response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        if isWanted: @Sendable (UInt64) -> Bool
    ) async throws -> Bool {
        if let memory = self as? MemoryCacheStore {
            // A writer would be one more allocation for each miss. A copy, because a slice would keep a larger buffer alive.
            let copy = body.withUnsafeBytes { Data($0) }
            return try memory.insert(copy, of: response, for: key, replacing: entries, if: isWanted)
        }
        let writer = try await write(response, for: key, replacing: entries, length: Int64(body.count))
        do {
            if !body.isEmpty { try await writer.append(body) }
            return try await writer.commit(if: isWanted)
        } catch {
            writer.abandon()
            throw error
        }
    }

    /// Returns a random key that lasts until the process ends.
    public func digestKey() async throws -> Data { FieldDigest.processKey }
}
