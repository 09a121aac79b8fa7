#if canImport(Combine)
public import Combine
internal import Synchronization

extension Client {
    /// Wraps any call in a publisher of its single value.
    ///
    /// ```swift
    /// var cancellables: Set<AnyCancellable> = []
    /// api.publisher { try await $0.get("/users/42", as: User.self) }
    ///     .receive(on: DispatchQueue.main)
    ///     .sink { completion in finish(completion) } receiveValue: { user in show(user) }
    ///     .store(in: &cancellables)
    /// ```
    /// Nothing is sent until a subscriber requests a value, and each subscriber makes a separate call. Cancelling the
    /// subscription cancels the call; nothing is delivered afterwards. Values may arrive on any thread.
    ///
    /// - Parameter call: the call to make, given this client.
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

// Sendable although subscribers aren't: `deliver` runs at most once, in a task that starts at most once. Combine lets a
// subscription call its subscriber from any thread, one call at a time.
private final class CallSubscription<Value: Sendable>: Subscription, @unchecked Sendable {
    private enum State {
        /// No value has been requested.
        case idle
        /// The call is running.
        case running(Task<Void, Never>)
        /// Delivered or cancelled.
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

    /// Ends the subscription and returns its previous state.
    private func end() -> State {
        state.withLock { state in
            defer { state = .ended }
            return state
        }
    }
}
#endif
