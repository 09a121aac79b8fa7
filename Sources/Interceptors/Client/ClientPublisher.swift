#if canImport(Combine)
public import Combine
internal import Synchronization

extension Client {
    /// Any call as a publisher of its one value.
    ///
    /// ```swift
    /// var cancellables: Set<AnyCancellable> = []
    /// api.publisher { try await $0.get("/users/42", as: User.self) }
    ///     .receive(on: DispatchQueue.main)
    ///     .sink { completion in finish(completion) } receiveValue: { user in show(user) }
    ///     .store(in: &cancellables)
    /// ```
    /// Nothing is sent before a subscriber asks for a value, and each subscriber has a call of its own. Cancelling the
    /// subscription cancels the call, and then nothing more is delivered. Values come on no particular thread.
    ///
    /// - Parameter call: the call, on the client that it is given.
    public func publisher<Value: Sendable>(
        _ call: @escaping @Sendable (Client) async throws -> Value
    ) -> AnyPublisher<Value, any Error> {
        CallPublisher { try await call(self) }.eraseToAnyPublisher()
    }
}

private struct CallPublisher<Output: Sendable>: Publisher {
    typealias Failure = any Error
    let call: @Sendable () async throws -> Output

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == any Error {
        let subscription = CallSubscription(call: call) { result in
            switch result {
            case .success(let value):
                _ = subscriber.receive(value)
                subscriber.receive(completion: .finished)
            case .failure(let error):
                subscriber.receive(completion: .failure(error))
            }
        }
        subscriber.receive(subscription: subscription)
    }
}

// Sendable, though subscribers aren't: `deliver` runs at most once, in the task that is started at most once, and Combine
// lets a subscription call its subscriber from any thread, one call at a time.
private final class CallSubscription<Value: Sendable>: Subscription, @unchecked Sendable {
    private enum State {
        /// No value was asked for.
        case idle
        /// The call is under way.
        case running(Task<Void, Never>)
        /// Delivered or cancelled: there is nothing more to do.
        case ended
    }

    private let call: @Sendable () async throws -> Value
    private let deliver: (Result<Value, any Error>) -> Void
    private let state = Mutex(State.idle)

    init(call: @escaping @Sendable () async throws -> Value, deliver: @escaping (Result<Value, any Error>) -> Void) {
        self.call = call
        self.deliver = deliver
    }

    func request(_ demand: Subscribers.Demand) {
        guard demand > .none else { return }
        state.withLock { state in
            guard case .idle = state else { return }
            state = .running(Task { await self.run() })
        }
    }

    func cancel() {
        if case .running(let task) = end() { task.cancel() }
    }

    private func run() async {
        let result: Result<Value, any Error>
        do {
            result = .success(try await call())
        } catch {
            result = .failure(error)
        }
        if case .running = end() { deliver(result) }
    }

    /// Ends the subscription, and gives what it was before.
    private func end() -> State {
        state.withLock { state in
            defer { state = .ended }
            return state
        }
    }
}
#endif
