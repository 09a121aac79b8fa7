extension Transport where Self == StubTransport {
    /// Answers each endpoint with its sample, for previews and tests.
    ///
    /// ```swift
    /// struct UserByID: Endpoint {
    ///     let id: Int
    ///     var request: EndpointRequest<User> { .get("/users/\(id)") }
    ///     var sample: StubAnswer { .json(encoding: User(id: id, name: "Ada")) }
    /// }
    ///
    /// let api = Client(baseURL: url, transport: .samples)
    /// let user = try await api.call(UserByID(id: 42))
    /// ```
    /// No bundle of tests is needed: `import InterceptorsRecordings` is enough in a preview.
    ///
    /// A request without an endpoint, made by a verb such as `get` or by hand, has no sample. It fails with `HTTPErrorCode.noStub`,
    /// as does the request of an endpoint that declares none, unless another transport is given.
    public static var samples: Self { samples() }

    /// The samples of endpoints, after a delay.
    ///
    /// ```swift
    /// let slow = Client(baseURL: url, transport: .samples(delay: .seconds(2)))    // shows how the view waits
    /// ```
    /// - Parameters:
    ///   - delay: the wait before each answer, to which a sample's own delay is added.
    ///   - fallback: receives the requests without a sample; by default they fail.
    ///   - time: its clock measures delays and time limits.
    public static func samples(
        delay: Duration = .zero,
        fallback: (any Transport)? = nil,
        time: TimeSource = .system
    ) -> Self {
        let transport = StubTransport(forgettingRequests: true, fallback: fallback, time: time)
        let sample = StubAnswer.choosing { request in
            let sample = try request.sample()
            if let endpoint = request.context.endpoint {
                request.note(CallNote("source", "sample of \(type(of: endpoint))"))
            }
            return sample
        }
        // Without a fallback, the error says why there is no sample.
        transport.on({ fallback == nil || (try? $0.sample()) != nil }, sample.delayed(by: delay))
        return transport
    }
}

extension HTTPRequest {
    /// The sample of the request's endpoint.
    fileprivate func sample() throws -> StubAnswer {
        guard let endpoint = context.endpoint else {
            let reason =
                "A sample belongs to an endpoint, and this request was made by a verb or by hand. Call an endpoint, api.call(…)."
            throw TransportError(.noStub, reason, request: self)
        }
        let sample = endpoint.sample
        if case .failure(let error as TransportError) = sample.content, error.code == .noStub {
            throw TransportError(.noStub, error.message, request: self)
        }
        return sample
    }
}
