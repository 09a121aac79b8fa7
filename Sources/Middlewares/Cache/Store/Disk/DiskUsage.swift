/// The entries and bytes of each shard, in a file of 6 KB, so that the totals are known without listing every file.
///
/// The holder of a shard's lock writes its slot: before adding files, and after removing files. A killed process therefore
/// leaves a slot that is too high, never too low, and the next sweep corrects it.
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
    static let name = "usage"
    let file: OpenedFile

    /// Opens the file, or creates it with zeros, which mean that no amount is known.
    static func open(in root: OpenedFile) throws(SystemCallFailure) -> DiskUsage {
        DiskUsage(file: try OpenedFile.openOrMake(name, in: root) { [UInt8](repeating: 0, count: shards * slotSize) })
    }

    /// Reads the amount of each shard; `nil` for an unknown amount, which must be counted.
    func read() throws(SystemCallFailure) -> [Amount?] {
        let read = try file.bytes(at: 0, upTo: Self.shards * Self.slotSize)
        // Missing slots are zeros.
        let padded = read + [UInt8](repeating: 0, count: Self.shards * Self.slotSize - read.count)
        let slots = padded.withUnsafeBytes { bytes in
            (0..<3 * Self.shards).map { bytes.loadUnaligned(fromByteOffset: 8 * $0, as: UInt64.self) }
        }
        return (0..<Self.shards).map { shard in
            let (entries, bytes) = (slots[3 * shard], slots[3 * shard + 1])
            // An absurd number must not overflow a sum.
            guard slots[3 * shard + 2] == Self.check(entries, bytes), entries < 1 << 48, bytes < 1 << 52 else {
                return nil
            }
            return Amount(entries: Int64(bitPattern: entries), bytes: Int64(bitPattern: bytes))
        }
    }

    func write(_ amount: Amount, of shard: UInt8) throws(SystemCallFailure) {
        try file.write(Self.slot(amount), at: Int64(shard) * Int64(Self.slotSize))
    }

    private static func slot(_ amount: Amount) -> [UInt8] {
        let (entries, bytes) = (UInt64(bitPattern: max(0, amount.entries)), UInt64(bitPattern: max(0, amount.bytes)))
        return [entries, bytes, check(entries, bytes)].withUnsafeBytes { Array($0) }
    }

    // Not zero for an empty slot: zeros, as in a new file or after a loss of power, mean an unknown amount.
    private static func check(_ entries: UInt64, _ bytes: UInt64) -> UInt64 {
        (entries &* 0x9E37_79B9_7F4A_7C15) ^ (bytes &* 0xC2B2_AE3D_27D4_EB4F) ^ 0x6874_7470_2D75_7365
    }
}
