/// The slots of an array in the order of their last use: a doubly linked list, so that every operation takes constant time.
package struct RecentUse {
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

    /// Creates an empty order.
    package init() {}

    /// The least recently used slot.
    package var leastRecent: Int? { oldest == Self.none ? nil : oldest }

    /// Marks a slot, which may be new, as the most recently used.
    package mutating func use(_ slot: Int) {
        if slot == newest { return }
        while nodes.count <= slot { nodes.append(Node()) }
        if nodes[slot].isUsed { unlink(slot) } else { count += 1 }
        link(slot)
    }

    package mutating func remove(_ slot: Int) {
        guard slot < nodes.count, nodes[slot].isUsed else { return }
        unlink(slot)
        nodes[slot].isUsed = false
        count -= 1
    }

    private mutating func link(_ slot: Int) {
        nodes[slot] = Node(newer: Self.none, older: newest, isUsed: true)
        if newest == Self.none { oldest = slot } else { nodes[newest].newer = slot }
        newest = slot
    }

    private mutating func unlink(_ slot: Int) {
        let (newer, older) = (nodes[slot].newer, nodes[slot].older)
        if newer == Self.none { newest = older } else { nodes[newer].older = older }
        if older == Self.none { oldest = newer } else { nodes[older].newer = newer }
    }
}
