internal import Foundation
internal import Interceptors
internal import Synchronization

/// Keeps responses in memory, up to limits; what was used the longest ago goes first.
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
        var clearings = 0
        var pressure: MemoryPressure?
    }

    private let entryByteLimit: Int
    private let state: Mutex<State>

    /// An empty store.
    ///
    /// - Parameters:
    ///   - byteLimit: the most bytes in all, bodies and fields; 32 MiB by default.
    ///   - entryLimit: the most responses; 10,000 by default.
    ///   - entryByteLimit: the longest body, by default an eighth of all.
    ///   - yieldsToPressure: whether the store makes room when the system says that memory is short, as Apple's do (on Linux it
    ///     has no effect): at a warning the half that was used the longest ago goes, and all before processes are ended.
    public init(
        byteLimit: Int = 32 << 20,
        entryLimit: Int = 10_000,
        entryByteLimit: Int? = nil,
        yieldsToPressure: Bool = true
    ) {
        let byteLimit = max(0, byteLimit)
        self.entryByteLimit = min(max(0, entryByteLimit ?? byteLimit / 8), byteLimit)
        state = Mutex(State(table: MemoryTable(byteLimit: byteLimit, entryLimit: max(0, entryLimit))))
        guard yieldsToPressure else { return }
        let pressure = MemoryPressure { [weak self] isCritical in self?.yield(isCritical: isCritical) }
        state.withLock { $0.pressure = pressure }
    }

    /// Makes room for others.
    func yield(isCritical: Bool) {
        state.withLock { $0.table.trim(to: isCritical ? 0 : $0.table.byteCount / 2) }
    }

    /// Removes what was used the longest ago, until no more bytes are left.
    ///
    /// An app calls it when it knows better than the system that memory is needed. What is under way is stored all the same.
    public func trim(toByteCount count: Int) { state.withLock { $0.table.trim(to: max(0, count)) } }

    /// The bytes that are stored, bodies and fields.
    public var byteCount: Int { state.withLock { $0.table.byteCount } }

    /// The count of responses that are stored.
    public var count: Int { state.withLock { $0.table.count } }

    /// How often what is stored has been cleared.
    public var clearings: Int { state.withLock { $0.clearings } }

    /// All that is stored for a key.
    public func entries(for key: CacheKey) async throws -> [CacheEntry] {
        current(for: key).entries
    }

    /// Begins to store a response.
    public func write(
        _ response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        length: Int64?
    ) async throws -> any CacheWriter {
        if let length, length > Int64(entryByteLimit) { throw Self.tooLarge(entryByteLimit) }
        let clearings = state.withLock { $0.clearings }
        return Writer(limit: entryByteLimit) { [self] body in
            state.withLock { state in
                // What was cleared meanwhile is not to come back, nor is what it was to replace to outlive it.
                guard state.clearings == clearings else {
                    return state.table.removeAll(entries, replacedBy: response, of: key)
                }
                state.table.insert(response, body, for: key, replacing: entries)
            }
        }
    }

    /// Gives an entry new metadata.
    public func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
        state.withLock { $0.table.update(entry, of: key, to: response) }
    }

    /// Removes some entries of a key.
    public func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
        state.withLock { $0.table.removeAll(of: key) { entries.contains($0.id) } }
    }

    /// Removes every entry of a key.
    public func removeAll(of key: CacheKey) async throws {
        state.withLock { $0.table.removeAll(of: key) { _ in true } }
    }

    /// Removes what the predicate says, and what is being stored meanwhile.
    public func removeAll(where isRemoved: @Sendable (CacheListing) -> Bool) async throws {
        // The predicate is the user's: it is called outside the lock.
        let all = state.withLock { state in
            state.clearings += 1
            return state.table.all
        }
        let removed = all.filter { isRemoved($0.listing) }
        state.withLock { state in
            for stored in removed { state.table.removeAll(of: stored.listing.key) { $0.id == stored.id } }
        }
    }

    /// What is stored, in no particular order.
    public func listing() async throws -> [CacheListing] {
        state.withLock { $0.table.all }.map(\.listing)
    }

    fileprivate static func tooLarge(_ limit: Int) -> CacheStoreError {
        CacheStoreError(.tooLarge, "The body is longer than the \(limit) bytes that the store keeps of one.")
    }
}

// What the cache asks of it where nothing has to be waited for.
extension MemoryCacheStore {
    func current(for key: CacheKey) -> (entries: [CacheEntry], clearings: Int) {
        state.withLock { ($0.table.use(key), $0.clearings) }
    }

    /// Removes what a response that can't be stored would have taken the place of.
    func discard(_ entries: [CacheEntry.ID], replacedBy response: CachedResponse, of key: CacheKey) {
        state.withLock { $0.table.removeAll(entries, replacedBy: response, of: key) }
    }

    /// A body as it can be stored.
    ///
    /// - Parameter old: what it takes the place of.
    func copy(of body: Data, after old: CacheEntry?) throws -> Data {
        if body.count > entryByteLimit { throw Self.tooLarge(entryByteLimit) }
        // A server that is asked again often has nothing new to say: to see that takes less than to make room for it.
        if let old = old?.bytes, old.count == body.count, old == body { return old }
        // A copy of its own, since a part of something larger would keep all of it in memory.
        return body.withUnsafeBytes { Data($0) }
    }

    /// Stores a body that ``copy(of:after:)`` has made; says whether it did.
    ///
    /// - Parameters:
    ///   - old: what was the only entry of the key a moment ago, if that is replaced.
    ///   - clearings: how many there were when it was asked for: if there are more, it is not stored, and what it was to
    ///     replace is removed.
    func store(
        _ body: Data,
        of response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID],
        after old: CacheEntry? = nil,
        unlessClearedSince clearings: Int
    ) -> Bool {
        state.withLock { state in
            guard state.clearings == clearings else {
                state.table.removeAll(entries + (old.map { [$0.id] } ?? []), replacedBy: response, of: key)
                return false
            }
            state.table.insert(response, body, for: key, replacing: entries, after: old)
            return true
        }
    }
}

extension MemoryTable {
    /// Removes what a response would have replaced: those entries, and what has come to be stored as the same variant.
    fileprivate mutating func removeAll(
        _ entries: [CacheEntry.ID],
        replacedBy response: CachedResponse,
        of key: CacheKey
    ) {
        removeAll(of: key) { entries.contains($0.id) || $0.response.selectingFields == response.selectingFields }
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
    public static func memory(
        byteLimit: Int = 32 << 20,
        entryLimit: Int = 10_000,
        entryByteLimit: Int? = nil,
        yieldsToPressure: Bool = true
    ) -> Self {
        MemoryCacheStore(
            byteLimit: byteLimit,
            entryLimit: entryLimit,
            entryByteLimit: entryByteLimit,
            yieldsToPressure: yieldsToPressure
        )
    }
}
