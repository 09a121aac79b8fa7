internal import Foundation
internal import Interceptors

/// What a ``MemoryCacheStore`` holds, as a value: each response in a place of its own, found by its key alone.
struct MemoryTable {
    /// A response and its body: one reference, whoever looks at it.
    final class Stored: Sendable {
        let id: UInt64
        let key: CacheKey
        let response: CachedResponse
        let body: Data
        let size: Int

        fileprivate init(id: UInt64, key: CacheKey, response: CachedResponse, body: Data) {
            self.id = id
            self.key = key
            self.response = response
            self.body = body
            size =
                body.count + Self.size(of: response.headerFields) + Self.size(of: response.selectingFields)
                + key.url.utf8.count + key.partition.utf8.count + 256
        }

        private static func size(of fields: HTTPFields) -> Int {
            var size = 0
            for place in fields.indices {
                size += fields[place].name.rawName.utf8.count + fields[place].value.utf8.count + 64
            }
            return size
        }

        var listing: CacheListing { CacheListing(key: key, response: response, length: Int64(body.count)) }
    }

    private struct Place {
        var stored: Stored?
        /// Where the next variant of the key is, in the order in which they were stored.
        var next: Int?
    }

    // A key with more variants than these varies by something that never comes again.
    private static let variantLimit = 16

    private let byteLimit: Int
    private let entryLimit: Int
    private var firsts: [CacheKey: Int] = [:]
    private var places: [Place] = []
    private var free: [Int] = []
    private var uses = RecentUse()
    private var lastID: UInt64 = 0
    private(set) var byteCount = 0

    init(byteLimit: Int, entryLimit: Int) {
        self.byteLimit = byteLimit
        self.entryLimit = entryLimit
    }

    var count: Int { uses.count }

    /// Everything, in no particular order.
    var all: [Stored] { places.compactMap(\.stored) }

    /// The variants of a key, each of which has been used thereby.
    mutating func use(_ key: CacheKey) -> [CacheEntry] {
        var entries: [CacheEntry] = []
        var place = firsts[key]
        while let current = place, let stored = places[current].stored {
            uses.use(current)
            entries.append(CacheEntry(stored))
            place = places[current].next
        }
        return entries
    }

    /// Stores a response in place of those named, and of any of the key with the same selecting fields.
    mutating func insert(_ response: CachedResponse, _ body: Data, for key: CacheKey, replacing: [CacheEntry.ID]) {
        lastID += 1
        let new = Stored(id: lastID, key: key, response: response, body: body)
        func isReplaced(_ stored: Stored) -> Bool {
            replacing.contains(stored.id) || stored.response.selectingFields == response.selectingFields
        }
        // Most keys have one response, which a newer one replaces: it takes over the place.
        if let first = firsts[key], places[first].next == nil, let stored = places[first].stored, isReplaced(stored) {
            byteCount -= stored.size
            put(new, at: first)
        } else {
            removeAll(of: key, where: isReplaced)
            let place = free.popLast() ?? places.count
            if place == places.count { places.append(Place()) }
            link(place, to: key)
            put(new, at: place)
        }
        evict()
    }

    private mutating func put(_ stored: Stored, at place: Int) {
        places[place].stored = stored
        byteCount += stored.size
        uses.use(place)
    }

    // After the other variants, of which the first goes if there are too many.
    private mutating func link(_ place: Int, to key: CacheKey) {
        guard let first = firsts[key] else { return firsts[key] = place }
        var last = first
        var count = 1
        while let next = places[last].next { (last, count) = (next, count + 1) }
        places[last].next = place
        if count >= Self.variantLimit, let id = places[first].stored?.id { removeAll(of: key) { $0.id == id } }
    }

    mutating func update(_ id: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) {
        var place = firsts[key]
        while let current = place, let stored = places[current].stored {
            if stored.id == id {
                let new = Stored(id: id, key: key, response: response, body: stored.body)
                places[current].stored = new
                byteCount += new.size - stored.size
                return evict()
            }
            place = places[current].next
        }
    }

    /// Removes the variants of a key that a closure chooses.
    mutating func removeAll(of key: CacheKey, where isRemoved: (Stored) -> Bool) {
        var before: Int?
        var place = firsts[key]
        while let current = place, let stored = places[current].stored {
            let next = places[current].next
            place = next
            guard isRemoved(stored) else {
                before = current
                continue
            }
            if let before { places[before].next = next } else { firsts[key] = next }
            places[current] = Place()
            free.append(current)
            uses.remove(current)
            byteCount -= stored.size
        }
    }

    private mutating func evict() {
        while byteCount > byteLimit || count > entryLimit, let place = uses.leastRecent,
            let stored = places[place].stored
        {
            removeAll(of: stored.key) { $0.id == stored.id }
        }
    }
}

extension CacheEntry {
    fileprivate init(_ stored: MemoryTable.Stored) {
        self.init(id: stored.id, response: stored.response, length: Int64(stored.body.count)) { range in
            let body = stored.body
            let start = body.startIndex + Int(range.lowerBound)
            return HTTPBody(range.count == body.count ? body : Data(body[start..<(start + range.count)]))
        }
    }
}
