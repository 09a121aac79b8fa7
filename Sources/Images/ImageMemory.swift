internal import InterceptorsMiddlewares

/// The decoded images of a loader, as a value: found by their keys, and evicted in the order of their last use.
///
/// The loader's lock guards the value. Methods return the entries that they remove, so that the caller releases them outside the
/// lock.
struct ImageMemory<Image: Sendable>: Sendable {
    /// An entry. Its key may hold the last reference to a part of a variant.
    struct Stored: Sendable {
        let key: ImageKey
        let image: Image
        let cost: Int
    }

    private let limit: Int
    private var slots: [Stored?] = []
    private var places: [ImageKey: Int] = [:]
    private var free: [Int] = []
    private var uses = RecentUse()
    /// The sum of the images' costs, never above the limit.
    private(set) var cost = 0

    init(limit: Int) { self.limit = max(0, limit) }

    var count: Int { places.count }

    /// The image of a key, which counts as a use.
    mutating func use(_ key: ImageKey) -> Image? {
        guard let slot = places[key] else { return nil }
        uses.use(slot)
        return slots[slot]?.image
    }

    /// Stores an image in place of an earlier one. An image that costs more than the limit isn't stored.
    ///
    /// - Parameter cost: counts at least 1, so that the limit bounds the number of images too.
    mutating func insert(_ image: Image, cost given: Int, for key: ImageKey) -> [Stored] {
        let cost = max(1, given)
        var removed = places[key].map { remove($0) } ?? []
        guard cost <= limit else { return removed }
        removed += trim(to: limit - cost)
        let slot = free.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        slots[slot] = Stored(key: key, image: image, cost: cost)
        places[key] = slot
        uses.use(slot)
        self.cost += cost
        return removed
    }

    /// Removes the least recently used images until the others cost at most this.
    mutating func trim(to cost: Int) -> [Stored] {
        var removed: [Stored] = []
        while self.cost > cost, let slot = uses.leastRecent { removed += remove(slot) }
        return removed
    }

    /// Removes the images of some keys.
    mutating func removeAll(where isRemoved: (ImageKey) -> Bool) -> [Stored] {
        places.filter { isRemoved($0.key) }.flatMap { remove($0.value) }
    }

    private mutating func remove(_ slot: Int) -> [Stored] {
        guard let stored = slots[slot] else { return [] }
        slots[slot] = nil
        places[stored.key] = nil
        free.append(slot)
        uses.remove(slot)
        cost -= stored.cost
        return [stored]
    }
}
