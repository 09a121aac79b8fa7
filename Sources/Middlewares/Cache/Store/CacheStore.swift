public import Foundation
internal import Interceptors

/// Keeps responses and their bodies for a ``CacheInterceptor``.
///
/// ## Choose one
/// ``MemoryCacheStore`` keeps them as long as the process lives, ``DiskCacheStore`` in the files of a directory.
///
/// ## Implement one
/// A store decides nothing about HTTP: the cache says what to keep, and asks for entries by key. A store promises:
/// - ``snapshot(of:)`` returns whole entries only: ``CacheWriter/commit(if:)`` ended the body, and the body belongs to the
///   response. A damaged entry is left out and removed;
/// - ``snapshot(of:)`` returns all variants of a key with their metadata at once, so that one file can answer it. Bodies are
///   read on request, or come with the metadata if they are short;
/// - a removal holds for every later look-up; an entry that is being read meanwhile may be read to its end;
/// - an ID is never used twice for a key: an update of a removed entry must not reach the entry that came after it;
/// - any function may be called at once from any task, for the same key too;
/// - it may drop any entry at any time, and refuse any write. A store that fails costs a request to the server, and never
///   fails a request: the cache hands the error to its `report`, and goes on without the store.
///
/// ## What must be atomic
/// Many requests for one key may be under way while a POST changes the resource behind it. The cache decides at the last
/// moment whether a response may still be stored, and only the store can keep that moment from passing. So three steps
/// exclude each other, for one key, among all that share the store's content:
/// 1. ``snapshot(of:)`` reads the key's generation no later than its entries;
/// 2. ``CacheWriter/commit(if:)`` calls the closure with the current generation and, if the closure returns `true`, makes the
///    entry visible before anything else changes the key;
/// 3. ``removeAll(of:)``, ``removeAll(where:)`` and ``removeAll()`` change the generation, then remove.
///
/// Then a commit that comes before an invalidation is removed by it, and a commit after it finds another generation and stores
/// nothing. One generation may serve many keys: a needless change costs a request to the server. In an actor, functions
/// without an `await` are atomic:
///
/// ```swift
/// actor Shelf {
///     private var bodies: [CacheKey: Data] = [:]
///     private var generation: UInt64 = 0
///
///     func insert(_ body: Data, for key: CacheKey, if isWanted: @Sendable (CacheGeneration) -> Bool) -> Bool {
///         guard isWanted(CacheGeneration(rawValue: generation)) else { return false }
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
/// `Examples/Caching/DictionaryStore.swift` is a whole store. A store that wraps another hands on the other's snapshots and the
/// closure; it needs no lock.
public protocol CacheStore: Sendable {
    /// All entries of a key, several where a server varies its responses; and the generation, read before them.
    func snapshot(of key: CacheKey) async throws -> CacheSnapshot

    /// Begins to store a response. Nobody sees it until ``CacheWriter/commit(if:)``, which replaces the named entries and any
    /// of the key with the same ``CachedResponse/selectingFields``.
    ///
    /// - Parameters:
    ///   - length: the count of the body's bytes, where it is known beforehand.
    /// - Throws: ``CacheStoreError`` with ``CacheStoreError/Code/tooLarge`` if the body is known not to fit.
    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter

    /// Stores a response whose body is whole already, as ``write(_:for:replacing:length:)`` and the writer do, which it calls
    /// by default. A store that needs no writer for such a body saves the detour.
    ///
    /// - Parameter isWanted: see ``CacheWriter/commit(if:)``.
    /// - Returns: whether it is stored.
    func store(
        _ body: Data,
        of response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        if isWanted: @Sendable (CacheGeneration) -> Bool
    ) async throws -> Bool

    /// Gives an entry new metadata. An entry that was removed or replaced stays so.
    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws

    /// Removes some entries of a key. Responses under way may be stored after it.
    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws

    /// Invalidates a key: changes its generation, and removes every entry. No response that was requested before is stored
    /// after it.
    func removeAll(of key: CacheKey) async throws

    /// Changes the generation of every key, then removes the entries that the predicate picks.
    ///
    /// A response that arrives when an account has signed out must not be stored where the account's responses were removed.
    /// So no response that was requested before is stored after it, of any URL and any account.
    func removeAll(where isRemoved: @Sendable (CacheListing) -> Bool) async throws

    /// Changes the generation of every key, and removes everything. By default with a predicate that everything fulfils.
    func removeAll() async throws

    /// All entries, in no particular order.
    func listing() async throws -> [CacheListing]

    /// The key of the digests by which the cache has credentials kept: in the names of partitions and in
    /// ``CachedResponse/selectingFields``. 32 random bytes, the same as long as the entries last.
    ///
    /// By default it lasts as long as the process: a store whose entries outlive it must keep a key with them, or those that
    /// belong to credentials are never found again. A store that wraps another hands on the other's.
    func digestKey() async throws -> Data
}

/// What a store holds for a key at one moment.
public struct CacheSnapshot: Sendable {
    /// The entries, in no particular order.
    public var entries: [CacheEntry]
    /// The generation of the key, read no later than the entries.
    public var generation: CacheGeneration

    /// A snapshot.
    public init(entries: [CacheEntry], generation: CacheGeneration) {
        self.entries = entries
        self.generation = generation
    }
}

/// A number that a store changes whenever a key is invalidated or the store is cleared: see ``CacheStore``.
///
/// Only equality counts. A response is stored only under the generation that its request found.
public struct CacheGeneration: Sendable, Hashable, RawRepresentable {
    /// The number.
    public let rawValue: UInt64
    /// A generation.
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Takes the body of one response, chunk by chunk. One task at a time uses it.
public protocol CacheWriter: Sendable {
    /// Adds bytes to the body.
    ///
    /// - Throws: ``CacheStoreError`` with ``CacheStoreError/Code/tooLarge`` if it has become too long.
    func append(_ chunk: Data) async throws

    /// Ends the body, and makes the entry visible as a whole, if the cache still wants it stored.
    ///
    /// The store calls the closure once, with the generation that the key has at that moment, under the lock that also
    /// excludes invalidations: see ``CacheStore``. The closure takes a microsecond, and calls no store.
    ///
    /// - Returns: whether the entry is stored. `false` after ``abandon()``.
    func commit(if isWanted: @Sendable (CacheGeneration) -> Bool) async throws -> Bool

    /// Gives up: nothing remains. After ``commit(if:)`` it does nothing. It returns at once, and any slow work is done
    /// elsewhere: it is called wherever a reader drops a response.
    func abandon()
}

/// A line in the list of what is stored.
public struct CacheListing: Sendable, Hashable, CustomStringConvertible {
    /// The URL and the partition.
    public let key: CacheKey
    /// The response without its body.
    public let response: CachedResponse
    /// The count of the body's bytes.
    public let length: Int64

    /// A line.
    public init(key: CacheKey, response: CachedResponse, length: Int64) {
        self.key = key
        self.response = response
        self.length = length
    }

    /// Status, length and URL, with what is secret in the URL redacted.
    public var description: String {
        "\(response.status.code), \(length) bytes, \(key)"
    }
}

extension CacheStore {
    /// Removes what is stored for a URL, in one partition or in all.
    ///
    /// With a partition it invalidates the key. Without one it clears by a predicate, which keeps every response under way from
    /// being stored, of other URLs too.
    public func removeAll(url: URL, partition: String? = nil) async throws {
        guard let key = CacheKey(url: url, partition: partition ?? "") else { return }
        if partition != nil { return try await removeAll(of: key) }
        try await removeAll { $0.key.url == key.url }
    }

    /// Removes what is stored for the URL and for all that continue it, as text: `https://a.example/users/` for all below.
    public func removeAll(prefix: URL, partition: String? = nil) async throws {
        guard let key = CacheKey(url: prefix) else { return }
        try await removeAll { $0.key.url.hasPrefix(key.url) && (partition == nil || $0.key.partition == partition) }
    }

    /// Removes what is stored for a partition, as when an account signs out. No response to a request that the cache got
    /// before is stored after it.
    public func removeAll(partition: String) async throws {
        try await removeAll { $0.key.partition == partition }
    }

    /// Removes everything.
    public func removeAll() async throws { try await removeAll { _ in true } }

    /// All entries of a key.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] { try await snapshot(of: key).entries }

    /// Stores a response whose body is whole already, by a writer.
    public func store(
        _ body: Data,
        of response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        if isWanted: @Sendable (CacheGeneration) -> Bool
    ) async throws -> Bool {
        let writer = try await write(response, for: key, replacing: entries, length: Int64(body.count))
        do {
            if !body.isEmpty { try await writer.append(body) }
            return try await writer.commit(if: isWanted)
        } catch {
            writer.abandon()
            throw error
        }
    }

    /// The key of this process.
    public func digestKey() async throws -> Data { FieldDigest.processKey }
}

/// Why a store did not keep or find something. It never fails a request.
public struct CacheStoreError: Error, Sendable, CustomStringConvertible {
    /// What went wrong. An open set.
    public struct Code: Sendable, Hashable, RawRepresentable, CustomStringConvertible {
        /// The name of the code.
        public let rawValue: String
        /// A code by its name, for stores that need one of their own.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// The name of the code.
        public var description: String { rawValue }
        /// The body is longer than the store keeps.
        public static let tooLarge = Self(rawValue: "tooLarge")
        /// Bodies that are being stored leave no room for more.
        public static let full = Self(rawValue: "full")
        /// The body ended before or after the length that was announced for it.
        public static let incomplete = Self(rawValue: "incomplete")
        /// What is stored is not what was written: it has been removed.
        public static let damaged = Self(rawValue: "damaged")
        /// The entry has been replaced or removed since it was found.
        public static let gone = Self(rawValue: "gone")
        /// The directory or a file in it can't be read or written.
        public static let unavailable = Self(rawValue: "unavailable")
        /// Another process has held what is needed for too long.
        public static let busy = Self(rawValue: "busy")
    }

    /// What went wrong.
    public let code: Code
    /// What went wrong, for a person, without secrets.
    public let message: String

    /// An error.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Code and message.
    public var description: String { "CacheStoreError.\(code): \(message)" }
}
