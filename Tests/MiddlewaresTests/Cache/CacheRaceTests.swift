import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

@Suite(.againstHanging, .heavy) struct CacheRaceTests {
    private let world = CacheWorld()

    private func begin(_ body: String, _ lines: [String] = []) async throws -> HTTPResponse {
        world.stub.enqueue(
            .stream([Data(body.utf8)], headers: fields(["Cache-Control: max-age=60", "Vary: A"]))
        )
        return try await world.chain.send(try world.request(lines, mode: .reload, streamed: true))
    }

    private func read(_ response: HTTPResponse) async throws { for try await _ in response.body {} }

    @Test func ofTwoResponsesTheOneThatBeganLastStays() async throws {
        for isReversed in [false, true] {
            let old = try await begin("old")
            let new = try await begin("new")
            for response in isReversed ? [new, old] : [old, new] { try await read(response) }
            #expect(try await world.send() == "200 hit new age 0")
        }
        #expect(world.cache.arrivals.count == 0)
    }

    // The newer response was too large to store, but the older one must not take its place.
    @Test func aResponseIsNotStoredAfterANewerOneThatWasTooLarge() async throws {
        let world = CacheWorld(store: MemoryCacheStore(entryByteLimit: 5))
        world.stub.enqueue(.stream([Data("old".utf8)], headers: fields(["Cache-Control: max-age=60"])))
        let old = try await world.chain.send(try world.request(mode: .reload, streamed: true))
        world.stub.enqueue(.json("[1, 2, 3]", headers: fields(["Cache-Control: max-age=60"])))
        _ = try await world.send(mode: .reload)
        try await read(old)
        #expect(try await world.entries().isEmpty)
    }

    @Test func aStoredResponseDoesNotOutliveAStreamedOneThatIsTooLarge() async throws {
        let world = CacheWorld(store: MemoryCacheStore(entryByteLimit: 5))
        world.answer(["Cache-Control: max-age=60"], "old")
        _ = try await world.send()
        func begin(_ chunks: String...) async throws -> HTTPResponse {
            let body = chunks.map { Data($0.utf8) }
            world.stub.enqueue(.stream(body, headers: fields(["Cache-Control: max-age=60"])))
            return try await world.chain.send(try world.request(mode: .reload, streamed: true))
        }
        let earlier = try await begin("early")
        let large = try await begin("la", "rg", "er")
        #expect(try await world.send() == "200 hit old age 0")
        try await read(large)
        #expect(try await world.entries().isEmpty)
        try await read(earlier)
        #expect(try await world.entries().isEmpty, "nor does one that began before it take its place")
        try await read(try await begin("new"))
        #expect(try await world.send() == "200 hit new age 0")
    }

    @Test(arguments: [false, true])
    func whatIsStoredWhileALargerOneIsAskedForDoesNotOutliveIt(isStreamed: Bool) async throws {
        let world = CacheWorld(store: MemoryCacheStore(entryByteLimit: 5))
        let large = [Data("lar".utf8), Data("ger".utf8)]
        world.stub.enqueue(
            .stream(large, headers: fields(["Cache-Control: max-age=60"])).delayed(by: .seconds(5))
        )
        let get = try world.request(mode: .reload, streamed: isStreamed)
        async let response = world.chain.send(get)
        await world.clock.sleepers(1)
        world.answer(["Cache-Control: max-age=60"], "old")
        #expect(try await world.send() == "200 miss old")
        #expect(try await world.entries().count == 1)
        world.advance(5)
        #expect(try await response.body.collect(upTo: 100) == Data("larger".utf8))
        #expect(try await world.entries().isEmpty)
    }

    @Test func aStoredResponseDoesNotOutliveOneThatFailsToBeStored() async throws {
        for weakness in [FragileStore.Weakness.append, .commit] {
            let store = FragileStore(weakness: weakness)
            let world = CacheWorld(store: store)
            let key = try #require(CacheKey(url: try url("https://a.example/x")))
            try await store.inner.put(Data("old".utf8), key, fields(["Cache-Control: max-age=60"]))
            world.answer(["Cache-Control: max-age=60"], "new")
            #expect(try await world.send(mode: .reload) == "200 miss new")
            #expect(try await world.entries().isEmpty)
        }
    }

    // The store refuses an early response; while the cache removes the entries before it, a later response is stored.
    @Test func aResponseThatIsNotStoredRemovesNoLaterOne() async throws {
        let store = SteppedStore(MemoryCacheStore(entryByteLimit: 5))
        let world = CacheWorld(store: store)
        let tooLarge = StubAnswer.json("[1, 2, 3]", headers: fields(["Cache-Control: max-age=60"]))
        world.stub.enqueue(tooLarge.delayed(by: .seconds(5)))
        let get = try world.request(mode: .reload)
        let early = Task { try await world.chain.send(get) }
        await world.clock.sleepers(1)
        let stop = store.stop(at: .beforeLookUp)
        world.advance(5)
        await stop.reached()
        world.answer(["Cache-Control: max-age=60"], "later")
        #expect(try await world.send(mode: .reload) == "200 miss later")
        stop.goOn()
        _ = try await early.value
        #expect(try await world.send() == "200 hit later age 0")
    }

    @Test func aResponseOvertakenByAnotherVariantIsStored() async throws {
        let first = try await begin("one", ["A: 1"])
        let second = try await begin("two", ["A: 2"])
        for response in [second, first] { try await read(response) }
        #expect(try await world.send(["A: 1"]) == "200 hit one age 0")
        #expect(try await world.send(["A: 2"]) == "200 hit two age 0")
    }

    @Test func claimsToVariantsAreBoundedWhileABodyIsUnread() async throws {
        let unread = try await begin("unread", ["A: unread"])
        let early = try await begin("early", ["A: early"])
        for number in 0..<200 { try await read(try await begin("\(number)", ["A: \(number)"])) }
        #expect(try await world.send(["A: 199"]) == "200 hit 199 age 0")
        // Its variant may be one of those whose claims were dropped.
        try await read(early)
        world.answer(["Cache-Control: max-age=60"], "late")
        #expect(try await world.send(["A: early"]) == "200 miss late")
        try await read(unread)
    }

    @Test func validationsInTheBackgroundAreOnePerEntryAndBoundedInAll() async throws {
        let count = 100
        for number in 0..<count {
            world.answer(["Cache-Control: max-age=5, stale-while-revalidate=60"], "one")
            _ = try await world.send(path: "\(number)")
        }
        world.advance(10)
        let answer = StubAnswer.status(200, headers: fields(["Cache-Control: max-age=60"]), body: "two")
        for _ in 0..<count { world.stub.enqueue(answer.delayed(by: .seconds(1))) }
        for _ in 0..<3 {
            for number in 0..<count { #expect(try await world.send(path: "\(number)") == "200 stale one age 10") }
        }
        await world.clock.sleepers(BackgroundValidations.limit)
        world.advance(1)
        await world.cache.backgroundValidations.end()
        #expect(world.stub.requests.count == count + BackgroundValidations.limit)
        // The next reader revalidates each entry that was dropped at the limit.
        for number in 0..<count { _ = try await world.send(path: "\(number)") }
        await world.clock.sleepers(count - BackgroundValidations.limit)
        world.advance(1)
        await world.cache.backgroundValidations.end()
        #expect(world.stub.requests.count == 2 * count)
        for number in 0..<count { #expect(try await world.send(path: "\(number)").hasPrefix("200 hit two")) }
        #expect(world.cache.arrivals.count == 0)
    }

    // A reader that is cancelled while the server is asked throws, and gets no stale response.
    @Test func aCancelledRequestIsCancelledAlsoWhereAStaleResponseIsThere() async throws {
        world.answer(["Cache-Control: max-age=5, stale-if-error=60"], "one")
        _ = try await world.send()
        world.advance(10)
        world.stub.enqueue(.status(200).delayed(by: .seconds(5)))
        let request = try world.request()
        let reader = Task { try await world.chain.send(request) }
        await world.clock.sleepers(1)
        reader.cancel()
        await #expect(throws: CancellationError.self) { try await reader.value }
    }

    @Test func interimResponsesAreNotStored() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let final = StubAnswer.status(200, headers: [.cacheControl: "max-age=60", "A": "final"], body: "one")
        server.enqueue(
            final.preceded(
                byInterim: 103,
                headers: [.link: "</a.css>; rel=preload", .cacheControl: "no-store", "A": "early"]
            )
            .preceded(byInterim: 102)
        )
        let chain = InterceptorChain([world.cache], transport: URLSessionTransport())
        for result in [CacheOutcome.Result.miss, .hit] {
            let response = try await chain.send(HTTPRequest(url: server.url.appending(path: "x")))
            #expect(response.status == 200 && response.headers[values: "A"] == ["final"])
            #expect(response.body.data == Data("one".utf8) && response.context.cacheOutcome?.result == result)
            #expect(!response.headers.contains(.link))
        }
    }

    // MARK: Keys and partitions

    @Test(arguments: [
        "https://a.example/", "https://a.example/x?y#z", "http://a.example/?", "https://a.example/a/../b/./c//d",
        "https://a.example/%7E~?a=b?c/d#e#f", "https://a.example/;a=b/x,y", "https://1.2.3.4/x", "https://a.example./x",
        "https://a-b.example/é?ü=ß", "https://a.example/x?a b", "https://a.example/x@y?z@w", "https://localhost/x",
        "http://a.example:8080/x?y#z", "http://a.example:80/", "https://a.example:80/", "http://a.example:080/",
        "http://a.example:0/", "http://a.example:1/", "http://a.example:65535/x", "http://a.example:/x",
        "http://a.example:80?x", "http://a.example:80", "http://a:80@b.example/", "http://a.example:80/@b",
    ])
    func keyIsTheOriginThePathAndTheQueryAsFoundationParsesThem(text: String) throws {
        func key(_ url: URL) throws -> String {
            let path = url.path(percentEncoded: true)
            let query = url.query(percentEncoded: true).map { "?" + $0 } ?? ""
            return try #require(Origin(url)).description + (path.isEmpty ? "/" : path) + query
        }
        let target = try url(text)
        #expect(try CacheKey(url: target)?.url == key(target))
        let relative = try #require(URL(string: "y/../z?q#f", relativeTo: target))
        #expect(try CacheKey(url: relative)?.url == key(relative))
    }

    @Test func aUserThatLooksLikeAHostWithAPortIsAUser() throws {
        let partitions = CachePartitions()
        let names = try ["http://a:80@b.example/", "http://a:81@b.example/", "http://a:80/@b.example/"].map {
            partitions.name(for: HTTPRequest(url: try url($0)))
        }
        #expect(Set(names).count == 3 && names[2].isEmpty)
        #expect(CacheKey(url: try url("http://a:80@b.example/"))?.url == "http://b.example:80/")
        #expect(CacheKey(url: try url("http://a:80/@b.example/"))?.url == "http://a:80/@b.example/")
    }

    @Test(arguments: [
        ("HTTPS://A.Example/x", "https://a.example:443/x"), ("https://a.example", "https://a.example:443/"),
        ("https://a.example:443/x", "https://a.example:443/x"),
        ("https://a.example:8443/x", "https://a.example:8443/x"),
        ("https://ada:1@a.example/x", "https://a.example:443/x"), ("http://[::1]:80/x", "http://[::1]:80/x"),
        ("https://a.example?q", "https://a.example:443/?q"),
    ])
    func whatNeedsToBeParsedIsParsed(text: String, key: String) throws {
        #expect(CacheKey(url: try url(text))?.url == key)
    }

    @Test(arguments: ["ftp://a.example/x", "file:///x", "data:,x", "/x", "https:///x", "mailto:a@b.example"])
    func whatIsNoTargetHasNoKey(text: String) throws {
        #expect(CacheKey(url: try url(text)) == nil)
    }

    @Test func aVeryLongKeyIsAKey() async throws {
        let long = String(repeating: "x/", count: 100_000)
        world.answer(["Cache-Control: max-age=60"], "one", times: 2)
        for expected in ["200 miss one", "200 hit one age 0"] { #expect(try await world.send(path: long) == expected) }
        #expect(try await world.send(path: long + "y") == "200 miss one")
    }

    @Test func fingerprintsAreTheSameWhetherRememberedOrNot() throws {
        let partitions = CachePartitions()
        func name(_ lines: [String]) throws -> String {
            partitions.name(for: HTTPRequest(url: try url("https://a.example/"), headers: fields(lines)))
        }
        var names: [String] = []
        for _ in 0..<3 {
            for user in 0..<20 { names.append(try name(["Authorization: Bearer \(user)"])) }
        }
        #expect(Set(names).count == 20 && names.prefix(20) == names.suffix(20))
        // Different lists of credentials never share a name.
        let others = [
            ["Authorization: ab", "Cookie: c"], ["Authorization: a", "Cookie: bc"], ["Authorization: abCookie: c"],
            ["Cookie: c", "Authorization: ab"], ["Authorization: ab"], ["authorization: ab "], ["Cookie: ab"],
        ]
        let distinct = Set(try others.map(name))
        #expect(distinct.count == others.count - 1, "but for the case of a name and space around a value")
        #expect(try name([]) == "" && name(["Accept: a"]) == "")
    }
}
