internal import Dispatch
internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// The directory of a store, opened: 256 shards with the files of entries, one of bodies on their way, the usage and the
/// generations.
///
/// Everything is reached from the one descriptor that was checked when it was opened: nobody can put another directory in
/// its place.
final class DiskDirectory: Sendable {
    /// Its name tells the version of the form, so that another version never meets these files.
    static let name = "http-cache-3"
    private static let temporaries = "incoming"

    let root: OpenFile
    let usage: DiskUsage
    let generations: DiskGenerations
    let incoming: OpenFile
    private let blockSize: Int64
    /// Whether the usage was missing though there may be entries.
    let needsCount: Bool

    /// Opens the directory in another, made if need be.
    init(in parent: URL, _ protection: DiskProtection = DiskProtection()) throws {
        if (try? OpenFile.openDirectory(parent.path)) == nil {
            // A parent that is a link, or that is to be made with its own parents.
            try? FileManager.default.createDirectory(
                at: parent,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        }
        let path = parent.resolvingSymlinksInPath().appending(path: Self.name).path
        try OpenFile.makeDirectory(path)
        root = try OpenFile.openDirectory(path)
        let status = try root.status()
        guard status.owner == geteuid() else {
            throw CacheStoreError(.unavailable, "The directory of the cache belongs to another account.")
        }
        blockSize = root.blockSize()
        if status.permissions & 0o077 != 0 { fchmod(root.descriptor, 0o700) }
        try protection.apply(to: path)
        (usage, needsCount) = try DiskUsage.open(in: root)
        generations = try DiskGenerations.open(in: root)
        try OpenFile.makeDirectory(Self.temporaries, in: root)
        incoming = try OpenFile.openDirectory(Self.temporaries, in: root)
    }

    /// Whether somebody has removed the directory.
    var isGone: Bool { ((try? root.status().links) ?? 0) == 0 }

    /// Whether somebody has removed the directory of bodies on their way, or the generations.
    var isIncomplete: Bool { [incoming, generations.file].contains { ((try? $0.status().links) ?? 0) == 0 } }

    /// Removes the bodies that ended processes have left.
    func removeLeftovers(now: Date) {
        for name in (try? incoming.names()) ?? [] {
            guard let status = try? incoming.status(of: name) else { continue }
            let age = Int64(min(max(now.timeIntervalSince1970, 0), 9e9) * 1e9) - status.modified
            if !status.isRegular || IncomingName.isLeftover(name, age: age) { try? incoming.remove(name) }
        }
    }

    /// The bytes of all files of bodies on their way, whoever writes them.
    func incomingBytes() -> Int64 {
        ((try? incoming.names()) ?? []).reduce(0) { $0 + allocated((try? incoming.status(of: $1).size) ?? 0) }
    }

    /// The bytes that a file of some length takes, in whole blocks of the file system.
    ///
    /// Counted from the length, since the count of blocks that the system gives may change long after a file was written.
    func allocated(_ length: Int64) -> Int64 { (length + blockSize - 1) / blockSize * blockSize }

    /// Makes a file for a body on its way.
    func makeIncoming() throws(SystemError) -> (file: OpenFile, name: String) {
        let name = IncomingName.make()
        return (try OpenFile.open(name, in: incoming, O_RDWR | O_CREAT | O_EXCL), name)
    }

    // What waits here waits for a few hundred microseconds of another's work; who holds a lock for this long has been
    // stopped.
    private static let patience = Duration.seconds(2)

    /// Runs work on a shard that nobody else works on, in this process or another.
    ///
    /// The work is done in one go, on the thread that got the lock. Waiting doesn't heed a cancellation: what is to be
    /// removed must be.
    func withShard<Value>(
        _ shard: UInt8,
        _ work: (LockedShard) throws -> Value
    ) async throws -> Value {
        let directory = try openShard(shard)
        let start = ContinuousClock.now
        while !directory.tryLock() {
            if start.duration(to: .now) > Self.patience {
                throw CacheStoreError(.busy, "Another process has held a part of the cache for \(Self.patience).")
            }
            await Self.pause()
        }
        return try work(LockedShard(shard: shard, files: directory, directory: self))
    }

    /// Gives the thread to others for a hundred microseconds, whether or not the task is cancelled.
    static func pause() async {
        await withUnsafeContinuation { continuation in
            DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(100)) { continuation.resume() }
        }
    }

    private func openShard(_ shard: UInt8) throws(SystemError) -> OpenFile {
        let name = DiskName.directory(shard)
        if let directory = try? OpenFile.openDirectory(name, in: root) { return directory }
        try OpenFile.makeDirectory(name, in: root)
        return try OpenFile.openDirectory(name, in: root)
    }

    /// The record of a key, `nil` if there is none, or one of another key that happens to have its name.
    ///
    /// - Parameter use: says, from when it was last used, when it is used now.
    func record(
        _ name: DiskName,
        of key: CacheKey,
        use: (Int64) -> Int64? = { _ in nil }
    ) throws -> DiskRecord? {
        let file: OpenFile
        do {
            file = try OpenFile.open(name.path, in: root, O_RDONLY)
        } catch  where error.isMissing {
            return nil
        } catch  where error.isOfAnotherKind {
            throw DiskRecord.Damage()
        }
        let (record, modified) = try Self.read(file)
        guard record.key == key else { return nil }
        if let stamp = use(modified) { file.setModified(stamp) }
        return record
    }

    // All of a record with one response, and the head of most others.
    private static let firstRead = 96 << 10

    /// Reads a record.
    ///
    /// - Parameter isWhole: whether its bodies are all to be read, however many and long.
    static func read(_ file: OpenFile, isWhole: Bool = false) throws -> (DiskRecord, modified: Int64) {
        let status = try file.status()
        guard status.isRegular, status.size <= Int64(DiskRecord.limit) else { throw DiskRecord.Damage() }
        let size = Int(status.size)
        do {
            var bytes = try file.bytes(isWhole ? size : min(size, firstRead), at: 0)
            let head = try DiskRecord.headLength(bytes, size: size)
            if head > bytes.count { bytes = try file.bytes(head, at: 0) }
            return (try DiskRecord(bytes, size: size, from: file), status.modified)
        } catch let error as SystemError where error.code == EIO {
            // What the disk can't read back is lost.
            throw DiskRecord.Damage()
        }
    }

    /// Whether there is a file of a key's name.
    func has(_ name: DiskName) throws -> Bool {
        do {
            _ = try root.status(of: name.path)
            return true
        } catch  where error.isMissing {
            return false
        }
    }

    func hasShard(_ shard: UInt8) throws(SystemError) -> Bool {
        do throws(SystemError) {
            _ = try root.status(of: DiskName.directory(shard))
            return true
        } catch {
            if error.isMissing { return false }
            throw error
        }
    }

    /// The names of the files of records in a shard.
    func files(of shard: UInt8) throws -> [String] {
        do {
            let files = try OpenFile.openDirectory(DiskName.directory(shard), in: root)
            return try files.names().filter { $0.utf8.count == DiskName.length }
        } catch  where error.isMissing {
            return []
        }
    }

    /// The record in a file, whatever its key; `nil` if there is none.
    func anyRecord(_ name: DiskName) throws -> DiskRecord? {
        do {
            return try Self.read(try OpenFile.open(name.path, in: root, O_RDONLY)).0
        } catch let error as SystemError where error.isMissing {
            return nil
        } catch let error as SystemError where error.isOfAnotherKind {
            throw DiskRecord.Damage()
        }
    }
}
