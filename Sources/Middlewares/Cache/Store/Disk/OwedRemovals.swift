internal import Foundation
internal import Synchronization

/// The removals that failed, because a lock was held for too long, a file couldn't be opened or the directory is read-only.
///
/// ```
/// removal ──fails──▶ owed: its entries are misses ──succeeds──▶ settled
///                         ▲ tried again, fails │
///                         └────────────────────┘
/// ```
/// The caller of the failed removal gets its error. Whoever next looks an entry up that is owed a removal, or acquires the
/// lock of its shard, tries the removal again: see ``DiskAccess``. The stores of a process over one directory share an
/// instance; it is lost with the last of them.
final class OwedRemovals: Sendable {
    /// The removals owed in one shard. A number identifies each failure. A later failure for the same record has another
    /// number, so a removal that began earlier doesn't settle it.
    struct Debt {
        /// The failure after which all records of the shard are owed.
        fileprivate(set) var all: UInt64?
        fileprivate(set) var records: [DiskName: UInt64] = [:]

        /// The latest failure after which the shard's generation was changed.
        fileprivate(set) var announced: UInt64 = 0

        fileprivate var latest: UInt64 { max(all ?? 0, records.values.max() ?? 0) }
        /// Whether the generation must change: a response that was requested before the latest failure must not be stored.
        /// Once for each failure, because a record that can never be removed would otherwise keep all others from being stored.
        var isUnannounced: Bool { latest > announced }

        var isEmpty: Bool { all == nil && records.isEmpty }
        func contains(_ name: DiskName) -> Bool { all != nil || records[name] != nil }
    }

    private struct State {
        var debts: [UInt8: Debt] = [:]
        var count = 0
        var last: UInt64 = 0
    }

    /// The maximum records that are owed one by one. Beyond it, all records of a shard are owed: 256 at most.
    static let limit = 1_024
    private let state = Mutex(State())
    /// The order in which responses arrive for the stores over the directory.
    let arrivals = CacheArrivals()

    private struct Weak {
        weak var removals: OwedRemovals?
    }
    private static let known = Mutex<[String: Weak]>([:])

    /// The removals that are owed in a directory, for all stores of this process.
    static func shared(in directory: URL) -> OwedRemovals {
        known.withLock { known in
            // Links to a directory lead to the same one.
            let path = directory.resolvingSymlinksInPath().standardizedFileURL.path
            if let removals = known[path]?.removals { return removals }
            known = known.filter { $0.value.removals != nil }
            let removals = OwedRemovals()
            known[path] = Weak(removals: removals)
            return removals
        }
    }

    /// The number of records that are owed one by one.
    var count: Int { state.withLock { $0.count } }

    func contains(_ name: DiskName) -> Bool { state.withLock { $0.debts[name.shard]?.contains(name) ?? false } }

    /// The debt of a shard; `nil` without one.
    func debt(in shard: UInt8) -> Debt? { state.withLock { $0.debts[shard] } }

    /// Notes a failure to remove a record.
    func insert(_ name: DiskName) {
        state.withLock { state in
            state.last += 1
            if state.debts[name.shard]?.records[name] == nil { state.count += 1 }
            state.debts[name.shard, default: Debt()].records[name] = state.last
            if state.count > Self.limit { Self.insert(all: name.shard, into: &state) }
        }
    }

    /// Notes a failure to clear a shard.
    func insert(shard: UInt8) {
        state.withLock { state in
            state.last += 1
            Self.insert(all: shard, into: &state)
        }
    }

    private static func insert(all shard: UInt8, into state: inout State) {
        state.count -= state.debts[shard]?.records.count ?? 0
        state.debts[shard] = Debt(all: state.last)
    }

    /// Notes that the shard's generation was changed after the failures of a debt.
    func announce(_ debt: Debt, in shard: UInt8) {
        state.withLock { state in
            guard let announced = state.debts[shard]?.announced else { return }
            state.debts[shard]?.announced = max(announced, debt.latest)
        }
    }

    /// Settles a debt, except for failures since it was read.
    ///
    /// - Parameter kept: the records that still couldn't be removed.
    func settle(_ debt: Debt, in shard: UInt8, except kept: [DiskName]) {
        state.withLock { state in
            guard var rest = state.debts[shard] else { return }
            state.count -= rest.records.count
            if rest.all == debt.all { rest.all = nil }
            rest.records = rest.records.filter { debt.records[$0.key] != $0.value }
            if rest.all == nil { for name in kept { rest.records[name] = debt.all ?? debt.records[name] } }
            state.count += rest.records.count
            state.debts[shard] = rest.isEmpty ? nil : rest
            if state.count > Self.limit { Self.insert(all: shard, into: &state) }
        }
    }
}
