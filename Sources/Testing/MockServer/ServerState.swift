internal import Foundation
internal import InterceptorsCore

/// The state shared by a server's threads and its users.
struct ServerState: Sendable {
    var routes: [Route] = []
    var queue: [StubAnswer] = []
    /// Answers what no route and no queued response answers.
    var fallback: (@Sendable (MockServer.Request) async -> StubAnswer)?
    /// Answers what no route and no queued response answers, and sees the head before the content is read.
    var admit: (@Sendable (MockServer.Request) -> MockServer.Intake)?
    private(set) var requests: [MockServer.Request] = []
    /// Whether received requests are kept. A program that serves for days keeps none.
    var keepsRequests = true
    /// The number of accepted connections.
    var opened = 0
    /// The number of connections that clients have ended.
    var closedByPeer = 0
    /// The open connections, with the controls of their threads.
    var connections: [Int: ConnectionControl] = [:]
    var isStopped = false
    private var queueTaken = 0

    mutating func note(_ request: MockServer.Request) { if keepsRequests { requests.append(request) } }

    /// The route that answers a request: the most specific matching route, or else the newest.
    func route(for request: MockServer.Request) -> Route? {
        StubScope.mostSpecific(of: routes.reversed().filter { $0.matches(request) }, scope: \.scope)
    }

    /// The next response of the queue, or a 404 that lists the routes.
    mutating func takeQueued(for request: MockServer.Request) -> StubAnswer {
        guard queue.isEmpty else {
            queueTaken += 1
            return queue.removeFirst()
        }
        let offered =
            routes.isEmpty ? "There are no routes." : "No route takes it:\n" + routes.map { "  \($0)\n" }.joined()
        let hint = StubScope.hint(for: request.method, request.target, among: routes.map(\.scope))
        let text = """
            No answer for \(request).\(hint.map { " " + $0 } ?? "")
            \(offered)
            The queue is empty; \(queueTaken) of its answers were taken.

            """
        return .text(text, status: 404)
    }
}

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
