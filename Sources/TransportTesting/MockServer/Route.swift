internal import Interceptors

/// An answer for the requests of one method, or of any, to the targets of a pattern.
struct Route: Sendable {
    enum Answer: Sendable {
        /// Known beforehand: the connection's thread gives it without a task.
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
