internal import Foundation
internal import InterceptorsCore

/// The content of a ``MemoryCacheStore``: keys in the slots of an array, each with its variants in the order of storing.
///
/// ``uses`` orders the slots by their last use, for eviction. The store's lock guards the table.
struct MemoryTable {
    private let byteLimit: Int
    private let entryLimit: Int
    private var slots: [CacheKey: Int] = [:]
    private var variants: [(key: CacheKey, entries: [CacheEntry])] = []
    /// The slots without a key.
    private var free: [Int] = []
    private var uses = RecentUse()
    private var lastID: UInt64 = 0
    private(set) var byteCount = 0
    private(set) var count = 0

    init(byteLimit: Int, entryLimit: Int) {
        self.byteLimit = byteLimit
        self.entryLimit = entryLimit
    }

    /// All entries, in no particular order.
    var all: [(id: CacheEntry.ID, summary: CacheEntrySummary)] {
        variants.flatMap { key, entries in
            entries.map { ($0.id, CacheEntrySummary(key: key, response: $0.response, length: $0.length)) }
        }
    }

    /// Returns the variants of a key, and marks the key as just used.
    mutating func use(_ key: CacheKey) -> [CacheEntry] {
        guard let slot = slots[key] else { return [] }
        uses.use(slot)
        return variants[slot].entries
    }

    /// Stores a response in place of the named entries, and of any variant of the key with the same selecting fields.
    mutating func insert(_ response: CachedResponse, _ body: Data, for key: CacheKey, replacing: [CacheEntry.ID]) {
        lastID += 1
        let entry = CacheEntry(id: lastID, response: response, body: body)
        let slot = slots[key] ?? free.popLast() ?? variants.count
        if slot == variants.count { variants.append((key, [])) }
        slots[key] = slot
        variants[slot].key = key
        change(slot) { entries in
            // A 304 may have changed the selecting fields of the named entries.
            entries.removeAll {
                replacing.contains($0.id) || $0.response.selectingFields == response.selectingFields
            }
            if entries.count == CacheKey.variantLimit { entries.removeFirst() }
            entries.append(entry)
        }
        uses.use(slot)
        evict()
    }

    mutating func update(_ id: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) {
        guard let slot = slots[key] else { return }
        change(slot) { entries in
            for index in entries.indices where entries[index].id == id {
                entries[index] = entries[index].with(response)
            }
        }
        evict()
    }

    /// Removes the variants of a key for which the closure returns `true`.
    mutating func removeAll(of key: CacheKey, where isRemoved: (CacheEntry) -> Bool) {
        if let slot = slots[key] { change(slot) { $0.removeAll(where: isRemoved) } }
    }

    /// Evicts the least recently used responses until at most `limit` bytes remain.
    mutating func trim(to limit: Int) {
        while byteCount > limit, let slot = uses.leastRecent { change(slot) { $0.removeFirst() } }
    }

    private mutating func evict() {
        trim(to: byteLimit)
        while count > entryLimit, let slot = uses.leastRecent { change(slot) { $0.removeFirst() } }
    }

    /// Changes the variants in a slot, and frees it if none is left.
    private mutating func change(_ slot: Int, _ change: (inout [CacheEntry]) -> Void) {
        let key = variants[slot].key
        count(variants[slot].entries, of: key, -1)
        change(&variants[slot].entries)
        count(variants[slot].entries, of: key, 1)
        guard variants[slot].entries.isEmpty else { return }
        slots[key] = nil
        free.append(slot)
        uses.remove(slot)
    }

    private mutating func count(_ entries: [CacheEntry], of key: CacheKey, _ sign: Int) {
        count += sign * entries.count
        for entry in entries {
            let fields = Self.size(of: entry.response.headers) + Self.size(of: entry.response.selectingFields)
            byteCount += sign * (Int(entry.length) + fields + key.url.utf8.count + key.partition.utf8.count + 256)
        }
    }

    private static func size(of fields: HTTPFields) -> Int {
        fields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 64 }
    }
}
