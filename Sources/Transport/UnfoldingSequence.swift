/// A sequence made by a closure, which makes each element from a state of the iteration.
///
/// ```text
/// UnfoldingSequence(from: { body.makeAsyncIterator() }) { chunks in
///     try await chunks.next().map(transform)
/// }
/// ```
/// The closure runs on the reader's actor. Give it no capture list, because Swift 6.2 then takes it for a concurrent one. After the
/// end or an error, a reader may call it again; an ``HTTPBody`` doesn't.
package struct UnfoldingSequence<State, Element>: AsyncSequence, Sendable {
    private let begin: @Sendable () -> State
    private let step: @Sendable (inout State) async throws -> Element?

    /// - Parameters:
    ///   - begin: makes the state of one iteration.
    ///   - step: makes the next element; `nil` at the end.
    package init(
        from begin: @escaping @Sendable () -> State,
        step: @escaping @Sendable (inout State) async throws -> Element?
    ) {
        self.begin = begin
        self.step = step
    }

    package func makeAsyncIterator() -> Iterator { Iterator(state: begin(), step: step) }

    package struct Iterator: AsyncIteratorProtocol {
        fileprivate var state: State
        fileprivate let step: @Sendable (inout State) async throws -> Element?

        package mutating func next() async throws -> Element? { try await step(&state) }

        package mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            try await step(&state)
        }
    }
}
