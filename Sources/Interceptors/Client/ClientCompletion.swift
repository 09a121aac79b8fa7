extension Client {
    /// Makes any call from synchronous code.
    ///
    /// ```swift
    /// let task = api.run {
    ///     try await $0.get("/users/42", as: User.self)
    /// } completion: { @MainActor result in
    ///     show(result)
    /// }
    /// task.cancel()       // the completion receives CancellationError
    /// ```
    /// - Parameters:
    ///   - call: the call to make, given this client.
    ///   - completion: always called exactly once, on the actor the closure is isolated to. A nonisolated closure may run on
    ///     any thread.
    /// - Returns: the task, to cancel the call or to wait until the completion has returned. Dropping the task doesn't cancel
    ///   the call.
    @discardableResult
    public func run<Value: Sendable>(
        _ call: @escaping @Sendable (Client) async throws -> Value,
        completion: @escaping @isolated(any) @Sendable (Result<Value, any Error>) -> Void
    ) -> Task<Void, Never> {
        Task(executorPreference: StartedWork.watcher) {
            let result: Result<Value, any Error>
            do {
                result = .success(try await call(self))
            } catch {
                result = .failure(error)
            }
            await completion(result)
        }
    }
}
