internal import Synchronization

/// The removals that failed, for instance because a lock was held for too long, a file couldn't be opened or the directory is
/// read-only. Groups keep apart what can be removed together: the shards of a directory. Other stores have one group.
///
/// ```
/// removal ──fails──▶ owed: its entries are misses ──succeeds──▶ settled
///                         ▲ tried again, fails │
///                         └────────────────────┘
/// ```
/// The caller of the failed removal gets its error. The next lookup of an entry that is owed a removal tries it again. The debts
/// are lost with the last store over the same content.
final class OwedRemovals<Name: Hashable & Sendable>: Sendable {
    /// The removals owed in one group. A number identifies each failure. A later failure for the same name has another number,
    /// so a removal that began earlier doesn't settle it.
    struct Debt {
        /// The failure after which all names of the group are owed.
        fileprivate(set) var all: UInt64?
        fileprivate(set) var names: [Name: UInt64] = [:]
        /// The latest failure after which the group's generation was changed.
        fileprivate(set) var announced: UInt64 = 0

        fileprivate var latest: UInt64 { max(all ?? 0, names.values.max() ?? 0) }
        /// Whether the generation must change: a response that was requested before the latest failure must not be stored.
        /// Once for each failure, because a record that can never be removed would otherwise keep all others from being stored.
        var isUnannounced: Bool { latest > announced }

        var isWhole: Bool { all != nil }

        func contains(_ name: Name) -> Bool { all != nil || names[name] != nil }
    }

    private struct State {
        var debts: [UInt8: Debt] = [:]
        var last: UInt64 = 0

        /// The number of names that are owed one by one.
        var count: Int { debts.values.reduce(0) { $0 + $1.names.count } }
    }

    /// The maximum names that are owed one by one. Beyond it, all names of a group are owed.
    let limit = 1_024
    private let state = Mutex(State())
    // Most removals never fail, and a hit then reads this only.
    private let isAny = Atomic(false)

    /// The number of names that are owed one by one.
    var count: Int { state.withLock { $0.count } }

    func contains(_ name: Name, in group: UInt8) -> Bool { debt(of: name, in: group) != nil }

    /// The debt of a group; `nil` without one.
    func debt(in group: UInt8) -> Debt? {
        isAny.load(ordering: .acquiring) ? state.withLock { $0.debts[group] } : nil
    }

    /// The part of a group's debt that a name belongs to.
    func debt(of name: Name, in group: UInt8 = 0) -> Debt? {
        guard let debt = debt(in: group), debt.contains(name) else { return nil }
        return debt.all == nil ? Debt(names: debt.names.filter { $0.key == name }) : debt
    }

    /// Notes a failure to remove a name, or all names of a group.
    func insert(_ name: Name?, in group: UInt8 = 0) {
        state.withLock { state in
            state.last += 1
            isAny.store(true, ordering: .releasing)
            if let name { state.debts[group, default: Debt()].names[name] = state.last }
            if name == nil || state.count > limit { state.debts[group] = Debt(all: state.last) }
        }
    }

    /// Notes that the group's generation was changed after the failures of a debt.
    func announce(_ debt: Debt, in group: UInt8) {
        state.withLock { state in
            guard let announced = state.debts[group]?.announced else { return }
            state.debts[group]?.announced = max(announced, debt.latest)
        }
    }

    /// Settles a debt, except for failures since it was read.
    ///
    /// - Parameter kept: the names that still couldn't be removed.
    func settle(_ debt: Debt, in group: UInt8 = 0, except kept: [Name] = []) {
        state.withLock { state in
            guard var rest = state.debts[group] else { return }
            if rest.all == debt.all { rest.all = nil }
            rest.names = rest.names.filter { debt.names[$0.key] != $0.value }
            if rest.all == nil { for name in kept { rest.names[name] = debt.all ?? debt.names[name] } }
            state.debts[group] = rest.all == nil && rest.names.isEmpty ? nil : rest
            if state.count > limit { state.debts[group] = Debt(all: state.last) }
            if state.debts.isEmpty { isAny.store(false, ordering: .releasing) }
        }
    }
}
