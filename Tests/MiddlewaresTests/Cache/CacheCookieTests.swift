import Middlewares
import Testing
import TransportTesting

@testable import Middlewares

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

    @Test func theCookiesOfAnotherOriginThatAStaleResponseStandsInForAreNotKept() async throws {
        world.answer(["Cache-Control: max-age=5, stale-if-error=60", "Set-Cookie: sid=2"])
        let chain = InterceptorChain([.cookies(jar), world.cache, .followRedirects()], transport: world.stub)
        _ = try await chain.send(try world.request(partition: "ada"))
        #expect(session == "2")
        for (origin, expected) in [("https://b.example", "2"), ("https://a.example", "3")] {
            world.advance(10)
            world.answer(302, ["Location: \(origin)/y"])
            world.answer(503, ["Set-Cookie: sid=3"])
            let response = try await chain.send(try world.request(partition: "ada"))
            #expect(response.context.cacheOutcome?.result == .stale)
            #expect(session == expected)
        }
    }

    @Test func noCookieIsAmongWhatIsStored() async throws {
        world.answer(["Cache-Control: max-age=60", "Set-Cookie: sid=2"])
        let response = try await world.chain.send(try world.request())
        #expect(response.headerFields[.setCookie] == "sid=2", "the server's own answer is handed on as it is")
        #expect(try await world.entries().first?.response.headerFields.contains(.setCookie) == false)
    }
}
