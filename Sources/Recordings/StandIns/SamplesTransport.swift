public import InterceptorsCore

/// A transport that answers each endpoint with its sample, for previews and tests.
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
/// No bundle of tests is needed: `import Recordings` is enough in a preview.
///
/// A request without an endpoint, made by a verb such as `get` or by hand, has no sample. It fails with `HTTPErrorCode.noStub`,
/// as does the request of an endpoint that declares none, unless another transport was given.
///
/// The transport behaves as `StubTransport` does: time limits, progress, streams and cancellation are those of a real one.
public struct SamplesTransport: Transport {
    private let delay: Duration
    private let fallback: (any Transport)?
    private let clock: any Clock<Duration>

    fileprivate init(delay: Duration, fallback: (any Transport)?, time: TimeSource) {
        self.delay = delay
        self.fallback = fallback
        clock = time.clock
    }

    /// Answers a request with the sample of its endpoint.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.noStub` if there is no sample. Rethrows the failure that a sample is.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try Task.checkCancellation()
        try request.validate()
        guard let endpoint = request.context.endpoint else {
            let reason =
                "A sample belongs to an endpoint, and this request was made by a verb or by hand. Call an endpoint, api.call(…)."
            return try await respondWithoutSample(to: request, reason)
        }
        let answer = endpoint.sample
        if case .failure(let error as TransportError) = answer.content, error.code == .noStub {
            return try await respondWithoutSample(to: request, error.message)
        }
        request.note(CallNote("source", "sample of \(type(of: endpoint))"))
        let recorded = try await StubExchange.receive(request, clock: clock).recorded
        return try await StubExchange.response(of: answer.delayed(by: delay), to: recorded, clock: clock)
    }

    private func respondWithoutSample(to request: HTTPRequest, _ reason: String) async throws -> HTTPResponse {
        guard let fallback else { throw TransportError(.noStub, reason, request: request) }
        return try await fallback.send(request)
    }
}

extension Transport where Self == SamplesTransport {
    /// The samples of endpoints: see ``SamplesTransport``.
    public static var samples: Self { samples() }

    /// The samples of endpoints, after a delay: see ``SamplesTransport``.
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
        orElse fallback: (any Transport)? = nil,
        time: TimeSource = .system
    ) -> Self {
        Self(delay: delay, fallback: fallback, time: time)
    }
}
