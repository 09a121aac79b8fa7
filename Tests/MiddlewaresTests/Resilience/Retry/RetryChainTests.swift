import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// Retries together with other interceptors.
@Suite(.againstHanging)
struct RetryChainTests {
    private let clock = ManualClock()

    @Test func retryAroundARefreshTriesAFailedRefreshAgainAndRefreshesOnce() async throws {
        let server = TokenServer(accepting: ["new"])
        let refreshes = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            if refreshes.count() == 1 { throw TransportError(.connectionLost, "The log-in server is gone.") }
            return .new
        }
        let chain = InterceptorChain(
            [.retry(.constant(.zero)), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            transport: server
        )
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(response.status == 200)
        #expect(refreshes.value == 2)
        #expect(server.authorizations == ["Bearer old", "Bearer old", "Bearer new"])
        #expect(response.context.attempts.count == 2)
    }

    @Test func statusErrorOfAValidateStatusInsideIsTriedAgainAsItsStatusIs() async throws {
        let tally = Tally()
        let transport = Recorder { _ in
            tally.count() == 1
                ? HTTPResponse(status: 503, headers: [.retryAfter: "7"]) : HTTPResponse(status: 500)
        }
        let chain = InterceptorChain(
            [.retry(.constant(.zero), time: .manual(clock)), .validateStatus()],
            transport: transport
        )
        // A POST isn't idempotent. The 503 asks for another attempt with Retry-After; the 500 doesn't.
        let task = Task { try await chain.send(HTTPRequest(method: .post, url: apiURL)) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(7))
        let error = await #expect(throws: StatusError.self) { try await task.value }
        #expect(error?.context.attempts.map(\.status) == [503, 500])
        #expect(error?.context.attempts.last?.stop == .notIdempotent)
    }

    @Test func retryInsideARefreshSendsTheSameTokenWithEachAttempt() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let tally = Tally()
        let transport = Recorder { request in
            guard tally.count() % 2 == 0 else { return HTTPResponse(status: 503) }
            return HTTPResponse(status: request.headers[.authorization] == "Bearer new" ? 200 : 401)
        }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(.constant(.zero))],
            transport: transport
        )
        #expect(try await chain.get() == 200)
        let sent = transport.requests.map { $0.headers[.authorization] }
        #expect(sent == ["Bearer old", "Bearer old", "Bearer new", "Bearer new"])
    }

    @Test func hundredsOfRetriesAroundOneRefreshRefreshOnce() async throws {
        let refreshes = Tally()
        let server = TokenServer(accepting: ["new"])
        let waiting = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin], observe: counting(waiting)) { _ in
            refreshes.count()
            await waiting.reached(300)
            return .new
        }
        let chain = InterceptorChain(
            [.retry(.constant(.zero)), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            transport: server
        )
        let good = try await withThrowingTaskGroup(of: HTTPResponse.Status.self) { group in
            for _ in 0..<300 { group.addTask { try await chain.get() } }
            return try await group.reduce(0) { $0 + ($1 == 200 ? 1 : 0) }
        }
        #expect(good == 300)
        #expect(refreshes.value == 1)
    }

    @Test func deadlineOfAnAttemptAndThatOfTheWholeAreSeparateAndTheWholeIncludesTheBackoff() async throws {
        let (attempts, ended) = (Tally(), Tally())
        let transport = Recorder { [clock] _ in
            attempts.count()
            defer { ended.count() }
            try await clock.sleep(for: .seconds(1_000))
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain(
            [
                .timeout(.seconds(25), of: "the whole call", time: .manual(clock)),
                .retry(.constant(.seconds(4), maxAttempts: 10), time: .manual(clock)),
                .timeout(.seconds(10), of: "one attempt", time: .manual(clock)),
            ],
            transport: transport
        )
        let task = Task { try await chain.send(HTTPRequest(url: apiURL)) }
        // First attempt: timers of the whole call and of the attempt, and the transport.
        await clock.sleepers(3)
        clock.advance(by: .seconds(10))
        // Backoff: its wait, and the timer of the whole call.
        await ended.reached(1)
        await clock.sleepers(2)
        #expect(attempts.value == 1)
        clock.advance(by: .seconds(4))
        await clock.sleepers(3)
        #expect(attempts.value == 2)
        // The second attempt ends at 24 s. After another wait of 4 s, the whole call would be over its limit.
        clock.advance(by: .seconds(10))
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("one attempt") == true)
        #expect(error?.context.attempts.map(\.wait) == [.seconds(4), nil])
        #expect(error?.context.attempts.last?.stop == .deadline)
        #expect(clock.now.elapsed == .seconds(24))
        #expect(clock.pendingSleeps == 0)
    }

    @Test func wholeTimeoutDuringABackoffNamesTheWhole() async throws {
        let transport = answering([.success(HTTPResponse(status: 503))])
        let other = ManualClock()
        let chain = InterceptorChain(
            [
                .timeout(.seconds(25), of: "the whole call", time: .manual(clock)),
                .retry(.constant(.seconds(4), maxAttempts: 10), time: .manual(other)),
            ],
            transport: transport
        )
        let task = Task { try await chain.send(HTTPRequest(url: apiURL)) }
        await other.sleepers(1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(25))
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.message.contains("25.0 seconds, the limit of the whole call") == true)
        #expect(error?.context.attempts.map(\.wait) == [.seconds(4)])
        #expect(other.pendingSleeps == 0)
    }

    @Test func wholeTimeoutDuringAnAttemptSaysWhatWasTried() async throws {
        let tally = Tally()
        let transport = Recorder { [clock] _ in
            if tally.count() == 2 { try await clock.sleep(for: .seconds(1_000)) }
            return HTTPResponse(status: 503)
        }
        let chain = InterceptorChain(
            [
                .timeout(.seconds(25), of: "the whole call", time: .manual(clock)),
                .timeout(.seconds(30), time: .manual(clock)),
                .retry(.constant(.zero), time: .manual(clock)), .timeout(.seconds(60), time: .manual(clock)),
            ],
            transport: transport
        )
        let task = Task { try await chain.send(HTTPRequest(url: apiURL)) }
        await clock.sleepers(4)
        clock.advance(by: .seconds(25))
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.message.contains("the whole call") == true)
        #expect(error?.context.attempts.map(\.status) == [503, nil])
        #expect(error?.context.attempts.map(\.stop) == [nil, .cancelled])
    }

    @Test(arguments: [(5, [RetryStop.deadline]), (6, [nil, nil, .attemptsUsedUp])])
    func whoseTurnComesAfterTheDeadlineIsNotTriedAgain(seconds: Int, stops: [RetryStop?]) async throws {
        // A call with too little time for one attempt may have enough for the next, so the transport always refuses.
        let transport = Recorder { throw UnsentError.timedOut(waitingFor: "a turn", $0, wait: .seconds(5)) }
        let chain = InterceptorChain([.retry(.constant(.zero), time: .manual(clock))], transport: transport)
        var request = HTTPRequest(url: apiURL)
        request.context.deadline = Deadline(after: .seconds(seconds), time: .manual(clock))
        let call = request
        let error = await #expect(throws: TransportError.self) { try await chain.send(call) }
        #expect(error?.context.attempts.map(\.stop) == stops)
        #expect(transport.requests.count == stops.count)
    }

    @Test func eachHopOfARedirectGetsAttemptsOfItsOwn() async throws {
        let tally = Tally()
        let transport = Recorder { request in
            guard tally.count() % 2 == 0 else { return HTTPResponse(status: 503) }
            return request.url.path == "/a" ? redirect(307, "/b") : HTTPResponse(status: 200)
        }
        let chain = InterceptorChain(
            [.followRedirects(), .retry(.constant(.zero, maxAttempts: 2))],
            transport: transport
        )
        let response = try await chain.send(HTTPRequest(method: .put, url: url("https://h/a"), body: "x"))
        #expect(response.status == 200)
        #expect(transport.requests.map(\.url.path) == ["/a", "/a", "/b", "/b"])
        #expect(response.context.redirects.count == 1)
        #expect(response.context.attempts.count == 2)
    }

    @Test func transactionIDOutsideStaysTheSameAndInsideIsNew() async throws {
        let ids = Tally()
        let transport = answering([.success(HTTPResponse(status: 503)), .success(HTTPResponse(status: 200))])
        let chain = InterceptorChain(
            [
                .transactionID { "\(ids.count())" },
                .retry(.constant(.zero)),
                .transactionID(named: "X-Attempt") { "\(ids.count())" },
            ],
            transport: transport
        )
        _ = try await chain.send(HTTPRequest(url: apiURL))
        #expect(transport.requests.map { $0.headers[.transactionID] } == ["1", "1"])
        #expect(transport.requests.map { $0.headers["X-Attempt"] } == ["2", "3"])
    }

    @Test func overRealSocketsAServerThatBreaksOffIsTriedAgain() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.enqueue(
            .closeInBody(after: 2, of: 10),
            StubAnswer.status(503),
            StubAnswer.status(200, body: "at last")
        )
        let client = Client(baseURL: server.url, interceptors: [.retry(.constant(.zero))])
        let response = try await client.send(HTTPRequest(url: server.url.appending(path: "x")))
        #expect(response.body.data == Data("at last".utf8))
        #expect(response.context.attempts.map(\.status) == [nil, 503, 200])
        #expect(server.requests.count == 3)
    }

    @Test func conditionBesideTheNumberReplacesThePolicys() async throws {
        let transport = answering([.success(HTTPResponse(status: 409)), .success(HTTPResponse(status: 200))])
        let retry: AnyInterceptor = .retry(maxAttempts: 3, when: .status(409), time: .manual(clock))
        let task = Task { try await InterceptorChain([retry], transport: transport).send(HTTPRequest(url: apiURL)) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await task.value.status == 200)
        #expect(transport.requests.count == 2)
    }
}
