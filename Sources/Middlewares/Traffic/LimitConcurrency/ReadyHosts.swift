/// A heap of the hosts that wait only for the total limit, ordered by the arrival of each host's first waiter.
///
/// Entries can be stale, because no change searches the heap. The user checks the first entry and drops it if it is stale.
struct ReadyHosts: Sendable {
    struct Entry: Sendable {
        let ticket: Int
        let scope: LimitScope
    }

    private var heap: [Entry] = []

    var count: Int { heap.count }
    var first: Entry? { heap.first }

    mutating func insert(_ ticket: Int, _ scope: LimitScope) {
        heap.append(Entry(ticket: ticket, scope: scope))
        var place = heap.count - 1
        while place > 0, heap[place].ticket < heap[(place - 1) / 2].ticket {
            heap.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func dropFirst() {
        guard let last = heap.popLast(), !heap.isEmpty else { return }
        heap[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                if heap[child].ticket < heap[least].ticket { least = child }
            }
            guard least != place else { return }
            heap.swapAt(place, least)
            place = least
        }
    }

    /// Keeps only the entries for which `holds` returns `true`.
    mutating func filter(_ holds: (Entry) -> Bool) {
        // A sorted array is a valid heap.
        heap = heap.filter(holds).sorted { $0.ticket < $1.ticket }
    }
}
