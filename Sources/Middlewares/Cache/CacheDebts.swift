internal import Synchronization

/// The removals that a store has failed to carry out: until one succeeds, the entries of its key are misses.
///
/// An unsafe request that has returned must never be followed by a hit of an earlier response. The caches over a store share its
/// debts; they are lost with the store. ``DiskCacheStore`` keeps its debts itself (``OwedRemovals``).
final class CacheDebts: Sendable {
    /// A failed removal. The number tells it apart from later failures, which a removal that began earlier doesn't settle.
    enum Debt: Sendable, Equatable {
        case key(number: UInt64)
        case all(number: UInt64)
    }

    private struct State {
        var keys: [CacheKey: UInt64] = [:]
        var all: UInt64?
        var last: UInt64 = 0
        /// The time of the last attempt to remove all entries, in seconds.
        var tried: Int64?
    }

    /// The maximum keys that are owed one by one. Beyond it, all entries are owed.
    static let limit = 1_024
    /// The seconds between attempts to remove all entries.
    static let pause: Int64 = 10
    private let state = Mutex(State())
    // Most stores never fail, and a hit then reads this only.
    private let isAny = Atomic(false)

    /// Notes a failure to remove entries of a key.
    func add(_ key: CacheKey) {
        state.withLock { state in
            state.last += 1
            if state.all == nil { state.keys[key] = state.last }
            if state.all != nil || state.keys.count > Self.limit {
                state.all = state.last
                state.keys = [:]
            }
            isAny.store(true, ordering: .releasing)
        }
    }

    /// The debt that a key's entries belong to; `nil` if none is owed.
    func debt(of key: CacheKey) -> Debt? {
        guard isAny.load(ordering: .acquiring) else { return nil }
        return state.withLock { state in
            state.all.map { .all(number: $0) } ?? state.keys[key].map { .key(number: $0) }
        }
    }

    /// Whether to try a removal again now. All entries are removed for the look-up of any key, so not for each of them.
    func mayTry(_ debt: Debt, at now: Int64) -> Bool {
        guard case .all = debt else { return true }
        return state.withLock { state in
            if let tried = state.tried, (tried..<tried + Self.pause).contains(now) { return false }
            state.tried = now
            return true
        }
    }

    /// Notes that a removal has succeeded that was begun after this debt was read.
    func settle(_ debt: Debt, of key: CacheKey) {
        state.withLock { state in
            switch debt {
            case .all(let number): if state.all == number { state.all = nil }
            case .key(let number): if state.keys[key] == number { state.keys[key] = nil }
            }
            if state.all == nil && state.keys.isEmpty { isAny.store(false, ordering: .releasing) }
        }
    }
}
