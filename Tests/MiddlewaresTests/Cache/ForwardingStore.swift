import Foundation
import Interceptors

/// A store that passes every call to another one, except those that it declares itself.
protocol ForwardingStore: CacheStore {
    var inner: any CacheStore { get }

    /// Wraps a writer of the inner store.
    func wrap(_ writer: any CacheWriter) async -> any CacheWriter
}

extension ForwardingStore {
    var arrivals: CacheArrivals { inner.arrivals }
    func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) {
        try await inner.snapshot(of: key)
    }
    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        await wrap(try await inner.write(response, for: key, replacing: entries, length: length))
    }
    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
        try await inner.update(entry, of: key, to: response)
    }
    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws { try await inner.remove(entries, of: key) }
    func removeAll(of key: CacheKey) async throws { try await inner.removeAll(of: key) }
    func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws {
        try await inner.removeAll(where: isRemoved)
    }
    func listing() async throws -> [CacheEntrySummary] { try await inner.listing() }
    func digestKey() async throws -> Data { try await inner.digestKey() }
}

/// A writer that passes every call to another one, except those that it declares itself.
protocol ForwardingWriter: CacheWriter {
    var inner: any CacheWriter { get }
}

extension ForwardingWriter {
    func append(_ chunk: Data) async throws { try await inner.append(chunk) }
    func commit(if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool {
        try await inner.commit(if: isWanted)
    }
    func abandon() { inner.abandon() }
}
