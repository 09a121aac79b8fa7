/// The generation of each shard, in a file of 2 KB that all stores over the directory share.
///
/// A commit reads it while it holds the shard's lock; an invalidation changes it before it acquires the lock: see ``CacheStore``.
/// After a cleaner has removed the file, stores may have different ones: every step compares the file's identity
/// (``DiskDirectory/isIntact``).
///
/// An invalidation writes 8 random bytes: it needs no read before, and no generation repeats. It also keeps out responses in
/// progress for the other keys of the shard; each costs a request to the server. Missing bytes count as zero.
struct DiskGenerations {
    static let slotSize = 8
    static let name = "generations"
    let file: OpenedFile

    static func open(in root: OpenedFile) throws(SystemCallFailure) -> DiskGenerations {
        DiskGenerations(file: try OpenedFile.openOrMake(name, in: root) { random(DiskUsage.shards) })
    }

    /// The generation of all keys in a shard.
    func generation(of shard: UInt8) throws(SystemCallFailure) -> UInt64 {
        let bytes = try file.bytes(at: Self.offset(of: shard), upTo: Self.slotSize)
        return bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }

    func change(_ shard: UInt8) throws(SystemCallFailure) { try file.write(Self.random(1), at: Self.offset(of: shard)) }

    func changeAll() throws(SystemCallFailure) { try file.write(Self.random(DiskUsage.shards), at: 0) }

    private static func offset(of shard: UInt8) -> Int64 { Int64(shard) * Int64(slotSize) }

    private static func random(_ count: Int) -> [UInt8] {
        (0..<count * slotSize).map { _ in UInt8.random(in: .min ... .max) }
    }
}
