internal import Foundation
internal import Synchronization

/// A transport that answers in memory, for tests and previews.
///
/// ```swift
/// let stub = StubTransport()
/// stub.on(.get, "/users/*", .json(#"{"id":42}"#))           // answers every GET of a user
/// stub.on(.post, "/users", .status(503), times: 1)          // fails the first POST
/// stub.enqueue(.status(201), .failure(Offline()))           // answers other requests, in order
///
/// let client = Client(baseURL: url, interceptors: chain, transport: stub)
/// try await client.delete("/users/42")
///
/// #expect(stub.requests.map(\.method) == [.get, .post, .post])
/// try stub.verify()
/// ```
///
/// ## Order
/// A request is matched once its body has been read. A stub registered between two requests therefore applies to the second.
/// The first match in this order answers:
/// 1. stubs registered with `times:` that aren't used up, oldest first, so that a sequence reads in order;
/// 2. stubs without a limit, the most specific first, whatever the order of their registration. One stub is more specific than
///    another if it matches only some of the other's requests;
/// 3. the queue of ``enqueue(_:fileID:line:)``;
/// 4. the closure or the fallback transport given at creation.
///
/// If neither of two stubs without a limit is more specific, the newest answers. A stub for exactly the same requests replaces
/// the earlier one, so that a test overrides its set-up.
///
/// ```swift
/// stub.on(.get, "/users/42", .json(#"{"id":42}"#))    // answers GET /users/42 …
/// stub.on(nil, "**", .status(404))                    // … although this stub matches the request too, and is newer
/// stub.on(.get, "/users/42", .status(503), times: 1)  // answers the first GET /users/42
/// stub.on(.get, "/users/42", .json("{}"))             // replaces the first line
/// ```
/// If nothing answers, the request fails with `HTTPErrorCode.noStub`. The message lists the stubs, and says which one
/// the request probably meant.
///
/// ## Patterns
/// - `/users/42`: this path, on any host, with any query. Case and a trailing slash matter.
/// - `/users/*`, `/files/*.json`: `*` matches any text within one path segment. As a whole segment, `*` doesn't match an empty
///   one.
/// - `/users/**`: any number of segments from here on, including zero. `**` alone matches every URL.
/// - `/search?q=swift&page=*`: the query must contain these items, in any order and among others; `*` matches any text. An item
///   without `=` matches any value.
/// - `https://api.example.com/users`: also matches scheme, host and port (443 and 80 are the defaults). The host may contain
///   `*`.
///
/// Both sides are compared without percent-encoding, so `/caf%C3%A9` and `/café` are equal. `%2F` doesn't separate segments,
/// and `%2A` is a literal star.
///
/// ## Like a real transport
/// A stub transport refuses requests that fail `HTTPRequest.validate()`, and reports progress. It reads a request's body
/// once: a one-shot body sent a second time fails with `HTTPErrorCode.bodyNotReplayable`. It honors
/// `HTTPContext.responseBody`: buffered up to the limit, or a one-shot stream. Responses to HEAD, and 204 and 304, have no
/// body.
///
/// The request's idle and overall time limits end a longer wait, on the stub's clock; there are no default limits. A cancelled
/// call ends at once.
public final class StubTransport: Transport {
    private let clock: any Clock<Duration>
    private let fallback: (any Transport)?
    private let everything: StubAnswer?
    private let state = Mutex(StubState())

    /// Creates a transport without answers.
    ///
    /// - Parameters:
    ///   - fallback: receives the requests that no stub and no queued answer matches.
    ///   - time: its clock measures delays and time limits.
    public init(fallback: (any Transport)? = nil, time: TimeSource = .system) {
        clock = time.clock
        self.fallback = fallback
        self.everything = nil
    }

    /// Creates a transport whose closure answers every request that no stub and no queued answer matches.
    public init(time: TimeSource = .system, _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        clock = time.clock
        self.fallback = nil
        self.everything = .answer(answer)
    }

    /// Creates a transport for a program that runs for long: requests that were answered aren't kept.
    package convenience init(forgettingRequests: Bool, fallback: (any Transport)?, time: TimeSource) {
        self.init(fallback: fallback, time: time)
        state.withLock { $0.keepsRequests = !forgettingRequests }
    }

    /// The requests that have arrived, in order, including unanswered ones.
    ///
    /// Each request has its body in memory, so that tests can read it. A file or stream is recorded up to its first 16 MiB.
    public var requests: [HTTPRequest] { state.withLock(\.requests) }

    /// The number of streamed responses neither read to the end nor discarded. On a real transport, each would hold a
    /// connection.
    public var openBodies: Int { state.withLock(\.openBodyCount) }

    /// Waits until at least this many requests have arrived in total, or until the task is cancelled.
    ///
    /// - Returns: the requests that have arrived.
    @discardableResult
    public func requests(atLeast count: Int) async -> [HTTPRequest] {
        let (arrivals, watcher) = AsyncStream.makeStream(of: Void.self)
        let id = state.withLock { state in
            let id = state.nextID()
            state.watchers[id] = watcher
            return id
        }
        // For those that have arrived before.
        watcher.yield()
        for await _ in arrivals where requests.count >= count { break }
        return state.withLock { state in
            state.watchers[id] = nil
            return state.requests
        }
    }

    /// Checks at the end of a test that nothing is left over. Every queued answer must be used, and every stub as often as its
    /// `times:`, or at least once without a limit. No request may wait for its response. Every streamed response must be read
    /// to its end or discarded.
    ///
    /// A stub that a later one replaced may be unused.
    ///
    /// - Throws: an error that lists everything that is left over: stubs in the order of their registration, each with the line
    ///   where it was registered, then the queue, then requests and bodies. Secrets in URLs are redacted.
    public func verify() throws {
        let problems = state.withLock(\.problems)
        guard problems.isEmpty else { throw StubVerificationError(problems: problems) }
    }
}

extension StubTransport {
    /// Answers requests with a given method whose URL matches a pattern.
    ///
    /// - Parameters:
    ///   - method: the method, or `nil` for any.
    ///   - pattern: a path or a URL, optionally with `*` and `**`. See ``StubTransport``.
    ///   - answer: the answer.
    ///   - times: the number of requests to answer, or `nil` for all.
    ///   - fileID: the file that ``verify()`` names; leave it out.
    ///   - line: the line that ``verify()`` names; leave it out.
    public func on(
        _ method: HTTPRequest.Method?,
        _ pattern: String,
        _ answer: StubAnswer,
        times: Int? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) {
        let scope = StubScope(method, pattern)
        let stub = StubState.Stub(
            scope: scope,
            location: CodeLocation(fileID: fileID, line: line),
            matches: { scope.matches($0.method, $0.url.absoluteString) },
            answer: answer,
            times: times
        )
        state.withLock { $0.add(stub) }
    }

    /// Answers requests with a given method whose URL matches a pattern. A closure chooses the answer to each request.
    ///
    /// ```swift
    /// stub.on(.post, "/users") { request in
    ///     request.headers[.authorization] == nil ? .status(401) : .json(#"{"id":42}"#, status: 201)
    /// }
    /// ```
    /// - Parameters:
    ///   - method: the method, or `nil` for any.
    ///   - pattern: a path or a URL, optionally with `*` and `**`. See ``StubTransport``.
    ///   - times: the number of requests to answer, or `nil` for all.
    ///   - fileID: the file that ``verify()`` names; leave it out.
    ///   - line: the line that ``verify()`` names; leave it out.
    ///   - answer: chooses the answer. If the closure throws, the call throws the same error.
    public func on(
        _ method: HTTPRequest.Method?,
        _ pattern: String,
        times: Int? = nil,
        fileID: String = #fileID,
        line: Int = #line,
        answer: @escaping @Sendable (HTTPRequest) async throws -> StubAnswer
    ) {
        on(method, pattern, .choosing(answer), times: times, fileID: fileID, line: line)
    }

    /// Answers requests that a closure accepts.
    ///
    /// - Parameters:
    ///   - matches: returns whether to answer a request. The request's body is in memory.
    ///   - answer: the answer.
    ///   - times: the number of requests to answer, or `nil` for all.
    ///   - fileID: the file that ``verify()`` names; leave it out.
    ///   - line: the line that ``verify()`` names; leave it out.
    public func on(
        _ matches: @escaping @Sendable (HTTPRequest) -> Bool,
        _ answer: StubAnswer,
        times: Int? = nil,
        fileID: String = #fileID,
        line: Int = #line
    ) {
        let location = CodeLocation(fileID: fileID, line: line)
        let stub = StubState.Stub(scope: nil, location: location, matches: matches, answer: answer, times: times)
        state.withLock { $0.add(stub) }
    }

    /// Adds answers for requests that no stub matches. Each answer is used once, in order.
    public func enqueue(_ answers: StubAnswer..., fileID: String = #fileID, line: Int = #line) {
        enqueue(answers, CodeLocation(fileID: fileID, line: line))
    }

    func enqueue(_ answers: [StubAnswer], _ location: CodeLocation) { state.withLock { $0.enqueue(answers, location) } }
}

extension StubTransport {
    /// Answers a request in memory.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try Task.checkCancellation()
        try request.validate()
        let exchange = state.withLock { $0.begin(request) }
        defer { state.withLock { $0.end(exchange) } }
        let (recorded, isComplete) = try await StubExchange.receive(request, clock: clock)
        let watchers = state.withLock { state in
            state.record(recorded)
            return state.watchers.values
        }
        for watcher in watchers { watcher.yield() }
        if let answer = answer(to: recorded, exchange) {
            return try await StubExchange.response(of: answer, to: recorded, clock: clock) {
                state.withLock { $0.openBody(of: exchange) }
            } bodyClosed: { [weak self] in
                self?.state.withLock { $0.closeBody(of: exchange) }
            }
        }
        guard let fallback else { throw noStub(for: recorded) }
        guard isComplete || request.body.isRestartable else {
            throw TransportError.bodyTooLarge(limit: StubExchange.recordedBodyLimit, request: request)
        }
        var sent = recorded
        if request.body.isRestartable { sent.body = request.body }
        return try await fallback.send(sent)
    }

    // Called outside the lock, because the predicates are user code.
    private func answer(to request: HTTPRequest, _ exchange: Int) -> StubAnswer? {
        let (limited, unlimited) = state.withLock(\.candidates)
        for stub in limited where stub.matches(request) {
            if state.withLock({ $0.claim(stub.id, for: exchange) }) { return stub.answer }
        }
        if let stub = StubScope.mostSpecific(of: unlimited.filter { $0.matches(request) }, scope: \.scope) {
            if state.withLock({ $0.claim(stub.id, for: exchange) }) { return stub.answer }
        }
        return state.withLock { $0.dequeue(for: exchange) } ?? everything
    }

    private func noStub(for request: HTTPRequest) -> TransportError {
        let (stubs, offer) = state.withLock { ($0.stubs, $0.offer) }
        var sentences = ["No stub answers this request."]
        let scopes = stubs.compactMap(\.scope)
        if let hint = StubScope.hint(for: request.method, request.url.absoluteString, among: scopes) {
            sentences.append(hint)
        }
        sentences.append(offer.isEmpty ? "No stub was registered." : "On offer: " + offer.joined(separator: "; "))
        return TransportError(.noStub, sentences.joined(separator: " "), request: request)
    }
}

/// Thrown by ``StubTransport/verify()``: everything that is left over, in one error.
package struct StubVerificationError: Error, CustomStringConvertible {
    package let problems: [String]

    package var description: String { "StubVerificationError: " + problems.joined(separator: "; ") }
}
