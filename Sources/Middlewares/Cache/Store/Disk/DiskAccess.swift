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

    // A shard that can't be had must not keep the others from being cleared: the first error is thrown at the end.
    func forEachShard(_ body: (UInt8) async throws -> Void) async throws {
        var failure: (any Error)?
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
