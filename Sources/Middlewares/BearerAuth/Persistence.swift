/// Hands changes to a closure one after the other, in their order, on a task of its own.
final class Persistence: Sendable {
    private enum Item {
        case change(TokenStore.Token?)
        case mark(CheckedContinuation<Void, Never>)
    }

    private let items: AsyncStream<Item>.Continuation

    init(_ persist: @escaping @Sendable (TokenStore.Token?) async -> Void) {
        let (stream, items) = AsyncStream.makeStream(of: Item.self)
        self.items = items
        Task {
            for await item in stream {
                switch item {
                case .change(let token): await persist(token)
                case .mark(let continuation): continuation.resume()
                }
            }
        }
    }

    // What is queued by then is still handed over.
    deinit { items.finish() }

    func enqueue(_ token: TokenStore.Token?) { items.yield(.change(token)) }

    func finishPending() async {
        await withCheckedContinuation { items.yield(.mark($0)) }
    }
}
