internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Keeps responses in memory, up to limits; evicts the least recently used first.
///
/// On Apple's platforms, it evicts the least recently used half when the system warns that memory is short, and everything at a
/// critical level.
///
/// ```swift
/// let store = MemoryCacheStore(byteLimit: 16 << 20)
/// let client = Client(baseURL: url, interceptors: [.bearerAuth(tokens), .cache(store)])
///
/// try await store.removeAll(partition: account.id)        // at sign-out
/// ```
public final class MemoryCacheStore: CacheStore {
    private struct State {
        var table: MemoryTable
        var generations = GenerationTable()
        var pressure: MemoryPressure?
    }

    /// The order in which responses arrive.
    public let arrivals = CacheArrivals()
    private let entryByteLimit: Int
    private let state: Mutex<State>

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - byteLimit: the maximum bytes of all bodies and fields; 32 MiB by default.
    ///   - entryLimit: the maximum number of responses; 10,000 by default.
    ///   - entryByteLimit: the longest body in bytes; by default an eighth of `byteLimit`.
    public init(byteLimit: Int = 32 << 20, entryLimit: Int = 10_000, entryByteLimit: Int? = nil) {
        let byteLimit = max(0, byteLimit)
        self.entryByteLimit = min(max(0, entryByteLimit ?? byteLimit / 8), byteLimit)
        state = Mutex(State(table: MemoryTable(byteLimit: byteLimit, entryLimit: max(0, entryLimit))))
        let pressure = MemoryPressure { [weak self] isCritical in self?.yield(isCritical: isCritical) }
        state.withLock { $0.pressure = pressure }
    }

    /// Evicts half of the bytes under memory pressure, or all at a critical level.
    func yield(isCritical: Bool) {
        state.withLock { $0.table.trim(to: isCritical ? 0 : $0.table.byteCount / 2) }
    }

    /// Evicts the least recently used responses until at most `count` bytes remain.
    ///
    /// Call it when the app knows better than the system that memory is needed. Responses in progress are still stored.
    public func trim(toByteCount count: Int) { state.withLock { $0.table.trim(to: max(0, count)) } }

    /// The bytes of all stored bodies and fields.
    public var byteCount: Int { state.withLock { $0.table.byteCount } }

    /// The number of stored responses.
    public var count: Int { state.withLock { $0.table.count } }

    /// Returns the entries of a key, and its generation. Counts as a use of the entries.
    public func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) {
        state.withLock { ($0.table.use(key), $0.generations[key]) }
    }

    /// Stores a whole body.
    func insert(
        _ body: Data,
        of response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        if isWanted: (UInt64) -> Bool
    ) throws -> Bool {
        if body.count > entryByteLimit { throw CacheStoreError.tooLarge(Int64(entryByteLimit)) }
        return state.withLock { state in
            guard isWanted(state.generations[key]) else { return false }
            state.table.insert(response, body, for: key, replacing: entries)
            return true
        }
    }

    /// Begins to store a response. Its body is collected in memory, up to `entryByteLimit`.
    public func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        if let length, length > Int64(entryByteLimit) { throw CacheStoreError.tooLarge(Int64(entryByteLimit)) }
        return Writer(self, response, key, entries)
    }

    /// Replaces the metadata of an entry.
    public func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
        state.withLock { $0.table.update(entry, of: key, to: response) }
    }

    /// Removes some entries of a key.
    public func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        state.withLock { $0.table.removeAll(of: key) { entries.contains($0.id) } }
    }

    /// Removes every entry of a key, and keeps out responses to earlier requests.
    public func removeAll(of key: CacheKey) async throws {
        state.withLock { state in
            state.generations.change(for: key)
            state.table.removeAll(of: key) { _ in true }
        }
    }

    /// Removes the entries for which the predicate returns `true`, and keeps out responses to earlier requests.
    public func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws {
        // The predicate is the user's code, so it runs outside the lock. The generations have changed before: a response that
        // is committed meanwhile was requested after the call began, and may stay.
        let all = state.withLock { state in
            state.generations.changeAll()
            return state.table.all
        }
        let removed = all.filter { isRemoved($0.summary) }
        state.withLock { state in
            for stored in removed { state.table.removeAll(of: stored.summary.key) { $0.id == stored.id } }
        }
    }

    /// Lists the stored responses, in no particular order.
    public func listing() async throws -> [CacheEntrySummary] {
        state.withLock { $0.table.all }.map(\.summary)
    }

}

extension MemoryCacheStore {
    private final class Writer: CacheWriter {
        private let store: MemoryCacheStore
        private let response: CachedResponse
        private let key: CacheKey
        private let replaced: [CacheEntry.ID]
        private let body = Mutex<Data?>(Data())

        init(_ store: MemoryCacheStore, _ response: CachedResponse, _ key: CacheKey, _ replaced: [CacheEntry.ID]) {
            (self.store, self.response, self.key, self.replaced) = (store, response, key, replaced)
        }

        private var limit: Int { store.entryByteLimit }

        func append(_ chunk: Data) async throws {
            let fits = body.withLock { body in
                guard let count = body?.count, chunk.count <= limit - count else { return false }
                body?.append(chunk)
                return true
            }
            if !fits {
                abandon()
                throw CacheStoreError.tooLarge(Int64(limit))
            }
        }

        func commit(if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool {
            guard let body = body.withLock({ $0.take() }) else { return false }
            return try store.insert(body, of: response, for: key, replacing: replaced, if: isWanted)
        }

        func abandon() { body.withLock { $0 = nil } }
    }
}

extension CacheStore where Self == MemoryCacheStore {
    /// A store in memory: see ``MemoryCacheStore/init(byteLimit:entryLimit:entryByteLimit:)``.
    public static func memory(byteLimit: Int = 32 << 20) -> Self { MemoryCacheStore(byteLimit: byteLimit) }
}
