/// Finds numbered places by the hash of what is in them: a dictionary whose keys stand elsewhere, and whose hashes have
/// been made before.
///
/// Hashes must be such that nobody can choose texts which share one, as those of a `Hasher` are.
struct PlaceIndex {
    private struct Node {
        var hash = 0
        var next = PlaceIndex.none
    }

    private static let none = -1
    /// The first place of each chain; a power of two of them.
    private var heads: [Int] = Array(repeating: none, count: 16)
    private var nodes: [Node] = []
    private var count = 0

    /// The place with this hash that is the one.
    func place(_ hash: Int, where isTheOne: (Int) -> Bool) -> Int? {
        var place = heads[hash & (heads.count - 1)]
        while place != Self.none {
            let node = nodes[place]
            if node.hash == hash, isTheOne(place) { return place }
            place = node.next
        }
        return nil
    }

    /// Adds a place that is not in it.
    mutating func insert(_ place: Int, _ hash: Int) {
        if count == heads.count { grow() }
        while nodes.count <= place { nodes.append(Node()) }
        nodes[place].hash = hash
        link(place)
        count += 1
    }

    /// Takes out a place that is in it.
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
