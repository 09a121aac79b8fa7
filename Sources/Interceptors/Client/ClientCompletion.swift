extension Client {
    /// Any call, for code that isn't asynchronous.
    ///
    /// ```swift
    /// let task = api.run {
    ///     try await $0.get("/users/42", as: User.self)
    /// } completion: { @MainActor result in
    ///     show(result)
    /// }
    /// task.cancel()       // the completion gets CancellationError
    /// ```
    /// - Parameters:
    ///   - call: the call, on the client that it is given.
    ///   - completion: called once, always, on the actor that it is isolated to; without one, on no particular thread.
    /// - Returns: the task, to cancel it or to wait for the completion to return. It runs on if it is dropped.
    @discardableResult
    public func run<Value: Sendable>(
        _ call: @escaping @Sendable (Client) async throws -> Value,
        completion: @escaping @isolated(any) @Sendable (Result<Value, any Error>) -> Void
    ) -> Task<Void, Never> {
        Task {
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
