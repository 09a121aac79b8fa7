import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging) struct CacheCookieTests {
    private let world = CacheWorld()
    private let jar = CookieJar()

    private func get(_ path: String) async throws -> CacheOutcome.Result? {
        let chain = InterceptorChain([.cookies(jar), world.cache], transport: world.stub)
        return try await chain.send(try world.request(path: path, partition: "ada")).context.cacheOutcome?.result
    }

    private var session: String? { jar.cookies.first { $0.name == "sid" }?.value }

    @Test func aHitNeverSetsACookieAgain() async throws {
        world.answer(["Cache-Control: max-age=60", "Set-Cookie: sid=2; Max-Age=600"])
        #expect(try await get("feed") == .miss)
        world.answer(["Cache-Control: no-store", "Set-Cookie: sid=3"])
        #expect(try await get("x") == .miss)
        #expect(try await get("feed") == .hit)
        #expect(session == "3")
        world.advance(100)
        world.stub.enqueue(.failure(TransportError(.cannotConnect, "No network.")))
        #expect(try await get("feed") == .stale)
        #expect(session == "3")
    }

    @Test func aConfirmedResponseSetsTheCookiesOfTheConfirmationAndNoOther() async throws {
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\"", "Set-Cookie: sid=2"])
        _ = try await get("feed")
        world.answer(["Cache-Control: no-store", "Set-Cookie: sid=3"])
        _ = try await get("x")
        world.advance(10)
        world.answer(304, ["ETag: \"a\"", "Cache-Control: max-age=5"])
        #expect(try await get("feed") == .revalidated)
        #expect(session == "3")
        world.advance(10)
        world.answer(304, ["ETag: \"a\"", "Cache-Control: max-age=60", "Set-Cookie: sid=4", "Set-Cookie: b=1"])
        #expect(try await get("feed") == .revalidated)
        #expect(session == "4" && jar.cookies.count == 2)
        jar.removeAll()
        #expect(try await get("feed") == .hit)
        #expect(jar.cookies.isEmpty)
    }

    @Test func theCookiesOfAFailureThatAStaleResponseStandsInForAreKept() async throws {
        world.answer(["Cache-Control: max-age=5, stale-if-error=60", "Set-Cookie: sid=2"])
        _ = try await get("feed")
        world.advance(10)
        world.answer(503, ["Set-Cookie: sid=3"])
        #expect(try await get("feed") == .stale)
        #expect(session == "3")
    }

    private func toMirror(_ origin: String) throws -> InterceptorChain {
        let target = try url("\(origin)/y")
        let mirror: some Interceptor = .intercept { request, next in
            var request = request
            request.url = target
            return try await next(request)
        }
        return InterceptorChain([.cookies(jar), world.cache, mirror], transport: world.stub)
    }

    @Test func theCookiesOfAnotherOriginThatAStaleResponseStandsInForAreNotKept() async throws {
        world.answer(["Cache-Control: max-age=5, stale-if-error=60", "Set-Cookie: sid=2"])
        _ = try await toMirror("https://a.example").send(try world.request(partition: "ada"))
        #expect(session == "2")
        for (origin, expected) in [("https://b.example", "2"), ("https://a.example", "3")] {
            let chain = try toMirror(origin)
            world.advance(10)
            world.answer(503, ["Set-Cookie: sid=3"])
            let response = try await chain.send(try world.request(partition: "ada"))
            #expect(response.context.cacheOutcome?.result == .stale)
            #expect(session == expected)
        }
    }

    // RFC 9111 §3.1, §7.3
    @Test func setCookieIsStoredAndReplayedLikeAnyField() async throws {
        world.answer(["Cache-Control: max-age=60", "Set-Cookie: sid=2", "Set-Cookie: b=1"])
        for isHit in [false, true] {
            let response = try await world.chain.send(try world.request())
            #expect(response.headers[values: .setCookie] == ["sid=2", "b=1"])
            #expect(response.receivedCookies[values: .setCookie] == (isHit ? [] : ["sid=2", "b=1"]))
        }
    }

    @Test func cookiesOfAnotherOriginDoNotReplaceStoredOnes() async throws {
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\"", "Set-Cookie: sid=2"])
        _ = try await toMirror("https://a.example").send(try world.request(partition: "ada"))
        world.advance(10)
        world.answer(304, ["ETag: \"a\"", "Set-Cookie: sid=3"])
        let response = try await toMirror("https://b.example").send(try world.request(partition: "ada"))
        #expect(response.context.cacheOutcome?.result == .revalidated)
        #expect(response.headers[values: .setCookie] == ["sid=2"])
        #expect(session == "2")
    }

    @Test func oneOfTheRequestsThatShareAStoredResponseGetsItsCookies() async throws {
        let (joined, gate) = (Tally(), Latch())
        let coalesce = CoalesceInterceptor(observe: counting(joined))
        let waiting = AnyInterceptor.intercept { request, next in
            await gate.opened()
            return try await next(request)
        }
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\"", "Set-Cookie: sid=2"])
        _ = try await world.send()
        world.advance(10)
        world.answer(304, ["ETag: \"a\"", "Set-Cookie: sid=3"])
        let chain = InterceptorChain([coalesce, waiting, world.cache], transport: world.stub)
        let request = try world.request()
        let tasks = (0..<5).map { _ in Task { try await chain.send(request) } }
        await joined.reached(5)
        gate.open()
        var (replayed, received) = (0, 0)
        for task in tasks {
            let response = try await task.value
            replayed += response.headers.contains(.setCookie) ? 1 : 0
            received += response.receivedCookies.contains(.setCookie) ? 1 : 0
        }
        #expect((replayed, received) == (1, 1))
    }

    @Test func aHitInAnInnerCacheSetsNoCookieBehindTheMissOfAnOuterOne() async throws {
        world.answer(["Cache-Control: max-age=60", "Set-Cookie: sid=2; Max-Age=600"])
        #expect(try await get("feed") == .miss)
        #expect(session == "2")
        jar.removeAll()
        let outer = CacheInterceptor(store: MemoryCacheStore(), time: TimeSource(clock: world.clock), report: { _ in })
        let chain = InterceptorChain([.cookies(jar), outer, world.cache], transport: world.stub)
        let response = try await chain.send(try world.request(path: "feed", partition: "ada"))
        #expect(response.context.cacheOutcome?.result == .miss)
        #expect(response.headers[.setCookie] != nil && response.receivedCookies.isEmpty)
        #expect(jar.cookies.isEmpty)
    }
}
