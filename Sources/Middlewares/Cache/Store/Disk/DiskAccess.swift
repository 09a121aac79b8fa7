internal import Foundation
internal import Synchronization

/// Opens the directory of a store when it is first needed, and again after it has been removed.
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
    /// The number of invalidations that couldn't be written to the directory. Mixed into every generation, so that they hold
    /// at least within this process.
    private let unwritten = Atomic<UInt64>(0)

    init(_ parent: URL, _ protection: DiskProtection, _ now: @escaping @Sendable () -> Date) {
        self.parent = parent
        self.protection = protection
        self.now = now
    }

    /// Runs work in the directory, and throws the system's errors as errors of the store.
    ///
    /// - Parameter isChecked: whether to recreate the directory if it has been removed.
    func callAsFunction<Value>(isChecked: Bool = true, _ work: (DiskDirectory) throws -> Value) async throws -> Value {
        do {
            return try work(try await opened(isChecked: isChecked))
        } catch let error as SystemError {
            throw error.storeError
        }
    }

    /// Runs work in the directory while holding the lock of a shard.
    func withShard<Value>(_ shard: UInt8, _ work: (LockedShard) throws -> Value) async throws -> Value {
        do {
            return try await opened(isChecked: true).withShard(shard, work)
        } catch let error as SystemError {
            throw error.storeError
        }
    }

    /// The generation of all keys in a shard.
    func generation(of shard: UInt8, in directory: DiskDirectory) throws(SystemError) -> CacheGeneration {
        let unwritten = unwritten.load(ordering: .acquiring)
        return CacheGeneration(rawValue: try directory.generations.read(shard) &+ unwritten &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Changes the generation of the keys in one shard, or in all.
    ///
    /// Needs no lock. A writer that has read the old generation holds its shard's lock until its entry is visible. The caller
    /// then acquires that lock to remove entries, and finds this one too.
    ///
    /// - Returns: the error if the change couldn't be written, and therefore other processes don't see it.
    func changeGeneration(of shard: UInt8? = nil) async -> (any Error)? {
        do {
            try await self { directory in
                if let shard { try directory.generations.change(shard) } else { try directory.generations.changeAll() }
            }
            return nil
        } catch {
            unwritten.add(1, ordering: .acquiringAndReleasing)
            return error
        }
    }

    // An error in one shard must not keep the others from being cleared: the first error is thrown at the end.
    func forEachShard(after error: (any Error)?, _ body: (UInt8) async throws -> Void) async throws {
        var failure = error
        for shard in UInt8.min...UInt8.max {
            do {
                if try await self({ try $0.hasShard(shard) }) { try await body(shard) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// The directory for a new body. If a part of it is missing, the next use opens the directory again, which recreates it.
    func directoryForWriting() async throws -> DiskDirectory {
        let directory = try await self { $0 }
        if directory.isIncomplete { state.withLock { $0.directory = nil } }
        return directory
    }

    func digestKey() async throws -> [UInt8] {
        let known = state.withLock { $0.key }
        let key = try await self { try known ?? DiskKey.get(in: $0.root, known: nil) }
        state.withLock { $0.key = key }
        return key
    }

    private func opened(isChecked: Bool) async throws -> DiskDirectory {
        if let directory = state.withLock({ $0.directory }), !isChecked || !directory.isGone { return directory }
        let directory = try DiskDirectory(in: parent, protection)
        directory.removeLeftovers(now: now())
        if let key = state.withLock({ $0.key }) { _ = try DiskKey.get(in: directory.root, known: key) }
        let usage = try directory.usage.read()
        for shard in UInt8.min...UInt8.max where directory.needsCount || usage[Int(shard)] == nil {
            guard try directory.hasShard(shard) else { continue }
            try await directory.withShard(shard) { _ = try $0.sweep { _, _ in false } }
        }
        state.withLock { $0.directory = directory }
        return directory
    }
}
