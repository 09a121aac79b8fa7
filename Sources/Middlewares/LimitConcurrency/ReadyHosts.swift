/// The hosts that wait for nothing but a permit of all, in the order in which the first in their lines came: a heap.
///
/// Whoever asks must see for itself whether what it says still holds, and drop it if not: nobody looks through it for what has
/// changed meanwhile.
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

    /// Keeps what still holds.
    mutating func filter(_ holds: (Entry) -> Bool) {
        // What is sorted is a heap.
        heap = heap.filter(holds).sorted { $0.ticket < $1.ticket }
    }
}
