internal import Interceptors

/// An answer for requests with a given method, or any method, whose targets match a pattern.
struct Route: Sendable {
    enum Answer: Sendable {
        /// A fixed response, which the connection's thread sends without a task.
        case response(MockResponse)
        case closure(@Sendable (MockServer.Request) async throws -> MockResponse)
    }

    let method: HTTPRequest.Method?
    let pattern: StubPattern
    let readsBody: Bool
    let answer: Answer

    func matches(_ request: MockServer.Request) -> Bool {
        (method == nil || method == request.method) && pattern.matches(request.target)
    }
}

extension Route: CustomStringConvertible {
    var description: String { "\(method?.rawValue ?? "any method") \(pattern.text)" }
}
