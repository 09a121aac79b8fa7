/// A hash table from hashes to slots of an array elsewhere: a dictionary that neither holds keys nor computes hashes.
///
/// The caller supplies the hashes, and compares the keys. Hashes must come from a seeded `Hasher`, so that nobody can choose
/// texts that collide.
struct PlaceIndex {
    private struct Node {
        var hash = 0
        var next = PlaceIndex.none
    }

    private static let none = -1
    /// The first slot of each chain. Their number is a power of two.
    private var heads: [Int] = Array(repeating: none, count: 16)
    private var nodes: [Node] = []
    private var count = 0

    /// The slot with this hash for which the closure returns `true`.
    func place(_ hash: Int, where isTheOne: (Int) -> Bool) -> Int? {
        var place = heads[hash & (heads.count - 1)]
        while place != Self.none {
            let node = nodes[place]
            if node.hash == hash, isTheOne(place) { return place }
            place = node.next
        }
        return nil
    }

    /// Adds a slot, which must not be in the table.
    mutating func insert(_ place: Int, _ hash: Int) {
        if count == heads.count { grow() }
        while nodes.count <= place { nodes.append(Node()) }
        nodes[place].hash = hash
        link(place)
        count += 1
    }

    /// Removes a slot, which must be in the table.
    mutating func remove(_ place: Int) {
        let head = nodes[place].hash & (heads.count - 1)
        if heads[head] == place {
            heads[head] = nodes[place].next
        } else {
            var before = heads[head]
            while nodes[before].next != place { before = nodes[before].next }
            nodes[before].next = nodes[place].next
        }
        count -= 1
    }

    private mutating func link(_ place: Int) {
        let head = nodes[place].hash & (heads.count - 1)
        nodes[place].next = heads[head]
        heads[head] = place
    }

    private mutating func grow() {
        let chains = heads
        heads = Array(repeating: Self.none, count: 2 * heads.count)
        for first in chains {
            var place = first
            while place != Self.none {
                let next = nodes[place].next
                link(place)
                place = next
            }
        }
    }
}
