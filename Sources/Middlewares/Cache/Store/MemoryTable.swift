internal import Foundation
internal import InterceptorsCore

/// The content of a ``MemoryCacheStore``: responses in the slots of an array, found by their keys.
///
/// ``uses`` orders all slots by their last use, for eviction. The store's lock guards the table.
struct MemoryTable {
    /// A response with its body and its key.
    private final class Stored {
        let key: CacheKey
        var entry: CacheEntry { didSet { size = Self.size(of: entry, key) } }
        private(set) var size: Int

        init(_ entry: CacheEntry, _ key: CacheKey) {
            self.key = key
            self.entry = entry
            size = Self.size(of: entry, key)
        }

        private static func size(of entry: CacheEntry, _ key: CacheKey) -> Int {
            let response = entry.response
            return Int(entry.length) + size(of: response.headerFields) + size(of: response.selectingFields)
                + key.url.utf8.count + key.partition.utf8.count + 256
        }

        private static func size(of fields: HTTPFields) -> Int {
            var size = 0
            for index in fields.indices {
                size += fields[index].name.rawName.utf8.count + fields[index].value.utf8.count + 64
            }
            return size
        }
    }

    private let byteLimit: Int
    private let entryLimit: Int
    /// The slots of each key's variants, in the order in which they were stored.
    private var variants: [CacheKey: [Int]] = [:]
    private var slots: [Stored?] = []
    private var free: [Int] = []
    private var uses = RecentUse()
    private var lastID: UInt64 = 0
    private(set) var byteCount = 0

    init(byteLimit: Int, entryLimit: Int) {
        self.byteLimit = byteLimit
        self.entryLimit = entryLimit
    }

    var count: Int { uses.count }

    /// All entries, in no particular order.
    var all: [(id: CacheEntry.ID, summary: CacheEntrySummary)] {
        slots.compactMap { $0 }.map { stored in
            let entry = stored.entry
            return (entry.id, CacheEntrySummary(key: stored.key, response: entry.response, length: entry.length))
        }
    }

    /// Returns the variants of a key, and marks each as just used.
    mutating func use(_ key: CacheKey) -> [CacheEntry] {
        guard let found = variants[key] else { return [] }
        for slot in found { uses.use(slot) }
        return found.compactMap { slots[$0]?.entry }
    }

    /// Stores a response in place of the named entries, and of any variant of the key with the same selecting fields.
    mutating func insert(
        _ response: CachedResponse,
        _ body: Data,
        for key: CacheKey,
        replacing: [CacheEntry.ID]
    ) {
        lastID += 1
        let entry = CacheEntry(id: lastID, response: response, body: body)
        func isReplaced(_ old: CacheEntry) -> Bool {
            // A 304 may have changed the selecting fields of the named entries.
            replacing.contains(old.id) || old.response.selectingFields == response.selectingFields
        }
        // Most keys have one response, and a newer response takes over its slot: 0.5 µs less than a new slot.
        if let found = variants[key], found.count == 1, let stored = slots[found[0]], isReplaced(stored.entry) {
            replace(stored, with: entry)
            uses.use(found[0])
            return evict()
        }
        var rest = remove(from: key, where: isReplaced)
        if rest.count == CacheKey.variantLimit { release(rest.removeFirst()) }
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        rest.append(slot)
        variants[key] = rest
        let stored = Stored(entry, key)
        byteCount += stored.size
        slots[slot] = stored
        uses.use(slot)
        evict()
    }

    mutating func update(_ id: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) {
        guard let slot = variants[key]?.first(where: { slots[$0]?.entry.id == id }), let stored = slots[slot] else {
            return
        }
        replace(stored, with: stored.entry.with(response))
        evict()
    }

    private mutating func replace(_ stored: Stored, with entry: CacheEntry) {
        byteCount -= stored.size
        stored.entry = entry
        byteCount += stored.size
    }

    /// Removes the variants of a key for which the closure returns `true`.
    mutating func removeAll(of key: CacheKey, where isRemoved: (CacheEntry) -> Bool) {
        let rest = remove(from: key, where: isRemoved)
        variants[key] = rest.isEmpty ? nil : rest
    }

    /// Releases the slots of some variants, and returns the key's other slots, which the caller puts back.
    private mutating func remove(from key: CacheKey, where isRemoved: (CacheEntry) -> Bool) -> [Int] {
        guard var rest = variants.updateValue([], forKey: key) else { return [] }
        rest.removeAll { slot in
            guard let entry = slots[slot]?.entry, isRemoved(entry) else { return false }
            release(slot)
            return true
        }
        return rest
    }

    private mutating func release(_ slot: Int) {
        byteCount -= slots[slot]?.size ?? 0
        slots[slot] = nil
        free.append(slot)
        uses.remove(slot)
    }

    /// Evicts the least recently used responses until at most `count` bytes remain.
    mutating func trim(to count: Int) {
        while byteCount > count, uses.leastRecent != nil { evictOne() }
    }

    private mutating func evict() {
        while byteCount > byteLimit || count > entryLimit, uses.leastRecent != nil { evictOne() }
    }

    private mutating func evictOne() {
        guard let slot = uses.leastRecent, let stored = slots[slot] else { return }
        removeAll(of: stored.key) { $0.id == stored.entry.id }
    }
}
