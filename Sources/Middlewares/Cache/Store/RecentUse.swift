/// The slots of an array in the order of their last use: a doubly linked list, so that every operation takes constant time.
struct RecentUse {
    private struct Node {
        var newer = RecentUse.none
        var older = RecentUse.none
        var isUsed = false
    }

    private static let none = -1
    private var nodes: [Node] = []
    private var newest = none
    private var oldest = none

    private(set) var count = 0

    /// The least recently used slot.
    var leastRecent: Int? { oldest == Self.none ? nil : oldest }

    /// Marks a slot, which may be new, as the most recently used.
    mutating func use(_ place: Int) {
        if place == newest { return }
        while nodes.count <= place { nodes.append(Node()) }
        if nodes[place].isUsed { unlink(place) } else { count += 1 }
        link(place)
    }

    mutating func remove(_ place: Int) {
        guard place < nodes.count, nodes[place].isUsed else { return }
        unlink(place)
        nodes[place].isUsed = false
        count -= 1
    }

    private mutating func link(_ place: Int) {
        nodes[place] = Node(newer: Self.none, older: newest, isUsed: true)
        if newest == Self.none { oldest = place } else { nodes[newest].newer = place }
        newest = place
    }

    private mutating func unlink(_ place: Int) {
        let (newer, older) = (nodes[place].newer, nodes[place].older)
        if newer == Self.none { newest = older } else { nodes[newer].older = older }
        if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
    }
}
