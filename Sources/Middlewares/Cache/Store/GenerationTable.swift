/// The generations of all keys, in constant memory: keys share 1,024 slots by their hash.
///
/// An invalidation also keeps out responses in progress for the other keys of its slot, one key in about a thousand. Each costs
/// a request to the server. The store's lock guards the table, so that a commit and an invalidation exclude each other.
struct GenerationTable {
    private static let slotCount = 1_024

    private var last: UInt64 = 0
    private var slots = [UInt64](repeating: 0, count: slotCount)

    subscript(key: CacheKey) -> UInt64 {
        slots[key.hash & (Self.slotCount - 1)]
    }

    mutating func change(for key: CacheKey) {
        last += 1
        slots[key.hash & (Self.slotCount - 1)] = last
    }

    mutating func changeAll() {
        last += 1
        for slot in slots.indices { slots[slot] = last }
    }
}
