/// The generation of each shard, in a file of 2 KB that all stores of the directory share.
///
/// An invalidation writes 8 random bytes, so nothing has to be read before, and no number comes again. It also keeps out what
/// is under way for the other keys of the shard: each costs a request to the server. Bytes that are missing count as zero.
struct DiskGenerations {
    static let slotSize = 8
    private static let name = "generations"
    let file: OpenFile

    static func open(in root: OpenFile) throws(SystemError) -> DiskGenerations {
        DiskGenerations(file: try OpenFile.openOrMake(name, in: root) { random(DiskUsage.shards) }.file)
    }

    func read(_ shard: UInt8) throws(SystemError) -> UInt64 {
        var number: UInt64 = 0
        var failure: SystemError?
        withUnsafeMutableBytes(of: &number) { bytes in
            do throws(SystemError) { _ = try file.read(into: bytes, at: Self.offset(of: shard)) } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return number
    }

    func change(_ shard: UInt8) throws(SystemError) { try file.write(Self.random(1), at: Self.offset(of: shard)) }

    func changeAll() throws(SystemError) { try file.write(Self.random(DiskUsage.shards), at: 0) }

    private static func offset(of shard: UInt8) -> Int64 { Int64(shard) * Int64(slotSize) }

    private static func random(_ count: Int) -> [UInt8] {
        (0..<count * slotSize).map { _ in UInt8.random(in: .min ... .max) }
    }
}
