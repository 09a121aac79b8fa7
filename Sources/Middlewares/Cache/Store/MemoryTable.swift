internal import Foundation
internal import Interceptors

/// What a ``MemoryCacheStore`` holds, as a value: each response in a place of its own, found by its key alone.
struct MemoryTable {
    struct Stored {
        let id: UInt64
        let key: CacheKey
        var response: CachedResponse
        let body: Data
        var size: Int
        /// Where the next variant of the key is, in the order in which they were stored.
        fileprivate var next: Int?

        var listing: CacheListing { CacheListing(key: key, response: response, length: Int64(body.count)) }
    }

    // A key with more variants than these varies by something that never comes again.
    private static let variantLimit = 16

    private let byteLimit: Int
    private let entryLimit: Int
    private var firsts: [CacheKey: Int] = [:]
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

    /// Everything, in no particular order.
    var all: [Stored] { places.compactMap(\.self) }

    /// The variants of a key, each of which has been used thereby.
    mutating func use(_ key: CacheKey) -> [CacheEntry] {
        guard let first = firsts[key] else { return [] }
        var entries: [CacheEntry] = []
        var place: Int? = first
        while let current = place, let stored = places[current] {
            uses.use(current)
            entries.append(CacheEntry(id: stored.id, response: stored.response, body: stored.body))
            place = stored.next
        }
        return entries
    }

    /// Stores a response in place of those named, and of any of the key with the same selecting fields.
    mutating func insert(_ response: CachedResponse, _ body: Data, for key: CacheKey, replacing: [CacheEntry.ID]) {
        lastID += 1
        let size = Self.size(of: response, key, body)
        let new = Stored(id: lastID, key: key, response: response, body: body, size: size)
        func isReplaced(_ stored: Stored) -> Bool {
            replacing.contains(stored.id) || stored.response.selectingFields == response.selectingFields
        }
        // Most keys have one response, which a newer one replaces: it takes over the place.
        if let first = firsts[key], let stored = places[first], stored.next == nil, isReplaced(stored) {
            byteCount -= stored.size
            put(new, at: first)
        } else {
            removeAll(of: key, where: isReplaced)
            let place = free.popLast() ?? places.count
            if place == places.count { places.append(nil) }
            link(place, to: key)
            put(new, at: place)
        }
        evict()
    }

    private mutating func put(_ stored: Stored, at place: Int) {
        places[place] = stored
        byteCount += stored.size
        uses.use(place)
    }

    // After the other variants, of which the first goes if there are too many.
    private mutating func link(_ place: Int, to key: CacheKey) {
        guard let first = firsts[key] else { return firsts[key] = place }
        var last = first
        var count = 1
        while let next = places[last]?.next { (last, count) = (next, count + 1) }
        places[last]?.next = place
        if count >= Self.variantLimit, let id = places[first]?.id { removeAll(of: key) { $0.id == id } }
    }

    mutating func update(_ id: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) {
        var place = firsts[key]
        while let current = place, let stored = places[current] {
            if stored.id == id {
                let size = Self.size(of: response, key, stored.body)
                byteCount += size - stored.size
                places[current]?.response = response
                places[current]?.size = size
                return evict()
            }
            place = stored.next
        }
    }

    /// Removes the variants of a key that a closure chooses.
    mutating func removeAll(of key: CacheKey, where isRemoved: (Stored) -> Bool) {
        var before: Int?
        var place = firsts[key]
        while let current = place, let stored = places[current] {
            place = stored.next
            guard isRemoved(stored) else {
                before = current
                continue
            }
            if let before { places[before]?.next = stored.next } else { firsts[key] = stored.next }
            places[current] = nil
            free.append(current)
            uses.remove(current)
            byteCount -= stored.size
        }
    }

    private mutating func evict() {
        while byteCount > byteLimit || count > entryLimit, let place = uses.leastRecent, let stored = places[place] {
            removeAll(of: stored.key) { $0.id == stored.id }
        }
    }

    private static func size(of response: CachedResponse, _ key: CacheKey, _ body: Data) -> Int {
        body.count + size(of: response.headerFields) + size(of: response.selectingFields) + key.url.utf8.count
            + key.partition.utf8.count + 256
    }

    private static func size(of fields: HTTPFields) -> Int {
        var size = 0
        for field in fields { size += field.name.rawName.utf8.count + field.value.utf8.count + 64 }
        return size
    }
}

extension CacheEntry {
    fileprivate init(id: ID, response: CachedResponse, body: Data) {
        self.init(id: id, response: response, length: Int64(body.count)) { range in
            let start = body.startIndex + Int(range.lowerBound)
            return HTTPBody(range.count == body.count ? body : Data(body[start..<(start + range.count)]))
        }
    }
}
