internal import InterceptorsCore

/// An answer for requests with a given method, or any method, whose targets match a pattern.
struct Route: Sendable {
    enum Answer: Sendable {
        /// A fixed response, which the connection's thread sends without a task.
        case response(StubAnswer)
        case closure(@Sendable (MockServer.Request) async throws -> StubAnswer)
    }

    let scope: StubScope
    let readsBody: Bool
    let answer: Answer
    let location: CodeLocation

    func matches(_ request: MockServer.Request) -> Bool { scope.matches(request.method, request.target) }
}

extension Route: CustomStringConvertible {
    var description: String { "\(scope) (\(location))" }
}
