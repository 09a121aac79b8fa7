/// Passes changes to a closure one at a time, in order, on a separate task.
final class SerialPersister<Change: Sendable>: Sendable {
    private enum Item {
        case change(Change)
        case mark(CheckedContinuation<Void, Never>)
    }

    private let items: AsyncStream<Item>.Continuation

    init(_ persist: @escaping @Sendable (Change) async -> Void) {
        let (stream, items) = AsyncStream.makeStream(of: Item.self)
        self.items = items
        Task(executorPreference: StartedWork.watcher) {
            for await item in stream {
                switch item {
                case .change(let change): await persist(change)
                case .mark(let continuation): continuation.resume()
                }
            }
        }
    }

    // The task still handles the changes that are already queued, and then ends.
    deinit { items.finish() }

    func enqueue(_ change: Change) { items.yield(.change(change)) }

    func finishPending() async {
        await withCheckedContinuation { items.yield(.mark($0)) }
    }
}
