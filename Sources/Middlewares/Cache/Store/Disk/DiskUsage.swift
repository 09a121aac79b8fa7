#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// How much each shard holds, in a file of 6 KB: all that is known of the whole without looking at every file.
///
/// A slot is written by who holds the lock of its shard: before something is added and after something is removed. So a
/// process that is killed leaves a slot that says too much, never too little, and the next sweep puts it right.
struct DiskUsage {
    struct Amount: Equatable {
        var entries: Int64 = 0
        var bytes: Int64 = 0

        static func + (left: Self, right: Self) -> Self {
            Amount(entries: left.entries + right.entries, bytes: left.bytes + right.bytes)
        }
        static func - (left: Self, right: Self) -> Self {
            Amount(entries: left.entries - right.entries, bytes: left.bytes - right.bytes)
        }
    }

    static let slotSize = 24
    static let shards = 256
    private static let name = "usage"
    let file: OpenFile

    /// Opens the file in a directory; says whether it is new though there may be entries.
    static func open(in root: OpenFile) throws(SystemError) -> (usage: DiskUsage, isNew: Bool) {
        let (file, isNew) = try OpenFile.openOrMake(name, in: root) {
            Array((0..<shards).map { _ in slot(Amount()) }.joined())
        }
        return (DiskUsage(file: file), isNew)
    }

    /// The amount in each shard; `nil` where the slot is damaged.
    func read() throws(SystemError) -> [Amount?] {
        var slots = [UInt64](repeating: 0, count: Self.shards * 3)
        var failure: SystemError?
        var count = 0
        slots.withUnsafeMutableBytes { bytes in
            do throws(SystemError) { count = try file.read(into: bytes, at: 0) } catch { failure = error }
        }
        if let failure { throw failure }
        return (0..<Self.shards).map { shard in
            let (entries, bytes) = (slots[3 * shard], slots[3 * shard + 1])
            // What is not there doesn't say that there is nothing; and what is absurd must not overflow a sum.
            guard (shard + 1) * Self.slotSize <= count, slots[3 * shard + 2] == Self.check(entries, bytes),
                entries < 1 << 48, bytes < 1 << 52
            else { return nil }
            return Amount(entries: Int64(bitPattern: entries), bytes: Int64(bitPattern: bytes))
        }
    }

    func write(_ amount: Amount, of shard: UInt8) throws(SystemError) {
        try file.write(Self.slot(amount), at: Int64(shard) * Int64(Self.slotSize))
    }

    private static func slot(_ amount: Amount) -> [UInt8] {
        let (entries, bytes) = (UInt64(bitPattern: max(0, amount.entries)), UInt64(bitPattern: max(0, amount.bytes)))
        return [entries, bytes, check(entries, bytes)].withUnsafeBytes { Array($0) }
    }

    // Never zero for an empty slot: a file full of zeros, as a loss of power leaves one, says nothing.
    private static func check(_ entries: UInt64, _ bytes: UInt64) -> UInt64 {
        (entries &* 0x9E37_79B9_7F4A_7C15) ^ (bytes &* 0xC2B2_AE3D_27D4_EB4F) ^ 0x6874_7470_2D75_7365
    }
}
