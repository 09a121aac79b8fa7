internal import Dispatch
internal import Foundation

/// The open directory of a store.
///
/// ```
/// http-cache-4/
///     key              the key of the digests, 32 bytes
///     usage            the counts of each shard, 6 KB
///     generations      the generation of each shard, 2 KB
///     incoming/        a file for each body in progress
///     00/ … ff/        the shards; flock on a shard's directory is its lock
///         <32 digits>                 the record of a key: metadata and short bodies
///         <32 digits>.<16 digits>     a long body, named after its record and ID
///         .new                        a record that is being written
/// ```
/// Everything is opened relative to one descriptor, whose owner was checked when it was opened: replacing the directory's path
/// can't redirect the store.
final class DiskDirectory: Sendable {
    private static let prefix = "http-cache-"
    private static let version = 4
    /// The name contains the version of the layout, so that no other version reads these files.
    static let name = prefix + "\(version)"
    private static let temporaries = "incoming"

    /// The path of the directory that contains the store's.
    private let parent: String
    let root: OpenedFile
    let usage: DiskUsage
    let generations: DiskGenerations
    let incoming: OpenedFile
    private let blockSize: Int64
    /// The files and the directory that all stores share, as they were opened.
    private let shared: [(name: String, identity: [UInt64])]

    /// Opens the store's directory in `parent`, and creates both if needed.
    init(in parent: URL, _ protection: DiskProtection = DiskProtection()) throws {
        if (try? OpenedFile.openDirectory(parent.path)) == nil {
            // Follows a parent that is a link, and creates missing ancestors.
            try? FileManager.default.createDirectory(
                at: parent,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        self.parent = parent.resolvingSymlinksInPath().path
        let path = self.parent + "/" + Self.name
        try OpenedFile.makeDirectory(path)
        root = try OpenedFile.openDirectory(path)
        let status = try root.status()
        guard status.isOwn else {
            let message = "\(path) belongs to another account. Give the store a directory of this process's account."
            throw CacheStoreError(.storeUnavailable, message)
        }
        blockSize = status.blockSize
        root.closeToOthers()
        protection.apply(to: path)
        usage = try DiskUsage.open(in: root)
        generations = try DiskGenerations.open(in: root)
        try OpenedFile.makeDirectory(Self.temporaries, in: root)
        incoming = try OpenedFile.openDirectory(Self.temporaries, in: root)
        shared = try [DiskUsage.name: usage.file, DiskGenerations.name: generations.file, Self.temporaries: incoming]
            .map { ($0.key, try $0.value.status().identity) }
    }

    /// Whether the files that all stores share are still those that are open here.
    ///
    /// After a cleaner has removed one of them, or the whole directory, the next store creates another. What this store writes
    /// to the removed one, no other store sees, and the other way round.
    var isIntact: Bool { shared.allSatisfy { (try? root.status(of: $0.name).identity) == $0.identity } }

    /// Removes the files of bodies that ended processes have left.
    func removeLeftovers(now: Date) {
        for name in (try? incoming.names()) ?? [] {
            guard let status = try? incoming.status(of: name) else { continue }
            let age = Int64(min(max(now.timeIntervalSince1970, 0), 9e9) * 1e9) - status.modified
            if !status.isRegular || IncomingName.isLeftover(name, age: age) { try? incoming.remove(name) }
        }
    }

    /// Removes the directories of older layouts, which nothing reads any more. They may hold answers for an account that has
    /// signed out. One that can't be removed doesn't stop the others from being removed; the first error is thrown at the end.
    func removeOlderLayouts() throws {
        var failure: (any Error)?
        for version in 1..<Self.version {
            let path = "\(parent)/\(Self.prefix)\(version)"
            guard FileManager.default.fileExists(atPath: path) || FileName.isLink(path) else { continue }
            do { try FileManager.default.removeItem(atPath: path) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    /// Counts the shards whose usage is unknown.
    func countUnknownShards() async throws {
        let known = try usage.read()
        let names = Set(try root.names())
        for shard in UInt8.min...UInt8.max where known[Int(shard)] == nil && names.contains(DiskName.directory(shard)) {
            do {
                try await withShard(shard) { _ = try $0.count() }
            } catch let error as CacheStoreError where error.code == .storeBusy {
                // The next change of the shard counts.
            }
        }
    }

    /// The bytes of all bodies in progress, in all processes.
    func incomingBytes() -> Int64 {
        ((try? incoming.names()) ?? []).reduce(0) { $0 + allocated((try? incoming.status(of: $1).size) ?? 0) }
    }

    /// The bytes that a file of some length takes, in whole blocks of the file system.
    ///
    /// Computed from the length, because the block count that the system reports may change long after a file was written.
    func allocated(_ length: Int64) -> Int64 { (length + blockSize - 1) / blockSize * blockSize }

    // A lock is held for a few hundred microseconds. A holder that takes this long has been stopped.
    static let patience = Duration.seconds(2)

    /// Runs work while holding the lock of a shard, which excludes other tasks and other processes.
    ///
    /// The work is synchronous, so the lock is released on the thread that acquired it. Waiting ignores cancellation, because
    /// an invalidation must not be skipped. On a file system without locks, every attempt succeeds. Hold the lock only during one
    /// change: iOS ends an app that is suspended while it holds a lock in an App Group's directory.
    func withShard<Value>(
        _ shard: UInt8,
        patience: Duration = patience,
        _ work: (LockedShard) throws -> Value
    ) async throws -> Value {
        try work(try await lock(shard, patience))
    }

    private func lock(_ shard: UInt8, _ patience: Duration) async throws -> LockedShard {
        let files = try openShard(shard)
        let start = ContinuousClock.now
        var pauses = 0
        while files.tryLock() == .busy {
            // On a machine that stops threads for seconds, few pauses fit into the patience, and the lock's holder was stopped
            // too.
            let waited = start.duration(to: .now)
            guard waited < patience || waited < patience * 10 && Self.usualPause * pauses < patience else {
                let message = "Another process has held the lock of \(files.path) for \(waited). If it hangs, end it."
                throw CacheStoreError(.storeBusy, message)
            }
            await Self.pause()
            pauses += 1
        }
        return LockedShard(shard: shard, files: files, directory: self)
    }

    // Longer than a pause takes where nothing else runs: 0.2 ms on Linux, about 1 ms on Apple's platforms.
    private static let usualPause = Duration.milliseconds(1)

    /// Suspends the task for 100 µs, even if it is cancelled.
    static func pause() async {
        await StartedWork.elsewhere {
            await withUnsafeContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(100)) { continuation.resume() }
            }
        }
    }

    private func openShard(_ shard: UInt8) throws(SystemCallFailure) -> OpenedFile {
        let name = DiskName.directory(shard)
        if let directory = try? OpenedFile.openDirectory(name, in: root) { return directory }
        try OpenedFile.makeDirectory(name, in: root)
        return try OpenedFile.openDirectory(name, in: root)
    }

    /// Reads the record in a file, whatever its key; `nil` if there is no such file.
    ///
    /// Needs no lock, because renaming replaces a record as a whole.
    static func read(
        _ path: String,
        in directory: OpenedFile
    ) throws -> (record: DiskRecord, file: OpenedFile, modified: Int64)? {
        do {
            let file = try OpenedFile.openOwn(path, in: directory)
            let status = try file.status()
            guard status.isRegular, status.size <= Int64(DiskRecord.limit) else { throw DiskRecord.Damage() }
            return (try DiskRecord(file.bytes(at: 0, upTo: Int(status.size))), file, status.modified)
        } catch let error as SystemCallFailure {
            if error.isMissing { return nil }
            throw error.isDamage ? DiskRecord.Damage() : error
        }
    }

    func exists(_ path: String) throws(SystemCallFailure) -> Bool {
        try unlessMissing(try root.status(of: path)) != nil
    }

    /// The names of the record files in a shard.
    func files(of shard: UInt8) throws(SystemCallFailure) -> [DiskName] {
        let names = try unlessMissing(try OpenedFile.openDirectory(DiskName.directory(shard), in: root).names())
        return names?.filter { $0.utf8.count == DiskName.length }.map { DiskName(shard: shard, file: $0) } ?? []
    }
}
