import Foundation
import Interceptors
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CachePolicyStoringTests {
    // Section numbers refer to RFC 9111 unless the row names another RFC.
    @Test(arguments: [
        Row("3", ["Cache-Control: max-age=60"], "stored"),
        Row("3", ["X: nothing said"], "stored"),
        Row("3", ["X: nothing said"], status: 404, "stored"),
        Row("3", ["X: nothing said"], status: 301, "stored"),
        Row("3", ["X: nothing said"], status: 302, "not stored: status"),
        Row("3", ["X: nothing said"], status: 500, "not stored: status"),
        Row("3", ["X: nothing said"], status: 299, "not stored: status"),
        Row("3", ["Cache-Control: max-age=60"], status: 299, "stored"),
        Row("3", ["Cache-Control: max-age=60"], status: 599, "stored"),
        Row("4.3.3", ["Cache-Control: max-age=60"], status: 500, "stored"),
        Row("4.3.3", ["Cache-Control: max-age=0"], status: 500, "not stored: status"),
        Row("4.3.3", ["Cache-Control: max-age=60", "Age: 60"], status: 503, "not stored: status"),
        Row("4.3.3", ["Cache-Control: no-cache, private"], status: 500, "not stored: status"),
        Row("4.3.3", ["Cache-Control: no-cache, max-age=60"], status: 429, "not stored: status"),
        Row("4.3.3", ["Cache-Control: private"], status: 403, "not stored: status"),
        Row("4.3.3", ["Cache-Control: no-cache=\"a\", max-age=60"], status: 403, "not stored: status"),
        Row("4.3.3", ["Cache-Control: no-cache, private"], status: 404, "stored"),
        Row("4.3.3", ["Cache-Control: max-age=0"], status: 410, "stored"),
        Row("3", ["Expires: {60}"], status: 302, "stored"),
        Row("3", ["Cache-Control: public"], status: 302, "stored"),
        Row("3", ["Cache-Control: private"], status: 302, "stored"),
        Row("3", ["Cache-Control: s-maxage=60"], status: 302, "not stored: status"),
        Row("3", ["Cache-Control: max-age=60"], status: 304, "not stored: status"),
        Row("3", ["Cache-Control: max-age=60"], status: 103, "not stored: status"),
        Row("RFC 9110 15.5.2", ["Cache-Control: max-age=60"], status: 401, "not stored: status"),
        Row("RFC 9110 15.5.8", ["Cache-Control: max-age=60"], status: 407, "not stored: status"),
        Row(
            "RFC 9110 15.5.13",
            ["Cache-Control: max-age=60"],
            request: ["If-Match: \"a\""],
            status: 412,
            "not stored: status"
        ),
        Row(
            "RFC 9110 15.5.17",
            ["Cache-Control: max-age=60"],
            request: ["Range: bytes=9-"],
            status: 416,
            "not stored: status"
        ),
        Row("3.3", ["Cache-Control: max-age=60", "Content-Range: bytes 0-1/10"], status: 206, "not stored: partial"),
        Row("3", ["Cache-Control: max-age=60"], method: .post, "not stored: method"),
        Row("3", ["Cache-Control: max-age=60"], method: .head, "not stored: method"),
        Row("3", ["Cache-Control: max-age=60"], method: .query, "not stored: method"),
        Row("3.5", ["Cache-Control: max-age=60"], request: ["Authorization: Bearer a"], "stored"),
        Row("5.2.1.5", ["Cache-Control: max-age=60"], request: ["Cache-Control: no-store"], "not stored: request"),
        Row("5.2.2.5", ["Cache-Control: max-age=60, no-store"], "not stored: no-store"),
        Row("5.2.2.5", ["Cache-Control: NO-STORE=x"], "not stored: no-store"),
        Row("5.2.2.3", ["Cache-Control: no-store, must-understand, max-age=60"], "stored"),
        Row(
            "5.2.2.3",
            ["Cache-Control: no-store, must-understand, max-age=60"],
            status: 299,
            "not stored: must-understand"
        ),
        Row("5.2.2.3", ["Cache-Control: must-understand, max-age=60"], status: 599, "not stored: must-understand"),
        Row("5.2.2.4", ["Cache-Control: no-cache"], "stored"),
        Row("5.2.2.7", ["Cache-Control: private=\"x\", max-age=60"], "stored"),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: *"], "not stored: Vary"),
        Row("4.1", ["Cache-Control: max-age=60", "Vary: Accept, *"], "not stored: Vary"),
        Row("5.4", ["Pragma: no-cache", "Cache-Control: max-age=60"], "stored"),
        Row("7.3", ["Set-Cookie: a=b", "Cache-Control: max-age=60"], "stored"),
        Row("mode", ["Cache-Control: max-age=60"], mode: .doNotStore, "not stored: request"),
        Row("mode", ["Cache-Control: max-age=60"], mode: .reload, "stored"),
    ])
    func storing(row: Row) throws {
        let (request, timing) = (try row.httpRequest(), CachePolicy.Timing.at(0))
        guard case .forward(let forward) = CachePolicy().decide(request, stored: [], now: start) else {
            Issue.record("served, though nothing is stored")
            return
        }
        switch CachePolicy().receive(row.httpResponse, to: request, forward, stored: [], timing: timing) {
        case .pass(let reason, _): #expect(reason.description == row.expected)
        case .store: #expect(row.expected == "stored")
        case let other: Issue.record("\(other)")
        }
    }

    @Test func hopByHopFieldsAreNeverStoredThoseThatConnectionListsIncluded() throws {
        let entry = try stored([
            "Connection: close, X-Hop", "Connection: x-other", "X-Hop: 1", "X-Other: 2", "Keep-Alive: 5",
            "TE: trailers",
            "Transfer-Encoding: chunked", "Upgrade: h2c", "Proxy-Authenticate: Basic", "Proxy-Authentication-Info: a",
            "Proxy-Authorization: a", "Proxy-Connection: close", "Trailer: X", "Age: 5", "X-Kept: 1", "Link: a",
            "Link: b", "Set-Cookie: a", "Set-Cookie: b", "Date: {0}", "Cache-Control: max-age=1",
        ])
        #expect(
            entry.response.headers.map(\.name.rawName) == [
                "X-Kept", "Link", "Link", "Set-Cookie", "Set-Cookie", "Date", "Cache-Control",
            ]
        )
        #expect(entry.response.initialAge == 5)
    }

    @Test func connectionCannotRemoveCacheControl() throws {
        #expect(
            try stored(["Connection: cache-control", "Cache-Control: no-cache"]).response.headers.contains(
                .cacheControl
            )
        )
    }

    @Test(arguments: [[], ["Date: soon"]])
    func aResponseWithoutADateIsDatedByItsArrival(lines: [String]) throws {
        #expect(try stored(lines, at: 7).response.headers[.date] == date(7))
    }

    private func receive(
        _ status: HTTPResponse.Status,
        _ lines: [String],
        on entries: [CacheEntry],
        request: [String] = [],
        method: HTTPRequest.Method = .get,
        mode: CacheMode = .standard,
        at offset: Int64 = 100
    ) throws -> CachePolicy.StorageDecision {
        let request = try Row("", [], request: request, method: method, mode: mode, "").httpRequest()
        guard case .forward(let forward) = CachePolicy().decide(request, stored: entries, now: start + offset) else {
            Issue.record("served")
            return .sendAgain
        }
        let response = HTTPResponse(status: status, headers: fields(lines))
        return CachePolicy().receive(response, to: request, forward, stored: entries, timing: .at(offset))
    }

    @Test func a304UpdatesEveryStoredFieldButThoseThatTheBodyRestsOn() throws {
        let old = try stored([
            "Cache-Control: max-age=5", "ETag: \"a\"", "Content-Length: 10", "Content-Encoding: x", "X: old", "Y: kept",
            "Age: 9",
        ])
        let lines = [
            "ETag: W/\"a\"", "Cache-Control: max-age=60", "Content-Length: 0", "Content-Encoding: gzip",
            "Content-Range: bytes 0-1/2",
            "Content-MD5: x", "X: new", "X: newer", "Connection: Z", "Z: hop", "Date: {99}",
        ]
        guard case .freshen(let updates, true, true) = try receive(304, lines, on: [old]), let new = updates[0] else {
            Issue.record("not freshened")
            return
        }
        let kept = new.headers
        #expect(kept[.cacheControl] == "max-age=60" && kept[values: "X"] == ["new", "newer"] && kept["Y"] == "kept")
        #expect(kept[.contentLength] == "10" && kept[.contentEncoding] == "x" && kept[.eTag] == "W/\"a\"")
        #expect(!kept.contains("Z") && !kept.contains(.contentRange) && kept["Content-MD5"] == "x")
        #expect(new.initialAge == 1 && new.responseTime == start + 100)
    }

    @Test func a304WithAStrongValidatorUpdatesThoseThatHaveItAndNoOther() throws {
        let entry = try stored(["Cache-Control: max-age=5", "ETag: \"a\""])
        guard case .freshen(let updates, true, true) = try receive(304, ["ETag: \"a\""], on: [entry]) else {
            Issue.record("§4.3.4")
            return
        }
        #expect(updates.count == 1)
        #expect(try receive(304, ["ETag: \"b\""], on: [entry]) == .sendAgain, "§4.3.4: it must not update any")
        let others = [entry, try stored(["Cache-Control: max-age=5", "ETag: W/\"a\"", "Date: {-9}"])]
        guard case .freshen(let updates, true, true) = try receive(304, ["ETag: \"a\""], on: others) else {
            Issue.record("§4.3.4")
            return
        }
        #expect(updates.keys.sorted() == [0], "one that wasn't asked about needs the same strong tag")
    }

    // nginx answers like this for content that it compresses: it compares the weak tag weakly, and returns the strong
    // one.
    @Test(arguments: [[], ["If-None-Match: \"b\""]])
    func aStrongTagConfirmsTheWeakOneThatWasAskedAbout(request: [String]) throws {
        let weak = try stored(["Cache-Control: max-age=5", "ETag: W/\"a\""])
        let answer = try receive(304, ["ETag: \"a\"", "X: new"], on: [weak], request: request)
        guard case .freshen(let updates, true, true) = answer, let new = updates[0] else {
            Issue.record("RFC 9110 §13.1.2")
            return
        }
        #expect(new.headers["X"] == "new" && new.responseTime == start + 100)
        #expect(new.headers[.eTag] == "W/\"a\"", "nothing says that it is the same byte by byte")
        #expect(try receive(304, ["ETag: \"c\""], on: [weak], request: request) == .sendAgain)
    }

    @Test func eTagsCompareWeaklyForGETRevalidation() throws {
        let entry = try stored(["Cache-Control: max-age=5", "ETag: \"a\""])
        guard case .freshen = try receive(304, ["ETag: W/\"a\""], on: [entry]) else {
            Issue.record("RFC 9110 §13.1.2")
            return
        }
    }

    @Test func a304WithoutAValidatorSpeaksOfTheOneThatWasAskedAbout() throws {
        let entry = try stored(["Cache-Control: max-age=5", "ETag: \"a\""])
        guard case .freshen(_, true, true) = try receive(304, [], on: [entry]) else {
            Issue.record("not freshened")
            return
        }
        #expect(
            try receive(304, [], on: [entry], request: ["If-None-Match: \"b\""]) == .sendAgain,
            "it may be the caller's"
        )
        #expect(try receive(304, ["ETag: \"b\""], on: [entry], request: ["If-None-Match: \"b\""]) == .pass(.status))
        guard
            case .freshen(_, true, _) = try receive(
                304,
                ["ETag: \"a\""],
                on: [entry],
                request: ["If-None-Match: \"b\""]
            )
        else {
            Issue.record("§4.3.2: the caller gets a 200")
            return
        }
    }

    @Test func aFullResponseReplacesWhatTheRequestSelects() throws {
        let entries = [
            try stored(["Vary: A", "Cache-Control: max-age=5"], for: ["A: 1"]),
            try stored(["Vary: A", "Cache-Control: max-age=5"], for: ["A: 2"]),
        ]
        guard case .store(_, [1]) = try receive(200, ["Vary: A"], on: entries, request: ["A: 2"]) else {
            Issue.record("§4.3.3")
            return
        }
        #expect(
            try receive(200, ["Cache-Control: no-store"], on: entries, request: ["A: 1"])
                == .pass(.noStore, removing: [0])
        )
        #expect(
            try receive(410, ["Cache-Control: no-store"], on: entries, request: ["A: 1"])
                == .pass(.noStore, removing: [0])
        )
        #expect(try receive(500, [], on: entries, request: ["A: 1"]) == .pass(.status))
        #expect(try receive(206, [], on: entries, request: ["A: 1", "Range: bytes=0-1"]) == .pass(.partial))
    }

    @Test(
        arguments: [
            ("RFC 5861 4", "stale-if-error=95", [], 500, true), ("RFC 5861 4", "stale-if-error=94", [], 500, false),
            ("RFC 5861 4", "stale-if-error=95", [], 502, true), ("RFC 5861 4", "stale-if-error=95", [], 503, true),
            ("RFC 5861 4", "stale-if-error=95", [], 504, true), ("RFC 5861 4", "stale-if-error=95", [], 501, false),
            ("RFC 5861 4", "stale-if-error=95", [], 404, false),
            ("RFC 5861 4", "x", ["Cache-Control: stale-if-error=95"], 500, true),
            ("4.2.4", "stale-if-error=95, must-revalidate", [], 500, false),
            ("4.2.4", "stale-if-error=95, no-cache", [], 500, false),
            ("5.2.1.4", "stale-if-error=95", ["Cache-Control: no-cache"], 500, false),
            ("4.3.3", "x", [], 500, false),
        ] as [(String, String, [String], Int, Bool)]
    )
    func staleIfError(section: String, directives: String, request: [String], code: Int, isServed: Bool) throws {
        let entry = try stored(["Cache-Control: max-age=5, \(directives)", "ETag: \"a\""])
        let status = try #require(HTTPResponse.Status(code: code))
        #expect((try receive(status, [], on: [entry], request: request) == .serveStale(.staleIfError)) == isServed)
    }

    @Test(
        arguments: [
            ("4.2.4", "max-age=5", [], CacheMode.standard, CacheOutcome.Reason.disconnected),
            ("5.2.2.2", "max-age=5, must-revalidate", [], .standard, nil),
            ("5.2.2.4", "max-age=5, no-cache", [], .standard, nil),
            ("5.2.1.1", "max-age=5", ["Cache-Control: max-age=10"], .standard, nil),
            ("5.2.1.4", "max-age=5", ["Cache-Control: no-cache"], .standard, nil),
            ("5.2.1.3", "max-age=5", ["Cache-Control: min-fresh=1"], .standard, nil),
            ("5.2.1.3", "max-age=5, stale-if-error=99", ["Cache-Control: min-fresh=1"], .standard, nil),
            ("5.4", "max-age=5", ["Pragma: no-cache"], .standard, nil),
            ("mode", "max-age=5", [], .reload, nil), ("mode", "max-age=5", [], .revalidate, nil),
            ("RFC 5861 4", "max-age=5, stale-if-error=99", [], .standard, .staleIfError),
            ("5.2.1.3", "max-age=5", ["Cache-Control: min-fresh=1"], .standard, nil),
        ] as [(String, String, [String], CacheMode, CacheOutcome.Reason?)]
    )
    func staleWhenDisconnected(
        section: String,
        directives: String,
        request: [String],
        mode: CacheMode,
        expected: CacheOutcome.Reason?
    ) throws {
        let entry = try stored(["Cache-Control: \(directives)"])
        let request = try Row("", [], request: request, mode: mode, "").httpRequest()
        let found = CachePolicy().afterFailure(entry.response, request, now: start + 100)
        #expect(found == expected.map { .served($0) } ?? .forbidden)
    }

    @Test(
        arguments: [
            (["ETag: \"a\"", "X: new"], "updated"), (["ETag: W/\"a\""], "updated"), (["ETag: \"b\""], "invalid"),
            (["ETag: a"], "invalid"), (["Last-Modified: {-5}"], "invalid"),
            (["Content-Length: 10"], "updated"), (["Content-Length: 11"], "invalid"), (["X: new"], "updated"),
            (["Content-Length: 4", "Content-Encoding: gzip"], "updated"),
        ] as [([String], String)]
    )
    func headUpdatesOrInvalidatesWhatIsStored(lines: [String], expected: String) throws {
        let entry = try stored(["Cache-Control: max-age=5", "ETag: \"a\"", "X: old"])
        guard case .freshen(let updates, false, true) = try receive(200, lines, on: [entry], method: .head),
            let new = updates[0]
        else {
            Issue.record("§4.3.5")
            return
        }
        #expect(new.needsValidation == (expected == "invalid"))
        #expect(new.responseTime == start + (expected == "updated" ? 100 : 0))
    }

    @Test(arguments: [("4", false), ("5", true)])
    func headOfWhatIsStoredAsItWasSentHasItsLength(length: String, isInvalid: Bool) throws {
        let entry = try stored(["Cache-Control: max-age=5", "Content-Length: 4", "Content-Encoding: br"])
        let lines = ["Content-Length: \(length)", "Content-Encoding: br"]
        guard case .freshen(let updates, false, true) = try receive(200, lines, on: [entry], method: .head) else {
            Issue.record("§4.3.5")
            return
        }
        #expect(updates[0]?.needsValidation == isInvalid)
    }

    @Test(
        arguments: [
            (.post, 200, [], ["x?q"]), (.put, 204, [], ["x?q"]), (.delete, 302, [], ["x?q"]),
            ("UNKNOWN", 200, [], ["x?q"]),
            (.post, 400, [], []), (.post, 500, [], []), (.get, 200, ["Location: /y"], []), (.options, 200, [], []),
            (.post, 201, ["Location: /y?z", "Content-Location: w"], ["x?q", "y?z", "w"]),
            (.post, 201, ["Location: https://b.example/y", "Content-Location: http://a.example/y"], ["x?q"]),
            (.post, 201, ["Location: https://a.example:443/y"], ["x?q", "y"]),
            (.post, 201, ["Location: //b.example/y"], ["x?q"]),
        ] as [(HTTPRequest.Method, Int, [String], [String])]
    )
    func unsafeMethodsInvalidateOfTheSameOriginAlone(
        method: HTTPRequest.Method,
        code: Int,
        lines: [String],
        paths: [String]
    ) throws {
        let response = HTTPResponse(status: try #require(HTTPResponse.Status(code: code)), headers: fields(lines))
        let request = try Row("4.4", [], method: method, "").httpRequest()
        let keys = CachePolicy.invalidated(by: response, to: request).compactMap { CacheKey(url: $0) }
        #expect(keys == (try paths.compactMap { CacheKey(url: try url("https://a.example/\($0)")) }))
    }

    @Test(arguments: [502, 504]) func gatewaysFailureInvalidatesBecauseTheServerMayHaveActed(code: Int) throws {
        let response = HTTPResponse(status: try #require(HTTPResponse.Status(code: code)))
        let request = try Row("4.4", [], method: .post, "").httpRequest()
        #expect(CachePolicy.invalidated(by: response, to: request) == [request.url])
    }

    @Test func retriedDeleteInvalidatesAlsoIfTheLastAttemptFindsNothing() async throws {
        let world = CacheWorld()
        world.answer(["Cache-Control: max-age=60"], "one")
        _ = try await world.send()
        world.stub.enqueue(.failure(TransportError(.connectionLost, "After the server has acted.")))
        world.answer(404, [])
        let retry: AnyInterceptor = .retry(.constant(.zero, maxAttempts: 2), time: .manual(world.clock))
        let chain = InterceptorChain([world.cache, retry], transport: world.stub)
        #expect(try await chain.send(world.request([], .delete)).status == 404)
        world.answer(410, [])
        #expect(try await world.send().hasPrefix("410 miss"))
    }

    @Test func responseOfUnknownAgeIsTooStaleIfTheServerCannotBeReached() throws {
        let entry = try stored(["Cache-Control: max-age=60"])
        let request = HTTPRequest(url: try url("https://a.example/x?q"))
        #expect(CachePolicy().afterFailure(entry.response, request, now: start - 1_000) == .tooStale)
    }
}
