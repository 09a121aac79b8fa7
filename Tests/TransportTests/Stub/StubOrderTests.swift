import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

/// Which of several stubs answers a request.
@Suite(.againstHanging) struct StubOrderTests {
    let stub = StubTransport()

    private func status(_ path: String, _ method: HTTPRequest.Method = .get) async throws -> Int {
        try await stub.send(stubRequest(path, method)).status.code
    }

    @Test(arguments: [false, true])
    func moreSpecificOfTwoStubsAnswersWhicheverIsOlder(isReversed: Bool) async throws {
        let stubs: [(HTTPRequest.Method?, String, HTTPResponse.Status)] = [
            (nil, "**", 404), (.get, "/users/**", 210), (.get, "/users/*", 211), (.get, "/users/42", 212),
            (nil, "/users/42", 213), (.get, "/search", 220), (.get, "/search?q=*", 221), (.get, "/search?q=a", 222),
            (.get, "https://*.example.com/users/8", 230), (.get, "/files/*", 240), (.get, "/files/*.json", 241),
        ]
        for (method, pattern, status) in isReversed ? stubs.reversed() : stubs {
            stub.on(method, pattern, .status(status))
        }
        #expect(try await status("/users/42") == 212)
        #expect(try await status("/users/42", .put) == 213)
        #expect(try await status("/users/7") == 211)
        #expect(try await status("/users/8") == 230)
        #expect(try await status("/users/7/name") == 210)
        #expect(try await status("/users/7", .put) == 404)
        #expect(try await status("/search?q=a&page=1") == 222)
        #expect(try await status("/search?q=b") == 221)
        #expect(try await status("/search?p=b") == 220)
        #expect(try await status("/files/a.json") == 241)
        #expect(try await status("/files/a.txt") == 240)
        #expect(try await status("/other") == 404)
    }

    @Test func newestAnswersWhereNeitherIsMoreSpecific() async throws {
        stub.on(.get, "/users/*", .status(201))
        stub.on(.get, "/*/42", .status(202))
        #expect(try await status("/users/42") == 202)
        #expect(try await status("/users/7") == 201)
    }

    @Test func stubForTheSameRequestsReplacesTheEarlierOne() async throws {
        stub.on(.get, "/a", .status(200))
        stub.on(.get, "a", .status(500))
        #expect(try await status("/a") == 500)
        try stub.verify()
    }

    @Test func closureIsMoreSpecificOnlyThanAStubForEveryRequest() async throws {
        stub.on({ $0.url.path.hasPrefix("/a") }, .status(201))
        stub.on(nil, "**", .status(404))
        #expect(try await status("/a/b") == 201)
        #expect(try await status("/b") == 404)
        stub.on(.get, "/a/*", .status(202))
        #expect(try await status("/a/b") == 202)
    }

    @Test func limitedStubComesFirstHoweverSpecificTheOthersAre() async throws {
        stub.on(.get, "/a", .status(200))
        stub.on(nil, "**", .status(503), times: 1)
        #expect(try await status("/a") == 503)
        #expect(try await status("/a") == 200)
    }
}

/// The hint in the error after a typo.
@Suite(.againstHanging) struct StubHintTests {
    private func message(
        _ path: String,
        _ method: HTTPRequest.Method = .get,
        stub: StubTransport
    ) async throws -> String {
        let error = await #expect(throws: TransportError.self) { try await stub.send(stubRequest(path, method)) }
        return error?.message ?? ""
    }

    @Test(arguments: [
        ("/v1/users", "/v1/user"), ("/user", "/v1/user"), ("/v1/user/", "/v1/user"), ("/V1/user", "/v1/user"),
        ("/orders/7/itmes", "/orders/*/items"), ("/orders/items", "/orders/*/items"), ("/a/b/fles", "/**/files"),
    ])
    func nearestPathIsNamed(path: String, expected: String) async throws {
        let stub = StubTransport()
        for pattern in ["/v1/user", "/orders/*/items", "/**/files"] { stub.on(.get, pattern, .status(200)) }
        #expect(try await message(path, stub: stub).contains(" Did you mean GET \(expected)? "))
    }

    @Test(arguments: ["/b", "/something/else", "/"])
    func pathThatIsFarFromAllGetsNoHint(path: String) async throws {
        let stub = StubTransport()
        for pattern in ["/a", "/v1/user"] { stub.on(.get, pattern, .status(200)) }
        #expect(try await !message(path, stub: stub).contains("Did you mean"))
    }

    @Test func stubOfAnotherMethodOrQueryIsNamed() async throws {
        let stub = StubTransport()
        stub.on(.get, "/users/*", .status(200))
        stub.on(.get, "/search?q=swift&api_key=hush", .status(200))
        #expect(
            try await message("/users/42", .put, stub: stub).contains(
                "Did you mean GET /users/*? This request's method is PUT."
            )
        )
        let query = try await message("/search?q=java&api_key=hush", stub: stub)
        #expect(query.contains("Did you mean GET /search?q=swift&api_key=<redacted>?"))
        #expect(query.contains("its origin or its query doesn't"))
        #expect(!query.contains("hush"))
    }

    @Test func stubThatIsUsedUpIsNamed() async throws {
        let stub = StubTransport()
        stub.on(.get, "/a", .status(200), times: 1)
        _ = try await stub.send(stubRequest("/a"))
        #expect(try await message("/a", stub: stub).contains("GET /a is used up."))
    }

    @Test func veryLongPathsCostLittle() async throws {
        let stub = StubTransport()
        let long = String(repeating: "a", count: 100_000)
        stub.on(.get, "/" + long, .status(200))
        #expect(try await !message("/b" + long, stub: stub).isEmpty)
    }
}
