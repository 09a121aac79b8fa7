internal import Foundation
internal import Synchronization

/// The way to the directory of a store: opened when it is first needed, and again once somebody has removed it.
final class DiskAccess: Sendable {
    private struct State {
        var directory: DiskDirectory?
        /// The key of the digests, once it is known: a directory that is made again gets the same.
        var key: [UInt8]?
    }

    private let parent: URL
    private let protection: DiskProtection
    private let now: @Sendable () -> Date
    private let state = Mutex(State())
    /// Invalidations that could not be written to the directory: within this process they hold all the same.
    private let unwritten = Atomic<UInt64>(0)

    init(_ parent: URL, _ protection: DiskProtection, _ now: @escaping @Sendable () -> Date) {
        self.parent = parent
        self.protection = protection
        self.now = now
    }

    /// Does something in the directory, with the system's errors as those of a store.
    ///
    /// - Parameter isChecked: whether a directory that somebody has removed is made again.
    func callAsFunction<Value>(isChecked: Bool = true, _ work: (DiskDirectory) throws -> Value) async throws -> Value {
        do {
            return try work(try await opened(isChecked: isChecked))
        } catch let error as SystemError {
            throw error.storeError
        }
    }

    /// The same with a shard that nobody else changes meanwhile.
    func withShard<Value>(_ shard: UInt8, _ work: (LockedShard) throws -> Value) async throws -> Value {
        do {
            return try await opened(isChecked: true).withShard(shard, work)
        } catch let error as SystemError {
            throw error.storeError
        }
    }

    /// The generation of the keys in a shard.
    func generation(of shard: UInt8, in directory: DiskDirectory) throws(SystemError) -> CacheGeneration {
        let unwritten = unwritten.load(ordering: .acquiring)
        return CacheGeneration(rawValue: try directory.generations.read(shard) &+ unwritten &* 0x9E37_79B9_7F4A_7C15)
    }

    /// Gives the keys of a shard, or of all, another generation.
    ///
    /// No lock is needed: a writer that read the generation before holds its shard, and is done once that can be had.
    ///
    /// - Returns: the error if other processes don't see the change.
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

    // A shard that can't be had must not keep the others from being cleared: the first error is thrown at the end.
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

    /// The directory for a new body; opened again by the next if something of it is missing.
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
