import Foundation
import Middlewares
import Synchronization

/// A minimal store: a dictionary that never evicts. Like every store, it decides nothing about HTTP.
actor DictionaryStore: CacheStore {
    private struct Stored {
        let id: CacheEntry.ID
        var response: CachedResponse
        let body: Data
    }

    private var stored: [CacheKey: [Stored]] = [:]
    private var lastID: CacheEntry.ID = 0
    private let cleared = Atomic(0)

    /// The number of times the store was cleared. The cache doesn't store a response that it requested before the last time,
    /// for example before a sign-out.
    nonisolated var clearings: Int { cleared.load(ordering: .acquiring) }

    func entries(for key: CacheKey) -> [CacheEntry] {
        (stored[key] ?? []).map { stored in
            let body = stored.body
            return CacheEntry(id: stored.id, response: stored.response, length: Int64(body.count)) { range in
                HTTPBody(body.dropFirst(Int(range.lowerBound)).prefix(range.count))
            }
        }
    }

    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) -> any CacheWriter {
        let clearings = clearings
        return Writer { body in
            try await self.insert(response, body, for: key, replacing: entries, unlessClearedSince: clearings)
        }
    }

    private func insert(
        _ response: CachedResponse,
        _ body: Data,
        for key: CacheKey,
        replacing: [CacheEntry.ID],
        unlessClearedSince clearings: Int
    ) throws {
        guard self.clearings == clearings else {
            throw CacheStoreError(.incomplete, "The store was cleared while the body arrived.")
        }
        lastID += 1
        stored[key, default: []].removeAll {
            replacing.contains($0.id) || $0.response.selectingFields == response.selectingFields
        }
        stored[key, default: []].append(Stored(id: lastID, response: response, body: body))
    }

    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) {
        guard let index = stored[key]?.firstIndex(where: { $0.id == entry }) else { return }
        stored[key]?[index].response = response
    }

    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) {
        stored[key]?.removeAll { entries.contains($0.id) }
    }

    func removeAll(of key: CacheKey) { stored[key] = nil }

    func removeAll(where isRemoved: @Sendable (CacheListing) -> Bool) {
        cleared.add(1, ordering: .releasing)
        for key in stored.keys { stored[key]?.removeAll { isRemoved(Self.listing(key, $0)) } }
    }

    func listing() -> [CacheListing] { stored.flatMap { key, all in all.map { Self.listing(key, $0) } } }

    private static func listing(_ key: CacheKey, _ stored: Stored) -> CacheListing {
        CacheListing(key: key, response: stored.response, length: Int64(stored.body.count))
    }
}

/// Collects the chunks of a body until the writer commits it.
private actor Collector {
    private var body: Data? = Data()

    func append(_ chunk: Data) { body?.append(chunk) }

    func take() -> Data? { body.take() }
}

extension DictionaryStore {
    private struct Writer: CacheWriter {
        let insert: @Sendable (Data) async throws -> Void
        private let collector = Collector()

        init(insert: @escaping @Sendable (Data) async throws -> Void) { self.insert = insert }

        func append(_ chunk: Data) async { await collector.append(chunk) }

        func commit() async throws {
            if let body = await collector.take() { try await insert(body) }
        }

        // A body that isn't committed goes away with the writer.
        func abandon() {}
    }
}
