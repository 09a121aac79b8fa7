internal import Foundation
internal import Interceptors
internal import Synchronization

/// Keeps responses in memory, up to limits; what was used the longest ago goes first.
///
/// ```swift
/// let store = MemoryCacheStore(byteLimit: 16 << 20)
/// let client = Client(baseURL: url, interceptors: [.bearerAuth(tokens), .cache(store)])
/// …
/// try await store.removeAll(partition: account.id)        // at sign-out
/// ```
public final class MemoryCacheStore: CacheStore {
    private struct Stored {
        let key: CacheKey
        var response: CachedResponse
        let body: Data
        var size: Int

        var listing: CacheListing { CacheListing(key: key, response: response, length: Int64(body.count)) }
    }

    private struct State {
        var ids: [CacheKey: [UInt64]] = [:]
        var entries: [UInt64: Stored] = [:]
        var uses = RecentUse()
        var byteCount = 0
        var lastID: UInt64 = 0
        var clearings = 0
    }

    // A key with more variants than these varies by something that never comes again.
    private static let variantLimit = 16

    private let byteLimit: Int
    private let entryLimit: Int
    private let entryByteLimit: Int
    private let state = Mutex(State())

    /// An empty store.
    ///
    /// - Parameters:
    ///   - byteLimit: the most bytes in all, bodies and fields; 32 MiB by default.
    ///   - entryLimit: the most responses; 10,000 by default.
    ///   - entryByteLimit: the longest body, by default an eighth of all.
    public init(byteLimit: Int = 32 << 20, entryLimit: Int = 10_000, entryByteLimit: Int? = nil) {
        self.byteLimit = max(0, byteLimit)
        self.entryLimit = max(0, entryLimit)
        self.entryByteLimit = min(max(0, entryByteLimit ?? byteLimit / 8), self.byteLimit)
    }

    /// The bytes that are stored, bodies and fields.
    public var byteCount: Int { state.withLock(\.byteCount) }

    /// The count of responses that are stored.
    public var count: Int { state.withLock { $0.entries.count } }

    /// All that is stored for a key.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] {
        state.withLock { state in
            guard let ids = state.ids[key] else { return [] }
            return ids.compactMap { id in
                guard let stored = state.entries[id] else { return nil }
                state.uses.use(id)
                let body = stored.body
                return CacheEntry(id: id, response: stored.response, length: Int64(body.count)) { range in
                    let start = body.startIndex + Int(range.lowerBound)
                    return HTTPBody(range.count == body.count ? body : Data(body[start..<(start + range.count)]))
                }
            }
        }
    }

    /// Begins to store a response.
    public func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        let clearings = state.withLock(\.clearings)
        let writer = Writer(limit: entryByteLimit) { [weak self] body in
            self?.insert(response, for: key, replacing: entries, body: body, since: clearings)
        }
        if let length, length > Int64(entryByteLimit) { throw Self.tooLarge(entryByteLimit) }
        return writer
    }

    /// Gives an entry new metadata.
    public func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
        state.withLock { state in
            guard var stored = state.entries[entry], stored.key == key else { return }
            state.byteCount -= stored.size
            stored.response = response
            stored.size = Self.size(of: response, key, stored.body)
            state.byteCount += stored.size
            state.entries[entry] = stored
            evict(&state)
        }
    }

    /// Removes some entries of a key.
    public func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        state.withLock { state in
            for id in entries where state.entries[id]?.key == key { Self.remove(id, from: &state) }
        }
    }

    /// Removes every entry of a key.
    public func removeAll(of key: CacheKey) async throws {
        state.withLock { state in
            for id in state.ids[key] ?? [] { Self.remove(id, from: &state) }
        }
    }

    /// Removes what the predicate says, and what is being stored meanwhile.
    public func removeAll(where isRemoved: @Sendable (CacheListing) -> Bool) async throws {
        // The predicate is the user's: it is called outside the lock.
        let all = state.withLock { state in
            state.clearings += 1
            return state.entries
        }
        let removed = all.filter { isRemoved($0.value.listing) }.keys
        state.withLock { state in
            for id in removed { Self.remove(id, from: &state) }
        }
    }

    /// What is stored, in no particular order.
    public func listing() async throws -> [CacheListing] {
        state.withLock { $0.entries.values.map(\.listing) }
    }

    private func insert(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing: [UInt64],
        body: Data,
        since clearings: Int
    ) {
        state.withLock { state in
            // What was cleared meanwhile is not to come back.
            guard state.clearings == clearings else { return }
            for id in state.ids[key] ?? []
            where replacing.contains(id) || state.entries[id]?.response.selectingFields == response.selectingFields {
                Self.remove(id, from: &state)
            }
            state.lastID += 1
            let size = Self.size(of: response, key, body)
            state.entries[state.lastID] = Stored(key: key, response: response, body: body, size: size)
            state.ids[key, default: []].append(state.lastID)
            state.uses.use(state.lastID)
            state.byteCount += size
            if let ids = state.ids[key], ids.count > Self.variantLimit { Self.remove(ids[0], from: &state) }
            evict(&state)
        }
    }

    private func evict(_ state: inout State) {
        while state.byteCount > byteLimit || state.entries.count > entryLimit, let id = state.uses.leastRecent {
            Self.remove(id, from: &state)
        }
    }

    private static func remove(_ id: UInt64, from state: inout State) {
        guard let stored = state.entries.removeValue(forKey: id) else { return }
        state.uses.remove(id)
        state.byteCount -= stored.size
        state.ids[stored.key]?.removeAll { $0 == id }
        if state.ids[stored.key]?.isEmpty == true { state.ids[stored.key] = nil }
    }

    private static func size(of response: CachedResponse, _ key: CacheKey, _ body: Data) -> Int {
        let fields = [response.headerFields, response.selectingFields].joined()
        let text = fields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64 }
        return body.count + text + key.url.utf8.count + key.partition.utf8.count + 256
    }

    fileprivate static func tooLarge(_ limit: Int) -> CacheStoreError {
        CacheStoreError(.tooLarge, "The body is longer than the \(limit) bytes that the store keeps of one.")
    }
}

extension MemoryCacheStore {
    private final class Writer: CacheWriter {
        private let limit: Int
        private let insert: @Sendable (Data) -> Void
        private let body = Mutex<Data?>(Data())

        init(limit: Int, insert: @escaping @Sendable (Data) -> Void) {
            self.limit = limit
            self.insert = insert
        }

        func append(_ chunk: Data) async throws {
            let fits = body.withLock { body in
                guard let count = body?.count, chunk.count <= limit - count else { return false }
                body?.append(chunk)
                return true
            }
            if !fits {
                abandon()
                throw MemoryCacheStore.tooLarge(limit)
            }
        }

        func commit() async throws {
            if let whole = body.withLock({ $0.take() }) { insert(whole) }
        }

        func abandon() { body.withLock { $0 = nil } }
    }
}

extension CacheStore where Self == MemoryCacheStore {
    /// A store in memory: see ``MemoryCacheStore``.
    public static func memory(byteLimit: Int = 32 << 20, entryLimit: Int = 10_000, entryByteLimit: Int? = nil) -> Self {
        MemoryCacheStore(byteLimit: byteLimit, entryLimit: entryLimit, entryByteLimit: entryByteLimit)
    }
}
