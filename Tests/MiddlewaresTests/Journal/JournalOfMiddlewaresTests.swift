import Foundation
import Interceptors
import InterceptorsInsight
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Testing

/// A journal's notes about the interceptors' decisions.
@Suite(.againstHanging) struct JournalOfMiddlewaresTests {
    private let clock = ManualClock()
    private let stub = StubTransport()
    private let journal: Journal
    private let url = URL(string: "https://a.example")!

    init() { journal = Journal(time: .manual(clock)) }

    private func client(_ interceptors: [any Interceptor]) -> Client {
        Client(baseURL: url, interceptors: interceptors, transport: stub, observer: journal)
    }

    /// The texts of the calls, without times of zero.
    private var explained: String {
        journal.calls.map { $0.explained.replacing(/[ ]{2,}0 µs$/.anchorsMatchLineEndings(), with: "") }
            .joined(separator: "\n")
    }

    private func notes(of name: String, in call: Int = 0) -> [String] {
        func notes(_ step: JournalCall.Step) -> [String] {
            (step.name == name ? step.notes.map(\.decision) : []) + step.steps.flatMap(notes)
        }
        return journal.calls[call].root.map(notes) ?? []
    }

    @Test func retriesAndTheirWaits() async throws {
        stub.enqueue(.status(503), .failure(TransportError(.connectionLost, "It is gone.")), .status(503))
        let client = client([.retry(.constant(.seconds(2)), time: .manual(clock))])
        let task = Task { try await client.send(HTTPRequest(url: url)) }
        for _ in 0..<2 {
            await clock.sleepers(1)
            clock.advance(by: .seconds(2))
        }
        _ = try await task.value
        #expect(
            explained == """
                #1 GET https://a.example → 503 Service Unavailable, 4.00 s
                retry                                       4.00 s
                  StubTransport
                    ↑ 503 Service Unavailable, 0 bytes
                  · retry: again after 2.00 s, because the status was 503
                  StubTransport
                    ↑ throws TransportError.connectionLost: It is gone.
                  · retry: again after 2.00 s, because it failed with TransportError.connectionLost
                  StubTransport
                    ↑ 503 Service Unavailable, 0 bytes
                  · notRetried: the status was 503, and the attempts are used up
                """
        )
    }

    @Test(arguments: [true, false])
    func aWaitForANetworkAndItsEnd(isSatisfied: Bool) async throws {
        stub.enqueue(.status(204))
        let network = NetworkPathMonitor(.unsatisfied)
        let client = client([.waitForNetwork(upTo: .seconds(3), monitor: network, time: .manual(clock))])
        let task = Task { try await client.send(HTTPRequest(url: url)) }
        await clock.sleepers(1)
        clock.advance(by: isSatisfied ? .seconds(2) : .seconds(3))
        if isSatisfied { network.update(.satisfied) }
        _ = try await task.value
        #expect(journal.calls[0].root?.notes.map(\.decision) == ["waitedForNetwork"])
        let text = isSatisfied ? "a network came after 2.00 s" : "none that it may use came within 3.00 s"
        #expect(explained.contains("· waitedForNetwork: \(text)\n"))
    }

    @Test func aRefreshAndTheCallMadeForIt() async throws {
        stub.on(.post, "/token", .json(#"{"token":"fresh-secret"}"#))
        stub.on(.get, "/", .status(401), times: 1)
        stub.on(.get, "/", .json("{}"))
        let tokens = TokenStore(TokenStore.Token("stale-secret")) { (_, client: Client) in
            struct Reply: Decodable, Sendable { let token: String }
            let reply: Reply = try await client.post("/token")
            return TokenStore.Token(reply.token)
        }
        let client = client([.retryOnUnauthorized(tokens), .bearerAuth(tokens)])
        _ = try await client.send(HTTPRequest(string: "https://a.example/"))
        #expect(
            explained == """
                #1 GET https://a.example/ → 200 OK, 0 µs
                retryOnUnauthorized
                  bearerAuth
                    ↓ + Authorization: <redacted>
                    StubTransport
                      ↑ 401 Unauthorized, 0 bytes
                  · refreshBegun: renews the credential, because the status was 401
                  · sentAgain: with the new credential
                  bearerAuth
                    ↓ + Authorization: <redacted>
                    StubTransport
                      ↑ 200 OK, 2 bytes: {}
                #2 (for #1) POST https://a.example/token → 200 OK, 0 µs
                ↓ + Accept: application/json
                retryOnUnauthorized
                  bearerAuth
                    · tokenWithheld: the request belongs to a refresh of the token, or has been authorized already
                    StubTransport
                      ↑ 200 OK, 24 bytes: {"token":"<redacted>"}
                """
        )
    }

    @Test func aRedirectThatDropsCredentials() async throws {
        stub.on(.get, "https://a.example/", .status(302, headers: [.location: "https://b.example/"]))
        stub.on(.get, "https://b.example/", .status(204))
        var request = try HTTPRequest(string: "https://a.example/")
        request.headers = [.authorization: "Bearer secret", .accept: "text/plain"]
        _ = try await client([.followRedirects()]).send(request)
        #expect(
            explained == """
                #1 GET https://a.example/ → 204 No Content, 0 µs
                ↓ + Authorization: <redacted>
                ↓ + Accept: text/plain
                followRedirects
                  StubTransport
                    ↑ 302 Found, 0 bytes
                  · redirect: 302 GET https://a.example/ -> https://b.example/
                  · credentialsDropped: another origin doesn't get Authorization
                  ↓ GET https://b.example/
                  ↓ − Authorization
                  StubTransport
                    ↑ 204 No Content, 0 bytes
                """
        )
    }

    @Test func aHedgeAndItsCancelledBranch() async throws {
        let hangs = Latch()
        stub.on(
            .get,
            "/",
            .answer { _ in
                hangs.open()
                try await Task.sleep(for: .seconds(3_600))
                return HTTPResponse(status: 500)
            },
            times: 1
        )
        stub.on(.get, "/", .status(204))
        let client = client([.hedge(after: .seconds(1), time: .manual(clock))])
        let task = Task { try await client.send(HTTPRequest(string: "https://a.example/")) }
        await hangs.opened()
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        _ = try await task.value
        let root = try #require(journal.calls.first?.root)
        #expect(root.steps.map(\.name) == ["StubTransport", "StubTransport"])
        #expect(root.steps[0].error == JournalCall.cancelled)
        #expect(root.steps[1].response?.status == 204)
        #expect(root.notes.map(\.decision) == ["hedged", "hedgeWon"])
        #expect(root.noteIndices == [1, 2])
    }

    @Test func aFollowerPointsAtItsLeader() async throws {
        let release = Latch()
        stub.on(
            .get,
            "/",
            .answer { _ in
                await release.opened()
                return HTTPResponse(status: 204)
            }
        )
        let client = client([.coalesce()])
        let leader = Task { try await client.send(HTTPRequest(string: "https://a.example/")) }
        await stub.requests(atLeast: 1)
        let follower = Task { try await client.send(HTTPRequest(string: "https://a.example/")) }
        for await call in journal.updates where call.id == 2 && !(call.root?.notes ?? []).isEmpty { break }
        release.open()
        _ = try await (leader.value, follower.value)
        #expect(journal.calls.map { $0.attempts.count } == [1, 0])
        #expect(journal.calls[1].root?.notes.map(\.callID) == [1])
        #expect(
            journal.calls[1].explained.contains("· coalesced: shares the exchange of an identical request (call 1)")
        )
    }

    @Test func theCachesAnswers() async throws {
        stub.on(
            .get,
            "/",
            .status(200, headers: [.cacheControl: "max-age=60, stale-while-revalidate=60", .eTag: "\"1\""])
        )
        let client = client([.cache(.memory(), time: .manual(clock))])
        func get(_ mode: CacheMode = .standard) async throws {
            var request = try HTTPRequest(string: "https://a.example/")
            request.context.cacheMode = mode
            _ = try await client.send(request).body.collect(upTo: 10)
        }
        try await get()
        try await get()
        clock.advance(by: .seconds(90))
        try await get()
        await stub.requests(atLeast: 2)
        for await call in journal.updates where call.id == 3 && call.attempts.first?.duration != nil { break }
        try await get(.onlyIfCached)
        var other = try HTTPRequest(string: "https://a.example/other")
        other.context.cacheMode = .offline
        _ = try await client.send(other)
        #expect(notes(of: "cache", in: 0) == ["cacheMiss"])
        #expect(journal.calls[0].root?.notes.first?.text == "asked the server: uri-miss, stored")
        #expect(notes(of: "cache", in: 1) == ["cacheHit"])
        #expect(journal.calls[1].attempts.isEmpty)
        #expect(notes(of: "cache", in: 2) == ["revalidatesInBackground", "cacheStale"])
        // The revalidation belongs to the call that began it.
        #expect(journal.calls[2].attempts.count == 1)
        #expect(notes(of: "cache", in: 4) == ["cacheUnsatisfiable"])
    }

    @Test func limitsAndDeadlines() async throws {
        stub.on(nil, "**", .status(500))
        let client = client([
            .timeout(.seconds(9), time: .manual(clock)),
            .circuitBreaker(.consecutiveFailures(1), openFor: .seconds(30), time: .manual(clock)),
        ])
        _ = try await client.send(HTTPRequest(string: "https://a.example/"))
        await #expect(throws: LimitError.self) { try await client.send(HTTPRequest(string: "https://a.example/")) }
        clock.advance(by: .seconds(30))
        _ = try await client.send(HTTPRequest(string: "https://a.example/"))
        #expect(notes(of: "timeout") == ["deadline"])
        #expect(journal.calls[0].root?.notes.first?.text == "9.00 s are left")
        #expect(notes(of: "circuitBreaker", in: 0) == [])
        #expect(notes(of: "circuitBreaker", in: 1) == ["circuitOpen"])
        #expect(notes(of: "circuitBreaker", in: 2) == ["circuitProbed"])
    }

    @Test func aTimeoutCancelsWhatIsInside() async throws {
        let arrived = Latch()
        stub.on(
            nil,
            "**",
            .answer { _ in
                arrived.open()
                try await Task.sleep(for: .seconds(3_600))
                return HTTPResponse(status: 200)
            }
        )
        let client = client([.timeout(.seconds(9), time: .manual(clock))])
        let task = Task { try await client.send(HTTPRequest(string: "https://a.example/")) }
        await arrived.opened()
        await clock.sleepers(1)
        clock.advance(by: .seconds(9))
        await #expect(throws: TransportError.self) { try await task.value }
        #expect(notes(of: "timeout") == ["deadline", "timedOut"])
        #expect(journal.calls[0].attempts[0].error == JournalCall.cancelled)
        #expect(journal.calls[0].root?.error?.hasPrefix("TransportError.timedOut: ") == true)
    }

    @Test func anEnvelopeAndAWithheldToken() async throws {
        stub.on(nil, "**", .json(#"{"code":200,"object":{"id":42}}"#))
        let tokens = TokenStore(TokenStore.Token("secret"), origins: [Origin(URL(string: "https://b.example")!)!]) {
            _ in
            throw CancellationError()
        }
        let client = client([.unwrapEnvelope(payload: "object"), .bearerAuth(tokens)])
        _ = try await client.send(HTTPRequest(string: "https://a.example/"))
        #expect(notes(of: "unwrapEnvelope") == ["envelopeOpened"])
        #expect(notes(of: "bearerAuth") == ["tokenWithheld"])
        #expect(explained.contains("↑ body: 9 bytes: {\"id\":42}"))
    }

    @Test(arguments: [
        (#"{"code":404,"message":"No such user."}"#, "it reports a failure with the code 404"),
        ("[]", "The body is no JSON object."), (#"{"a":1}"#, "The body has no number, string or boolean at code."),
    ])
    func aRefusedEnvelopeHasANote(body: String, text: String) async throws {
        stub.on(nil, "**", .json(body))
        let client = client([.unwrapEnvelope(payload: "object", passesOthers: false)])
        await #expect(throws: EnvelopeError.self) {
            try await client.send(HTTPRequest(string: "https://a.example/"))
        }
        #expect(notes(of: "unwrapEnvelope") == ["envelopeRefused"])
        #expect(explained.contains("envelopeRefused: \(text)"))
    }

    @Test func aLaterCallSupersedesAnEarlierOne() async throws {
        let arrived = Latch()
        stub.on(
            nil,
            "/first",
            .answer { _ in
                arrived.open()
                try await Task.sleep(for: .seconds(3_600))
                return HTTPResponse(status: 200)
            }
        )
        stub.on(nil, "/second", .status(204))
        let client = client([.cancelPrevious()])
        func send(_ path: String) async throws {
            var request = try HTTPRequest(string: "https://a.example" + path)
            request.context.latestKey = "search"
            _ = try await client.send(request)
        }
        let first = Task { try await send("/first") }
        await arrived.opened()
        try await send("/second")
        await #expect(throws: CancellationError.self) { try await first.value }
        #expect(notes(of: "cancelPrevious", in: 0) == ["superseded"])
    }
}
