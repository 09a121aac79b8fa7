extension Transport where Self == StubTransport {
    /// A stub that gives these answers, each once, in order.
    ///
    /// ```swift
    /// let client = Client(baseURL: url, transport: .stub(.json(#"{"id":42}"#), .status(503)))
    /// ```
    /// If the test inspects the requests that arrived, keep the stub in a constant instead.
    public static func stub(_ answers: StubAnswer..., fileID: String = #fileID, line: Int = #line) -> Self {
        let stub = StubTransport()
        stub.enqueue(answers, CodeLocation(fileID: fileID, line: line))
        return stub
    }

    /// A stub whose closure answers every request.
    ///
    /// ```swift
    /// let client = Client(baseURL: url, transport: .stub { request in HTTPResponse(status: 204) })
    /// ```
    /// - Parameters:
    ///   - time: its clock measures time limits.
    ///   - answer: answers a request. If the closure throws, the call throws the same error.
    public static func stub(
        time: TimeSource = .system,
        _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> Self {
        StubTransport(time: time, answer)
    }
}
