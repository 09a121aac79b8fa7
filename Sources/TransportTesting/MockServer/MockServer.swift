public import Foundation
public import Interceptors

/// A real HTTP/1.1 server on 127.0.0.1, on a port of its own, for tests.
///
/// ```swift
/// let server = try MockServer()
/// server.on(.get, "/users/*") { request in .json(#"{"name":"Ada"}"#) }
/// server.enqueue(MockResponse(status: 503), .closeInBody(after: 10, of: 100))   // for what no route takes
///
/// let response = try await transport.send(HTTPRequest(url: server.url.appending(path: "users/42")))
///
/// let request = await server.received(1)[0]
/// #expect(request.headerFields[.accept] == "application/json")
/// ```
///
/// - A request is answered by the route that matches it and was added last, else by the next response of the queue, else
///   by a 404 whose text names the request and what was on offer. Those of one connection are answered in their order.
/// - What is not HTTP/1.1 or 1.0 to the letter gets a 400 whose text says why, and the connection is closed; such a request
///   is not recorded.
/// - A client that closes its side while it is being answered is taken to have gone: the answer is given up, and the task of
///   its route cancelled.
/// - `Expect: 100-continue` is answered before the content is read.
///
/// It is safe to use from any task. It stops with ``stop()``, or when nobody holds it any more.
public final class MockServer: Sendable {
    /// What the server takes.
    public struct Limits: Sendable {
        /// The most bytes of a request's head, 64 KiB by default; over it, the answer is a 431.
        public var head: Int
        /// The most bytes of a request's content, 1 GiB by default; over it, the answer is a 413.
        public var body: Int
        /// How many bytes of a request's content are kept in ``Request/body``, 64 MiB by default; those after are counted.
        public var keptBody: Int

        /// Limits, in bytes.
        public init(head: Int = 64 << 10, body: Int = 1 << 30, keptBody: Int = 64 << 20) {
            self.head = head
            self.body = body
            self.keptBody = keptBody
        }
    }

    /// Where the server is: `http://127.0.0.1:PORT`, without a slash at the end.
    public let url: URL
    /// The port.
    public let port: Int
    private let core: ServerCore
    private let handshakes: @Sendable () -> (completed: Int, resumed: Int)

    /// Starts a server.
    ///
    /// - Parameters:
    ///   - clock: what the pauses of answers are measured by.
    ///   - limits: what the server takes.
    /// - Throws: ``MockServerError`` if the system gives no socket or no thread.
    public convenience init(clock: any Clock<Duration> = ContinuousClock(), limits: Limits = Limits()) throws {
        try self.init(scheme: "http", ServerCore(clock: clock, limits: limits) { PlainStream($0) })
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

    /// Stops the server: closes every connection, cancels the tasks of routes, and waits for its threads to end.
    ///
    /// When it returns, no thread and no descriptor of the server is left, and nobody listens on its port. What waits for a
    /// request or a close goes on. The requests received can still be read. A second call does nothing.
    public func stop() { core.stop() }
}

extension MockServer {
    /// Answers requests by a closure.
    ///
    /// - Parameters:
    ///   - method: the method, `nil` for any.
    ///   - pattern: the path, as in a ``StubTransport``: `*` is any text within one segment, `**` any segments. A query in
    ///     the pattern asks for its items; without one, any query will do.
    ///   - readsBody: whether the content is read first. If not, the closure gets the request as soon as its head is
    ///     there, with an empty body, no `100 Continue` is sent, and the connection is closed after the answer. Together
    ///     with ``MockResponse/neverAnswer`` an upload comes to a halt.
    ///   - answer: gives the answer. What it throws is told by a 500. A closure that holds the server keeps it running:
    ///     let it hold the server weakly, or call ``stop()``.
    public func on(
        _ method: HTTPRequest.Method?,
        _ pattern: String,
        readsBody: Bool = true,
        answer: @escaping @Sendable (Request) async throws -> MockResponse
    ) {
        add(Route(method: method, pattern: StubPattern(pattern), readsBody: readsBody, answer: .closure(answer)))
    }

    /// Gives the same answer to all requests of a method to the targets of a pattern.
    public func on(
        _ method: HTTPRequest.Method?,
        _ pattern: String,
        readsBody: Bool = true,
        _ response: MockResponse
    ) {
        add(Route(method: method, pattern: StubPattern(pattern), readsBody: readsBody, answer: .response(response)))
    }

    private func add(_ route: Route) { core.update { $0.routes.append(route) } }

    /// Adds answers to the queue, one for each request that no route takes.
    public func enqueue(_ responses: MockResponse...) { enqueue(responses) }

    /// Adds answers to the queue, one for each request that no route takes.
    public func enqueue(_ responses: [MockResponse]) { core.update { $0.queue += responses } }

    /// Closes all connections that are open now, as a server does with idle ones. New ones are accepted.
    public func closeConnections() { core.closeConnections() }
}

extension MockServer {
    /// The requests received so far, in the order in which they were complete.
    public var requests: [Request] { core.read(\.requests) }

    /// How many answers of the queue are left.
    public var queuedResponses: Int { core.read(\.queue.count) }

    /// How many connections were accepted so far.
    public var connectionsOpened: Int { core.read(\.opened) }

    /// How many TLS handshakes were completed, resumed ones included.
    public var handshakesCompleted: Int { handshakes().completed }

    /// How many TLS handshakes resumed an earlier session.
    public var sessionsResumed: Int { handshakes().resumed }

    /// How many connections are open.
    public var connectionsOpen: Int { core.read(\.connections.count) }

    /// Waits until so many requests have been received, or the server has stopped, or the task is cancelled.
    ///
    /// - Returns: the requests received.
    @discardableResult
    public func received(_ count: Int) async -> [Request] {
        await core.wait { $0.requests.count >= count }
        return requests
    }

    /// Waits until so many connections were opened, or the server has stopped, or the task is cancelled.
    public func openedConnections(_ count: Int) async { await core.wait { $0.opened >= count } }

    /// Waits until so many connections were closed or reset by their clients, or the server has stopped, or the task is
    /// cancelled. A connection that the server itself was about to close does not count.
    public func closedConnections(_ count: Int) async { await core.wait { $0.closedByPeer >= count } }
}
