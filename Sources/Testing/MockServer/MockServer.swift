public import Foundation

/// A real HTTP/1.1 server on an ephemeral port of 127.0.0.1, for tests.
///
/// ```swift
/// let server = try MockServer()
/// server.on(.get, "/users/*") { request in .json(#"{"name":"Ada"}"#) }
/// server.enqueue(.status(503), .closeInBody(after: 10, of: 100))   // for requests without a route
///
/// let response = try await transport.send(HTTPRequest(url: server.url.appending(path: "users/42")))
///
/// let request = await server.requests(atLeast: 1)[0]
/// #expect(request.headers[.accept] == "application/json")
/// ```
///
/// - The most specific matching route answers a request. If neither of two routes is more specific, the newer route answers. A
///   `StubTransport` chooses among its stubs without a limit by this rule too. Without a matching route, the next response of
///   the queue answers. If the queue is empty too, the server answers 404 with a text that names the request, the routes, and
///   the route that the request probably meant. Requests on the same connection are answered in order.
/// - A request that isn't strictly HTTP/1.1 or 1.0 gets a 400 with the reason as text, and the connection is closed. Such
///   requests aren't recorded.
/// - A client that closes its sending side during a response counts as gone: the response is abandoned, and its route's task is
///   cancelled.
/// - `Expect: 100-continue` is answered before the content is read.
///
/// The server is safe to use from any task. It runs until ``stop()`` or until its last reference is released.
public final class MockServer: Sendable {
    /// The server's limits on requests, in bytes.
    struct Limits {
        var head = 64 << 10
        var body = 1 << 30
        var keptBody = 64 << 20
    }

    /// The server's URL: `http://127.0.0.1:PORT`, or `https` with TLS, without a trailing slash.
    public let url: URL
    /// The server's port.
    public let port: Int
    let core: ServerCore
    private let handshakes: @Sendable () -> (completed: Int, resumed: Int)

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - headLimit: the maximum bytes of a request's head, 64 KiB by default; a larger head gets a 431.
    ///   - bodyLimit: the maximum bytes of a request's content, 1 GiB by default; larger content gets a 413.
    ///   - keptBodyLimit: the number of content bytes kept in ``Request/body``, 64 MiB by default; further bytes are only
    ///     counted.
    ///   - time: its clock measures the pauses in responses.
    /// - Throws: an error that says what the system refused, a socket or a thread.
    public convenience init(
        headLimit: Int = 64 << 10,
        bodyLimit: Int = 1 << 30,
        keptBodyLimit: Int = 64 << 20,
        time: TimeSource = .system
    ) throws {
        let limits = Limits(head: headLimit, body: bodyLimit, keptBody: keptBodyLimit)
        try self.init(scheme: "http", ServerCore(clock: time.clock, limits: limits) { PlainStream($0) })
    }

    init(
        scheme: String,
        _ core: ServerCore,
        handshakes: @escaping @Sendable () -> (completed: Int, resumed: Int) = { (0, 0) }
    ) throws {
        self.core = core
        self.handshakes = handshakes
        port = Int(core.port)
        guard let url = URL(string: "\(scheme)://127.0.0.1:\(core.port)") else {
            core.stop()
            throw MockServerError("make a URL of its port", code: EINVAL)
        }
        self.url = url
        try core.start()
    }

    deinit { core.stop() }

    var memoryPeer: MemoryPeer { MemoryPeer(core: core) }

    /// Stops the server: closes every connection, cancels the routes' tasks, and waits for the server's threads to end.
    ///
    /// Afterwards the server has no thread and no open descriptor, and its port is free. Tasks that wait for requests or closed
    /// connections continue. The received requests can still be read. A second call does nothing.
    public func stop() { core.stop() }
}

extension MockServer {
    /// Answers requests with a closure.
    ///
    /// - Parameters:
    ///   - method: the method, or `nil` for any.
    ///   - pattern: the path, with the syntax of `StubTransport`: `*` matches any text within one segment, `**` any segments.
    ///     A query in the pattern requires its items; without one, any query matches.
    ///   - readsBody: whether to read the content first. If `false`, the closure gets the request as soon as its head has
    ///     arrived, with an empty body. No `100 Continue` is sent, and the connection is closed after the response. Combined
    ///     with `StubAnswer.neverAnswer`, an upload stalls.
    ///   - fileID: the file that messages name; leave it out.
    ///   - line: the line that messages name; leave it out.
    ///   - answer: returns the response. If it throws, the server answers 500 with the error's text. A closure that captures
    ///     the server keeps it running: capture the server weakly, or call ``stop()``.
    public func on(
        _ method: HTTPRequest.Method?,
        _ pattern: String,
        readsBody: Bool = true,
        fileID: String = #fileID,
        line: Int = #line,
        answer: @escaping @Sendable (Request) async throws -> StubAnswer
    ) {
        add(StubScope(method, pattern), readsBody, .closure(answer), CodeLocation(fileID: fileID, line: line))
    }

    /// Answers all requests with a given method and a matching target with the same response.
    ///
    /// - Parameters:
    ///   - method: the method, or `nil` for any.
    ///   - pattern: the path, as for the method with a closure.
    ///   - response: the response.
    ///   - readsBody: whether to read the content first, as for the method with a closure.
    ///   - fileID: the file that messages name; leave it out.
    ///   - line: the line that messages name; leave it out.
    public func on(
        _ method: HTTPRequest.Method?,
        _ pattern: String,
        _ response: StubAnswer,
        readsBody: Bool = true,
        fileID: String = #fileID,
        line: Int = #line
    ) {
        add(StubScope(method, pattern), readsBody, .response(response), CodeLocation(fileID: fileID, line: line))
    }

    private func add(_ scope: StubScope, _ readsBody: Bool, _ answer: Route.Answer, _ location: CodeLocation) {
        let route = Route(scope: scope, readsBody: readsBody, answer: answer, location: location)
        core.state.change { $0.routes.append(route) }
    }

    /// Adds responses to the queue. Each answers one request that no route matches.
    public func enqueue(_ responses: StubAnswer...) { enqueue(responses) }

    /// Adds responses to the queue. Each answers one request that no route matches.
    public func enqueue(_ responses: [StubAnswer]) { core.state.change { $0.queue += responses } }

    /// Closes all open connections, as a server does with idle ones. The server still accepts new connections.
    public func closeConnections() { core.closeConnections() }
}

extension MockServer {
    /// The requests received so far, in the order in which they were complete.
    public var requests: [Request] { core.state.read(\.requests) }

    /// The number of responses left in the queue.
    public var queuedResponses: Int { core.state.read(\.queue.count) }

    /// The number of connections accepted so far.
    public var connectionsOpened: Int { core.state.read(\.opened) }

    /// The number of completed TLS handshakes, including resumed ones.
    public var handshakesCompleted: Int { handshakes().completed }

    /// The number of TLS handshakes that resumed an earlier session.
    public var sessionsResumed: Int { handshakes().resumed }

    /// The number of connections that clients have ended.
    var connectionsClosed: Int { core.state.read(\.closedByPeer) }

    /// The number of open connections.
    public var connectionsOpen: Int { core.state.read(\.connections.count) }

    /// Waits until at least this many requests have been received in total, the server has stopped, or the task is cancelled.
    ///
    /// - Returns: the requests received so far.
    @discardableResult
    public func requests(atLeast count: Int) async -> [Request] {
        await core.wait { $0.requests.count >= count }
        return requests
    }

    /// Waits until this many connections have been opened in total, the server has stopped, or the task is cancelled.
    public func openedConnections(_ count: Int) async { await core.wait { $0.opened >= count } }

    /// Waits until clients have closed or reset this many connections in total, the server has stopped, or the task is
    /// cancelled. A connection that the server was about to close doesn't count.
    public func closedConnections(_ count: Int) async { await core.wait { $0.closedByPeer >= count } }
}
