import Foundation
import Interceptors
import Synchronization

/// A minimal store: a dictionary that never evicts. Like every store, it decides nothing about HTTP.
///
/// No method suspends, so the actor runs each as a whole: a response is stored only under the generation that its
/// request found.
actor DictionaryStore: CacheStore {
    private struct Stored {
        let id: CacheEntry.ID
        var response: CachedResponse
        let body: Data
    }

    nonisolated let arrivals = CacheArrivals()
    private var stored: [CacheKey: [Stored]] = [:]
    private var lastID: CacheEntry.ID = 0
    /// One generation for all keys is enough: any invalidation keeps out every response under way.
    private var generation: UInt64 = 0

    func snapshot(of key: CacheKey) -> (entries: [CacheEntry], generation: UInt64) {
        let entries = (stored[key] ?? []).map { stored in
            let body = stored.body
            return CacheEntry(id: stored.id, response: stored.response, length: Int64(body.count)) { range in
                HTTPBody(body.dropFirst(Int(range.lowerBound)).prefix(range.count))
            }
        }
        return (entries, generation)
    }

    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) -> any CacheWriter {
        Writer { body, isWanted in
            await self.insert(response, body, for: key, replacing: entries, if: isWanted)
        }
    }

    private func insert(
        _ response: CachedResponse,
        _ body: Data,
        for key: CacheKey,
        replacing: [CacheEntry.ID],
        if isWanted: @Sendable (UInt64) -> Bool
    ) -> Bool {
        guard isWanted(generation) else { return false }
        lastID += 1
        stored[key, default: []].removeAll {
            replacing.contains($0.id) || $0.response.selectingFields == response.selectingFields
        }
        stored[key, default: []].append(Stored(id: lastID, response: response, body: body))
        return true
    }

    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) {
        guard let index = stored[key]?.firstIndex(where: { $0.id == entry }) else { return }
        stored[key]?[index].response = response
    }

    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) {
        stored[key]?.removeAll { entries.contains($0.id) }
    }

    func removeAll(of key: CacheKey) {
        generation += 1
        stored[key] = nil
    }

    func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) {
        generation += 1
        for key in stored.keys { stored[key]?.removeAll { isRemoved(Self.listing(key, $0)) } }
    }

    func listing() -> [CacheEntrySummary] { stored.flatMap { key, all in all.map { Self.listing(key, $0) } } }

    private static func listing(_ key: CacheKey, _ stored: Stored) -> CacheEntrySummary {
        CacheEntrySummary(key: key, response: stored.response, length: Int64(stored.body.count))
    }
}

extension DictionaryStore {
    /// Collects the chunks of a body until it is committed or abandoned.
    private final class Writer: CacheWriter {
        typealias Insertion = @Sendable (Data, @Sendable (UInt64) -> Bool) async -> Bool

        private let insert: Insertion
        /// `nil` after the end.
        private let body = Mutex<Data?>(Data())

        init(insert: @escaping Insertion) { self.insert = insert }

        func append(_ chunk: Data) { body.withLock { $0?.append(chunk) } }

        func commit(if isWanted: @Sendable (UInt64) -> Bool) async -> Bool {
            guard let body = body.withLock({ $0.take() }) else { return false }
            return await insert(body, isWanted)
        }

        func abandon() { body.withLock { $0 = nil } }
    }
}
