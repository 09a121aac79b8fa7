import Foundation
import Interceptors
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CacheInterceptorTests {
    private let world = CacheWorld()

    @Test func aFreshResponseIsServedWithItsAge() async throws {
        world.answer(["Cache-Control: max-age=60", "Age: 5"], "one")
        #expect(try await world.send() == "200 miss one age 5")
        world.advance(7)
        #expect(try await world.send() == "200 hit one age 12")
        #expect(try await world.send([], .head) == "200 hit  age 12")
        #expect(try await world.send(["Range: bytes=1-"]) == "206 hit ne age 12")
        #expect(try await world.send(["If-Modified-Since: {0}"]) == "304 hit  age 12")
        #expect(world.stub.requests.count == 1)
    }

    @Test func theQueryIsPartOfTheKeyAndTheFragmentIsNot() async throws {
        world.answer(["Cache-Control: max-age=60"], "one")
        world.answer(["Cache-Control: max-age=60"], "two")
        #expect(try await world.send(path: "x?a=1") == "200 miss one")
        #expect(try await world.send(path: "x?a=2") == "200 miss two")
        #expect(try await world.send(path: "x?a=1#top") == "200 hit one age 0")
    }

    @Test func aStaleResponseIsValidatedAndUpdated() async throws {
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\"", "X: old"], "one")
        _ = try await world.send()
        world.advance(10)
        world.answer(304, ["ETag: \"a\"", "Cache-Control: max-age=60", "X: new"])
        let response = try await world.chain.send(try world.request())
        #expect(
            response.status == 200 && response.headers["X"] == "new" && response.body.data == Data("one".utf8)
        )
        #expect(response.context.cacheOutcome?.result == .revalidated)
        #expect(response.context.cacheOutcome?.storing == .updated)
        #expect(
            response.headers[values: .cacheStatus] == ["Interceptors; fwd=stale; fwd-status=304; ttl=60; stored"]
        )
        #expect(world.stub.requests[1].headers[.ifNoneMatch] == "\"a\"")
        world.advance(59)
        #expect(try await world.send() == "200 hit one age 59")
    }

    @Test func aNewResponseReplacesTheStaleOne() async throws {
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\""], "one")
        _ = try await world.send()
        world.advance(10)
        world.answer(["Cache-Control: max-age=5", "ETag: \"b\""], "two")
        #expect(try await world.send() == "200 miss two")
        #expect(try await world.send() == "200 hit two age 0")
        #expect(try await world.entries().count == 1)
    }

    @Test func a304ForAnotherTagIsAskedAgainWithoutConditions() async throws {
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\""], "one")
        _ = try await world.send()
        world.advance(10)
        world.answer(304, ["ETag: \"other\""])
        world.answer(["Cache-Control: max-age=5"], "two")
        #expect(try await world.send() == "200 miss two")
        #expect(!world.stub.requests[2].headers.contains(.ifNoneMatch))
    }

    @Test func theCallersOwnConditionsArePassedOnAndTheir304IsHandedOut() async throws {
        world.answer(304, ["ETag: \"mine\""])
        #expect(try await world.send(["If-None-Match: \"mine\""]) == "304 miss ")
        #expect(world.stub.requests[0].headers[.ifNoneMatch] == "\"mine\"")
        #expect(try await world.entries().isEmpty)
    }

    @Test func varySelectsAmongSeveralStoredVariants() async throws {
        for language in ["de", "en"] { world.answer(["Cache-Control: max-age=60", "Vary: Accept-Language"], language) }
        #expect(try await world.send(["Accept-Language: de"]) == "200 miss de")
        #expect(try await world.send(["Accept-Language: en"]) == "200 miss en")
        #expect(try await world.send(["Accept-Language: de"]) == "200 hit de age 0")
        #expect(try await world.send(["Accept-Language: en"]) == "200 hit en age 0")
        world.answer(["Vary: *", "Cache-Control: max-age=60"], "star")
        #expect(try await world.send(["Accept-Language: fr"]) == "200 miss star")
        #expect(try await world.entries().count == 2)
    }

    @Test func aSuccessfulUnsafeRequestInvalidatesItsURLLocationAndContentLocation() async throws {
        for path in ["x", "y", "z", "x?q"] {
            world.answer(["Cache-Control: max-age=60"], path)
            _ = try await world.send(path: path)
        }
        world.answer(500, [])
        #expect(try await world.send([], .post) == "500 miss ")
        #expect(try await world.send() == "200 hit x age 0", "an error changes nothing")
        world.answer(201, ["Location: /y", "Content-Location: https://b.example/z"])
        let response = try await world.chain.send(try world.request([], .post))
        #expect(response.context.cacheOutcome?.storing == .invalidated)
        #expect(try await world.entries("x").isEmpty)
        #expect(try await world.entries("y").isEmpty)
        #expect(try await world.entries("z").count == 1)
        #expect(try await world.entries("x?q").count == 1)
    }

    @Test func aUsersUnsafeRequestInvalidatesWhatThoseWithoutAUserSee() async throws {
        for partition in [nil, "ada", "bob"] {
            world.answer(["Cache-Control: max-age=60"], partition ?? "nobody")
            _ = try await world.send(partition: partition)
        }
        world.answer(204, [])
        _ = try await world.send([], .post, partition: "ada")
        #expect(try await world.entries().isEmpty)
        #expect(try await world.entries(partition: "ada").isEmpty)
        #expect(try await world.entries(partition: "bob").count == 1)
    }

    @Test func aResponseThatWasOnItsWayWhenItsURLWasInvalidatedIsNotStored() async throws {
        world.stub.enqueue(
            .status(200, headers: fields(["Cache-Control: max-age=60"]), body: "old").delayed(by: .seconds(5))
        )
        let get = try world.request()
        async let response = world.chain.send(get)
        await world.clock.sleepers(1)
        world.answer(204, [])
        _ = try await world.send([], .delete)
        world.advance(5)
        #expect(try await response.body.data == Data("old".utf8))
        #expect(try await response.context.cacheOutcome?.storing != .stored)
        #expect(try await world.entries().isEmpty)
    }

    @Test(
        arguments: [
            (CacheMode.standard, "200 hit one age 1", 1), (.reload, "200 miss two", 2),
            (.revalidate, "200 miss two", 2),
            (.onlyIfCached, "200 hit one age 1", 1), (.offline, "200 hit one age 1", 1),
            (.doNotStore, "200 hit one age 1", 1),
        ] as [(CacheMode, String, Int)]
    )
    func modes(mode: CacheMode, expected: String, count: Int) async throws {
        world.answer(["Cache-Control: max-age=60", "ETag: \"a\""], "one")
        world.answer(["Cache-Control: max-age=60"], "two")
        _ = try await world.send()
        world.advance(1)
        #expect(try await world.send(mode: mode) == expected)
        #expect(world.stub.requests.count == count)
    }

    @Test func doNotStoreStoresNothingAndReloadSaysNoCache() async throws {
        world.answer(["Cache-Control: max-age=60"], "one", times: 3)
        #expect(try await world.send(mode: .doNotStore) == "200 miss one")
        #expect(try await world.send(mode: .onlyIfCached) == "504 unsatisfiable ")
        #expect(try await world.send(mode: .reload) == "200 miss one")
        #expect(world.stub.requests[1].headers[.cacheControl] == "no-cache")
        #expect(try await world.send(["Cache-Control: only-if-cached"]) == "200 hit one age 0")
    }

    @Test func offlineServesAnythingStoredAndSendsNothing() async throws {
        world.answer(["Cache-Control: max-age=5, must-revalidate"], "one")
        _ = try await world.send()
        world.advance(1_000)
        #expect(try await world.send(mode: .offline) == "200 stale one age 1000")
        #expect(try await world.send(mode: .onlyIfCached) == "504 unsatisfiable ")
        #expect(try await world.send(path: "y", mode: .offline) == "504 unsatisfiable ")
        #expect(world.stub.requests.count == 1)
    }

    @Test func whenDisconnectedAStaleResponseIsServedUnlessForbidden() async throws {
        world.answer(["Cache-Control: max-age=5"], "one")
        _ = try await world.send()
        world.answer(["Cache-Control: max-age=5, must-revalidate"], "two")
        _ = try await world.send(path: "y")
        world.advance(100)
        for _ in 0..<4 { world.stub.enqueue(.failure(TransportError(.cannotConnect, "No network."))) }
        let response = try await world.chain.send(try world.request())
        #expect(response.status == 200 && response.context.cacheOutcome?.staleReason == .disconnected)
        #expect(response.headers[.cacheStatus] == "Interceptors; fwd=stale; ttl=-95; detail=disconnected")
        #expect(try await world.send(path: "y") == "504 unsatisfiable ")
        await #expect(throws: TransportError.self) { try await world.send(path: "nothing") }
        #expect(try await world.send(["Cache-Control: no-cache"]) == "504 unsatisfiable ")
        world.stub.enqueue(.failure(TransportError(.tlsFailed, "Not trusted.")))
        await #expect(throws: TransportError.self) { try await world.send() }
        world.stub.enqueue(.failure(CancellationError()))
        await #expect(throws: CancellationError.self) { try await world.send() }
    }

    @Test func staleIfErrorServesTheStaleResponse() async throws {
        world.answer(["Cache-Control: max-age=5, stale-if-error=60"], "one")
        _ = try await world.send()
        world.advance(10)
        world.answer(503, ["Retry-After: 1"], "down", times: 2)
        let response = try await world.chain.send(try world.request())
        #expect(response.status == 200 && response.context.cacheOutcome?.staleReason == .staleIfError)
        #expect(
            response.headers[.cacheStatus]
                == "Interceptors; fwd=stale; fwd-status=503; ttl=-5; detail=stale-if-error"
        )
        world.advance(60)
        #expect(try await world.send() == "503 miss down")
    }

    @Test func staleWhileRevalidateServesAtOnceAndRevalidatesOnce() async throws {
        world.answer(["Cache-Control: max-age=5, stale-while-revalidate=60", "ETag: \"a\""], "one")
        _ = try await world.send()
        world.advance(10)
        let answer = StubAnswer.status(304, headers: fields(["ETag: \"a\"", "Cache-Control: max-age=60"]))
        world.stub.enqueue(answer.delayed(by: .seconds(1)))
        await withTaskGroup(of: String?.self) { group in
            for _ in 0..<100 { group.addTask { try? await world.send(["If-None-Match: \"b\""]) } }
            for await line in group { #expect(line == "200 stale one age 10") }
        }
        await world.clock.sleepers(1)
        world.advance(1)
        await world.cache.backgroundValidations.end()
        #expect(world.stub.requests.count == 2, "a single revalidation in the background")
        #expect(world.stub.requests[1].headers[.ifNoneMatch] == "\"a\"", "of the cache, not of the caller")
        #expect(try await world.send() == "200 hit one age 1")
    }

    @Test func aFailedRevalidationInTheBackgroundIsReportedAndTriedAgain() async throws {
        world.answer(["Cache-Control: max-age=5, stale-while-revalidate=60, must-understand", "ETag: \"a\""], "one")
        _ = try await world.send()
        world.advance(10)
        for count in 1...2 {
            world.stub.enqueue(.failure(URLError(.badURL)))
            #expect(try await world.send() == "200 stale one age 10")
            await world.cache.backgroundValidations.end()
            #expect(world.stub.requests.count == 1 + count && world.reported.count == count)
        }
    }

    @Test func aHEADRefreshesTheStoredResponse() async throws {
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\""], "one")
        _ = try await world.send()
        world.advance(10)
        world.answer(["Cache-Control: max-age=60", "ETag: \"a\""])
        #expect(try await world.send([], .head) == "200 miss ")
        #expect(try await world.send() == "200 hit one age 0")
        world.answer(["ETag: \"b\""])
        _ = try await world.send(["Cache-Control: no-cache"], .head)
        world.answer(["Cache-Control: max-age=60", "ETag: \"b\""], "two")
        #expect(try await world.send() == "200 miss two")
    }

    @Test func aClockMovedBackDoesNotMakeAStaleEntryFresh() async throws {
        world.answer(["Cache-Control: max-age=60"], "one")
        _ = try await world.send()
        world.advance(100)
        world.answer(["Cache-Control: max-age=60"], "two")
        world.moveWallClock(by: -90)
        #expect(try await world.send() == "200 miss two")
        world.advance(59)
        #expect(try await world.send() == "200 hit two age 59")
        world.moveWallClock(by: -1_000_000)
        world.advance(1)
        world.answer(["Cache-Control: max-age=60"], "three")
        #expect(try await world.send() == "200 miss three")
        world.moveWallClock(by: 10_000_000)
        world.answer(["Cache-Control: max-age=60"], "four")
        #expect(try await world.send() == "200 miss four")
    }

    @Test func anEntryFromTheFutureIsNotFresh() async throws {
        world.answer(["Cache-Control: max-age=60"], "one")
        _ = try await world.send()
        let later = CacheWorld(store: world.store)
        later.moveWallClock(by: -10)
        later.answer(["Cache-Control: max-age=60"], "two")
        #expect(try await later.send() == "200 miss two")
    }

    @Test func theTimeInFlightCountsAsAge() async throws {
        let answer = StubAnswer.status(200, headers: fields(["Cache-Control: max-age=60", "Age: 1"]), body: "one")
        world.stub.enqueue(answer.delayed(by: .seconds(30)))
        let get = try world.request()
        async let first = world.chain.send(get)
        await world.clock.sleepers(1)
        world.advance(30)
        _ = try await first
        #expect(try await world.send() == "200 hit one age 31")
    }

    @Test func validationInTheBackgroundAsksForTheWholeWithoutConditionsOfTheCaller() async throws {
        world.answer(["Cache-Control: max-age=5, stale-while-revalidate=60", "ETag: \"a\""], "one")
        _ = try await world.send()
        world.advance(10)
        world.answer(["Cache-Control: max-age=5", "ETag: \"b\""], "two")
        #expect(try await world.send(["Range: bytes=0-1", "If-Range: \"a\""]).hasPrefix("206 stale on"))
        await world.cache.backgroundValidations.end()
        let sent = try #require(world.stub.requests.last)
        #expect(sent.headers.contains(.ifNoneMatch))
        #expect(!sent.headers.contains(.range) && !sent.headers.contains(.ifRange))
        #expect(try await world.send() == "200 hit two age 0")
    }
}
