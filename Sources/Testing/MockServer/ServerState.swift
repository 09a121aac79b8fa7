internal import Foundation
internal import InterceptorsCore
internal import InterceptorsMiddlewares

/// The state shared by a server's threads and its users. Mutate it under the lock, and resume returned watchers outside.
struct ServerState: Sendable {
    /// A task that waits for a condition.
    struct Watcher: Sendable {
        let isDone: @Sendable (ServerState) -> Bool
        let waiter = Waiter<Void>()
    }

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
    var watchers: [Watcher] = []
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

    /// Adds a watcher, unless there is nothing to wait for. Returns whether it was added.
    mutating func add(_ watcher: Watcher) -> Bool {
        if isStopped || watcher.isDone(self) { return false }
        watchers.append(watcher)
        return true
    }

    /// Removes and returns the watchers with nothing left to wait for.
    mutating func takeDueWatchers() -> [Watcher] {
        let due = watchers.filter { isStopped || $0.isDone(self) }
        watchers.removeAll { watcher in due.contains { $0.waiter === watcher.waiter } }
        return due
    }
}
