extension Transport where Self == StubTransport {
    /// A stub that gives these answers, each once, in order.
    ///
    /// ```swift
    /// let client = Client(baseURL: url, transport: .stub(.json(#"{"id":42}"#), .status(503)))
    /// ```
    /// Keep the stub in a constant instead if the test asks it for the requests that arrived.
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
    ///   - answer: answers a request, or throws what the call is to throw.
    public static func stub(
        time: TimeSource = .system,
        _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) -> Self {
        StubTransport(time: time, answer)
    }
}
