internal import Foundation
internal import Interceptors

/// The content of a ``MemoryCacheStore``: responses in the slots of an array, found by their keys.
///
/// The variants of a key form a linked list of slots; ``firsts`` finds the first by the key's hash. ``uses`` orders all slots
/// by their last use, for eviction. The store's lock guards the table.
struct MemoryTable {
    /// A response with its body, its key and the link to the key's next variant.
    private final class Stored {
        let key: CacheKey
        private(set) var entry: CacheEntry
        private(set) var size: Int
        /// The slot of the key's next variant, in the order in which they were stored.
        var next: Int?

        init(_ entry: CacheEntry, _ key: CacheKey) {
            self.key = key
            self.entry = entry
            size = Self.size(of: entry, key)
        }

        /// Replaces the entry in place, and returns by how many bytes it grew.
        func replace(with entry: CacheEntry) -> Int {
            let old = size
            self.entry = entry
            size = Self.size(of: entry, key)
            return size - old
        }

        private static func size(of entry: CacheEntry, _ key: CacheKey) -> Int {
            Int(entry.length) + size(of: entry.response.headerFields) + size(of: entry.response.selectingFields)
                + key.url.utf8.count + key.partition.utf8.count + 256
        }

        private static func size(of fields: HTTPFields) -> Int {
            var size = 0
            for place in fields.indices {
                size += fields[place].name.rawName.utf8.count + fields[place].value.utf8.count + 64
            }
            return size
        }
    }

    // A response with more variants varies by values that never repeat.
    private static let variantLimit = 16

    private let byteLimit: Int
    private let entryLimit: Int
    /// The slot of each key's first variant.
    private var firsts = PlaceIndex()
    private var places: [Stored?] = []
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
    var all: [(id: CacheEntry.ID, listing: CacheEntrySummary)] {
        places.compactMap { stored in
            guard let stored else { return nil }
            let entry = stored.entry
            return (entry.id, CacheEntrySummary(key: stored.key, response: entry.response, length: entry.length))
        }
    }

    /// Returns the variants of a key, and marks each as just used.
    mutating func use(_ key: CacheKey) -> [CacheEntry] {
        guard let first = first(of: key), let stored = places[first] else { return [] }
        uses.use(first)
        var entries = [stored.entry]
        var place = stored.next
        while let current = place, let stored = places[current] {
            uses.use(current)
            entries.append(stored.entry)
            place = stored.next
        }
        return entries
    }

    private func first(of key: CacheKey) -> Int? {
        firsts.place(key.hash) { place in
            guard let stored = places[place] else { return false }
            return stored.key == key
        }
    }

    /// The body of the first variant of a key.
    func firstBody(of key: CacheKey) -> Data? { first(of: key).flatMap { places[$0]?.entry.bytes } }

    /// Stores a response in place of the named entries, and of any variant of the key with the same selecting fields.
    mutating func insert(
        _ response: CachedResponse,
        _ body: Data,
        for key: CacheKey,
        replacing: [CacheEntry.ID]
    ) {
        lastID += 1
        func isReplaced(_ entry: CacheEntry) -> Bool {
            // A 304 may have changed the selecting fields of the named entries.
            replacing.contains(entry.id) || entry.response.selectingFields == response.selectingFields
        }
        // Most keys have one response, and a newer response takes over its slot.
        if let first = first(of: key), let stored = places[first], stored.next == nil,
            isReplaced(stored.entry)
        {
            let new = CacheEntry(id: lastID, response: response, body: body)
            byteCount += stored.replace(with: new)
            uses.use(first)
        } else {
            removeAll(of: key, where: isReplaced)
            let place = free.popLast() ?? places.count
            if place == places.count { places.append(nil) }
            link(place, to: key)
            let stored = Stored(CacheEntry(id: lastID, response: response, body: body), key)
            byteCount += stored.size
            places[place] = stored
            uses.use(place)
        }
        evict()
    }

    // Appends to the key's list. At the limit of variants, the oldest is removed.
    private mutating func link(_ place: Int, to key: CacheKey) {
        guard let first = first(of: key) else { return firsts.insert(place, key.hash) }
        var last = first
        var count = 1
        while let next = places[last]?.next { (last, count) = (next, count + 1) }
        places[last]?.next = place
        if count >= Self.variantLimit, let id = places[first]?.entry.id { removeAll(of: key) { $0.id == id } }
    }

    mutating func update(_ id: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) {
        var place = first(of: key)
        while let current = place, let stored = places[current] {
            if stored.entry.id == id {
                byteCount += stored.replace(with: stored.entry.with(response))
                return evict()
            }
            place = stored.next
        }
    }

    /// Removes the variants of a key for which the closure returns `true`.
    mutating func removeAll(of key: CacheKey, where isRemoved: (CacheEntry) -> Bool) {
        var before: Int?
        var place = first(of: key)
        while let current = place, let stored = places[current] {
            place = stored.next
            guard isRemoved(stored.entry) else {
                before = current
                continue
            }
            if let before {
                places[before]?.next = place
            } else {
                firsts.remove(current)
                if let place { firsts.insert(place, key.hash) }
            }
            places[current] = nil
            free.append(current)
            uses.remove(current)
            byteCount -= stored.size
        }
    }

    /// Evicts the least recently used responses until at most `count` bytes remain.
    mutating func trim(to count: Int) {
        while byteCount > count, let place = uses.leastRecent, let stored = places[place] {
            let id = stored.entry.id
            removeAll(of: stored.key) { $0.id == id }
        }
    }

    private mutating func evict() {
        while byteCount > byteLimit || count > entryLimit, let place = uses.leastRecent, let stored = places[place] {
            let id = stored.entry.id
            removeAll(of: stored.key) { $0.id == id }
        }
    }
}
