internal import Foundation

/// The store of a check, which notes what is in progress.
struct LoggedStore: CacheStore {
    let base: any CacheStore
    let log: WaitLog

    var arrivals: CacheArrivals { base.arrivals }

    func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) {
        var snapshot = try await log.waiting { try await base.snapshot(of: key) }
        snapshot.entries = snapshot.entries.map { entry in
            CacheEntry(id: entry.id, response: entry.response, length: entry.length) { range in
                let body = try await log.waiting(for: "the body of an entry") { try await entry.body(range) }
                // Only a stream waits, and a body in memory must stay in memory.
                guard body.data == nil else { return body }
                return body.unfolded(length: body.length) { chunks in
                    try await log.waiting(for: "the next chunk of an entry's body") { try await chunks.next() }
                }
            }
        }
        return snapshot
    }

    func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        let writer = try await log.waiting {
            try await base.write(response, for: key, replacing: entries, length: length)
        }
        return LoggedWriter(base: writer, log: log)
    }

    func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
        try await log.waiting { try await base.update(entry, of: key, to: response) }
    }

    func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        try await log.waiting { try await base.remove(entries, of: key) }
    }

    func removeAll(of key: CacheKey) async throws { try await log.waiting { try await base.removeAll(of: key) } }

    func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws {
        try await log.waiting { try await base.removeAll(where: isRemoved) }
    }

    func removeAll() async throws { try await log.waiting { try await base.removeAll() } }

    func listing() async throws -> [CacheEntrySummary] { try await log.waiting { try await base.listing() } }

    func digestKey() async throws -> Data { try await log.waiting { try await base.digestKey() } }
}

private struct LoggedWriter: CacheWriter {
    let base: any CacheWriter
    let log: WaitLog

    func append(_ chunk: Data) async throws { try await log.waiting { try await base.append(chunk) } }

    func commit(if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool {
        try await log.waiting { try await base.commit(if: isWanted) }
    }

    func abandon() {
        let wait = log.begin("abandon()")
        defer { log.end(wait) }
        base.abandon()
    }
}
