/// An order of IDs by their last use: each operation takes the same time, however many there are.
struct RecentUse {
    private struct Node {
        var id: UInt64
        var newer: Int
        var older: Int
    }

    private static let none = -1
    private var nodes: [Node] = []
    private var free: [Int] = []
    private var places: [UInt64: Int] = [:]
    private var newest = none
    private var oldest = none

    var count: Int { places.count }

    /// The ID whose last use is the longest ago.
    var leastRecent: UInt64? { oldest == Self.none ? nil : nodes[oldest].id }

    /// Makes the ID, which may be new, the most recently used.
    mutating func use(_ id: UInt64) {
        if let place = places[id] {
            if place == newest { return }
            unlink(place)
            link(place)
            return
        }
        let node = Node(id: id, newer: Self.none, older: Self.none)
        let place = free.popLast() ?? nodes.count
        if place == nodes.count { nodes.append(node) } else { nodes[place] = node }
        places[id] = place
        link(place)
    }

    mutating func remove(_ id: UInt64) {
        guard let place = places.removeValue(forKey: id) else { return }
        unlink(place)
        free.append(place)
    }

    private mutating func link(_ place: Int) {
        nodes[place].newer = Self.none
        nodes[place].older = newest
        if newest == Self.none { oldest = place } else { nodes[newest].newer = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (nodes[place].newer, nodes[place].older)
        if newer == Self.none { newest = older } else { nodes[newer].older = older }
        if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
    }
}
