internal import Foundation
internal import Synchronization

/// Opens the directory of a store when it is first needed, and again after a part of it has been removed.
///
/// A removal that failed is tried again wherever a shard's lock is acquired: see ``OwedRemovals``.
final class DiskAccess: Sendable {
    private struct State {
        var directory: DiskDirectory?
        /// The key of the digests, once it is known. A recreated directory gets the same key.
        var key: [UInt8]?
    }

    private let parent: URL
    private let protection: DiskProtection
    private let now: @Sendable () -> Date
    private let state = Mutex(State())
    /// The order in which responses arrive for the stores of this process over the directory, and the removals owed to it.
    let arrivals: CacheArrivals
    var owed: OwedRemovals<DiskName> { arrivals.diskDebts }

    private static let known = Mutex<[String: @Sendable () -> CacheArrivals?]>([:])

    init(_ parent: URL, _ protection: DiskProtection, _ now: @escaping @Sendable () -> Date) {
        self.parent = parent
        self.protection = protection
        self.now = now
        arrivals = Self.arrivals(in: parent)
    }

    /// The arrivals in a directory, for all stores of this process.
    static func arrivals(in directory: URL) -> CacheArrivals {
        known.withLock { known in
            // Links to a directory lead to the same one.
            let path = directory.resolvingSymlinksInPath().standardizedFileURL.path
            if let arrivals = known[path]?() { return arrivals }
            known = known.filter { $0.value() != nil }
            let arrivals = CacheArrivals()
            known[path] = { [weak arrivals] in arrivals }
            return arrivals
        }
    }

    /// Runs work in the directory, and throws the system's errors as errors of the store.
    ///
    /// - Parameter isChecked: whether to open the directory again if a part of it has been removed.
    func callAsFunction<Value>(isChecked: Bool = true, _ work: (DiskDirectory) throws -> Value) async throws -> Value {
        do {
            return try work(try await opened(isChecked: isChecked))
        } catch {
            throw error.asStoreError
        }
    }

    /// Runs work in the directory while holding the lock of a shard, after trying the removals again that are owed there.
    ///
    /// - Parameters:
    ///   - directory: the directory; by default it is opened if needed.
    ///   - patience: how long to wait for the lock.
    func withShard<Value>(
        _ shard: UInt8,
        of directory: DiskDirectory? = nil,
        patience: Duration = DiskDirectory.patience,
        _ work: (LockedShard) throws -> Value
    ) async throws -> Value {
        do {
            let current = try await opened(isChecked: true)
            return try await (directory ?? current).withShard(shard, patience: patience) { locked in
                try? removeOwed(locked)
                return try work(locked)
            }
        } catch {
            throw error.asStoreError
        }
    }

    // The order matters: a removal that fails after the debt is read stays owed, and a response that was requested before it
    // failed finds another generation.
    private func removeOwed(_ locked: LockedShard) throws {
        guard let debt = owed.debt(in: locked.shard), locked.directory.isIntact else { return }
        if debt.isUnannounced {
            try locked.directory.generations.change(locked.shard)
            owed.announce(debt, in: locked.shard)
        }
        let listing = try locked.list()
        let swept = try locked.sweep(listing, removing: Set(listing.entries.keys.filter(debt.contains)))
        owed.settle(debt, in: locked.shard, except: swept.kept)
    }

    /// Whether a record is owed a removal, also after trying the removal again. Doesn't wait for the lock.
    func owesRemoval(of name: DiskName) async -> Bool {
        guard owed.contains(name, in: name.shard) else { return false }
        try? await withShard(name.shard, patience: .zero) { _ in }
        return owed.contains(name, in: name.shard)
    }

    /// Changes the generation of the keys in one shard, or in all.
    ///
    /// Needs no lock. A writer that has read the old generation holds its shard's lock until its entry is visible. The caller
    /// then acquires that lock to remove entries, and finds this one too.
    func changeGeneration(of shard: UInt8? = nil) async throws {
        for _ in 0..<3 {
            let isSeen = try await self { directory in
                if let shard { try directory.generations.change(shard) } else { try directory.generations.changeAll() }
                // If the file was replaced before the change, other stores don't see the change.
                return directory.isIntact
            }
            if isSeen { return }
        }
        let message = "Another program keeps removing files of \(parent.path). Keep it away from the cache's directory."
        throw CacheStoreError(.storeUnavailable, message)
    }

    func digestKey() async throws -> [UInt8] {
        let known = state.withLock { $0.key }
        let key = try await self { try known ?? DiskKey.get(in: $0.root, known: nil) }
        state.withLock { $0.key = key }
        return key
    }

    private func opened(isChecked: Bool) async throws -> DiskDirectory {
        if let directory = state.withLock({ $0.directory }), !isChecked || directory.isIntact { return directory }
        let directory = try DiskDirectory(in: parent, protection)
        directory.removeLeftovers(now: now())
        if let key = state.withLock({ $0.key }) { _ = try DiskKey.get(in: directory.root, known: key) }
        try? directory.removeOlderLayouts()
        try await directory.countUnknownShards()
        state.withLock { $0.directory = directory }
        return directory
    }
}
