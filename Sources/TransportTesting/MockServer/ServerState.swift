internal import Foundation
internal import Interceptors

/// What the threads of a server and its users share.
struct ServerState: Sendable {
    /// Somebody who waits for something to be so.
    struct Watcher: Sendable {
        let isDone: @Sendable (ServerState) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    var routes: [Route] = []
    var queue: [MockResponse] = []
    var requests: [MockServer.Request] = []
    /// How many connections were accepted.
    var opened = 0
    /// How many of them ended by an act of the client.
    var closedByPeer = 0
    /// Those that are open, with what reaches their threads.
    var connections: [Int: ConnectionControl] = [:]
    var isStopped = false
    var watchers: [Int: Watcher] = [:]
    private var queueTaken = 0
    private var lastWatcher = 0
    /// Watchers whose task was cancelled before they were there.
    private var cancelledWatchers: Set<Int> = []

    /// Of the routes that match, the one added last: a test overrides what its set-up has added.
    func route(for request: MockServer.Request) -> Route? { routes.last { $0.matches(request) } }

    /// The next of the queue, or a 404 that says what was on offer.
    mutating func takeQueued(for request: MockServer.Request) -> MockResponse {
        guard queue.isEmpty else {
            queueTaken += 1
            return queue.removeFirst()
        }
        let offered =
            routes.isEmpty ? "There are no routes." : "No route takes it:\n" + routes.map { "  \($0)\n" }.joined()
        let text =
            "No answer for \(request).\n\(offered)\nThe queue is empty; \(queueTaken) of its answers were taken.\n"
        return MockResponse(status: 404, headers: [.contentType: "text/plain; charset=utf-8"], body: text)
    }

    mutating func nextWatcherID() -> Int {
        lastWatcher += 1
        return lastWatcher
    }

    /// Adds a watcher; gives it back if it has nothing to wait for.
    mutating func add(_ watcher: Watcher, id: Int) -> Watcher? {
        if cancelledWatchers.remove(id) != nil || isStopped || watcher.isDone(self) { return watcher }
        watchers[id] = watcher
        return nil
    }

    /// Takes a watcher out whose task is cancelled.
    mutating func cancelWatcher(_ id: Int) -> Watcher? {
        if let watcher = watchers.removeValue(forKey: id) { return watcher }
        cancelledWatchers.insert(id)
        return nil
    }

    /// Forgets what a cancellation after the end of a wait has left.
    mutating func forgetWatcher(_ id: Int) { cancelledWatchers.remove(id) }

    /// Takes out those who have nothing to wait for any more.
    mutating func takeDueWatchers() -> [Watcher] {
        guard !watchers.isEmpty else { return [] }
        let due = watchers.filter { isStopped || $0.value.isDone(self) }
        for id in due.keys { watchers[id] = nil }
        return Array(due.values)
    }
}
