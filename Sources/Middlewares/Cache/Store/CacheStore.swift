public import Foundation
internal import Interceptors

/// Keeps responses and their bodies for a ``CacheInterceptor``.
///
/// ## Choose one
/// ``MemoryCacheStore`` keeps them as long as the process lives, ``DiskCacheStore`` in the files of a directory.
///
/// ## Implement one
/// A store decides nothing about HTTP: the cache tells it what to keep, and asks for it by key. It promises:
/// - an entry that ``entries(for:)`` gives is whole: its body was ended by ``CacheWriter/commit()``, and it is the body
///   that belongs to the response. What is damaged is left out and removed;
/// - ``entries(for:)`` gives all variants of a key with their metadata in one go, so that one file can answer it; bodies
///   are read when they are asked for, or come with the metadata if they are small;
/// - a removal holds for those who look after it; an entry that is being read meanwhile may be read to its end;
/// - any of its functions may be called at once from any task, for the same key too;
/// - it may drop any entry at any time, and refuse any write: a store that fails costs a request to the server, never
///   a request's success. What it throws is handed to the cache's `report`, and the cache goes on without it.
public protocol CacheStore: Sendable {
    /// All that is stored for a key: several where a server varies its responses.
    func entries(for key: CacheKey) async throws -> [CacheEntry]

    /// Begins to store a response. Nobody sees it until ``CacheWriter/commit()``, which replaces at once those entries
    /// that are named, and any of the same key with the same ``CachedResponse/selectingFields``.
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

    /// Gives an entry new metadata. One that is gone, or has been replaced, stays so.
    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws

    /// Removes some entries of a key.
    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws

    /// Removes every entry of a key.
    func removeAll(of key: CacheKey) async throws

    /// Removes what the predicate says. What is being stored meanwhile is better dropped than kept.
    func removeAll(where isRemoved: @Sendable (CacheListing) -> Bool) async throws

    /// Removes everything. By default with a predicate that everything fulfils.
    func removeAll() async throws

    /// How often ``removeAll(where:)`` and ``removeAll()`` have been called; it grows before they remove anything.
    ///
    /// What was asked for before the last of them is not stored after it: a response that arrives when an account has signed
    /// out must not come to lie where the account's responses were removed. There is one count for all, so that this is so
    /// of any URL and any account; and what such a response would have replaced is removed, too.
    ///
    /// By default always 0: then it is stored. A store that wraps another must hand on the other's count, and one that counts
    /// must heed in ``CacheWriter/commit()`` what is cleared after ``write(_:for:replacing:length:)``.
    var clearings: Int { get }

    /// What is stored, in no particular order.
    func listing() async throws -> [CacheListing]

    /// The key of the digests by which the cache has credentials kept: in the names of partitions and in
    /// ``CachedResponse/selectingFields``. 32 random bytes, the same as long as the entries last.
    ///
    /// By default it lasts as long as the process: a store whose entries outlive it must keep a key with them, or those that
    /// belong to credentials are never found again. A store that wraps another hands on the other's.
    func digestKey() async throws -> Data
}

/// Takes the body of one response, chunk by chunk. One task at a time uses it.
public protocol CacheWriter: Sendable {
    /// Adds bytes to the body.
    ///
    /// - Throws: ``CacheStoreError`` with ``CacheStoreError/Code/tooLarge`` if it has become too long.
    func append(_ chunk: Data) async throws

    /// Ends the body, and makes the entry visible as a whole.
    func commit() async throws

    /// Gives up: nothing remains. After ``commit()`` it does nothing.
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
    /// With a partition it is about what is stored at that moment: what is under way may be stored after it. Without one it is
    /// a clearing, which keeps all that is under way from being stored, of other URLs too: see ``clearings``.
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

    /// Removes what is stored for a partition, as when an account signs out. No response to a request that the cache has
    /// got before is stored after it, if the store counts its ``clearings``.
    public func removeAll(partition: String) async throws {
        try await removeAll { $0.key.partition == partition }
    }

    /// Removes everything.
    public func removeAll() async throws { try await removeAll { _ in true } }

    /// Always 0: nothing is known of it.
    public var clearings: Int { 0 }

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
