import Interceptors
import Testing

@testable import InterceptorsMiddlewares

/// Which variant is selected, and its age.
@Suite(.againstHanging) struct CachePolicySelectionTests {
    @Test func varyStarNeverMatches() throws {
        let entry = try stored(["Cache-Control: max-age=60", "Vary: *"])
        #expect(CachePolicy().select(from: [entry], for: try Row("4.1", [], "").httpRequest()) == nil)
    }

    @Test func varySelectsAmongSeveralStoredVariantsTheMostRecent() throws {
        let variants = [
            try stored(["Date: {1}", "Vary: Foo"], for: ["Foo: 1"]),
            try stored(["Date: {2}", "Vary: Foo"], for: ["Foo: 2"]),
            try stored(["Date: {3}", "Vary: Foo"], for: ["Foo: 1"]), try stored(["Date: {9}"]),
        ]
        func selected(_ value: String) throws -> Int? {
            CachePolicy().select(from: variants, for: try Row("4.1", [], request: ["Foo: \(value)"], "").httpRequest())
        }
        #expect(try selected("1") == 2)
        #expect(try selected("2") == 1)
        #expect(try selected("3") == 3, "one that omits Vary is chosen where none that has it matches")
    }

    @Test func aClockMovedBackDoesNotMakeAStaleEntryFresh() throws {
        let entry = try stored(["Cache-Control: max-age=60"])
        let decision = CachePolicy().decide(try Row("4.2.3", [], "").httpRequest(), stored: [entry], now: start - 1)
        #expect(describe(decision) == "stale", "an age that can't be known is not one that is fresh")
        let tolerant = try Row("5.2.1.2", [], request: ["Cache-Control: max-stale=99999"], "").httpRequest()
        #expect(describe(CachePolicy().decide(tolerant, stored: [entry], now: start - 1)) == "stale")
    }

    @Test func agesNeverOverflow() throws {
        let entry = try stored(["Cache-Control: max-age=60", "Age: 99999999999999999999"])
        let request = try Row("4.2.3", [], "").httpRequest()
        for (initial, time, now) in [
            (Int64.max, start, start), (.max, .min, .max), (0, .min, .max), (0, .max, .min), (.min, 0, 0), (0, .min, 0),
        ] as [(Int64, Int64, Int64)] {
            var response = entry.response
            (response.initialAge, response.responseTime) = (initial, time)
            #expect(describe(CachePolicy().decide(request, stored: [entry.with(response)], now: now)) == "stale")
        }
    }

    @Test func theTimeInFlightCountsAsAge() throws {
        let response = HTTPResponse(status: 200, headers: fields(["Age: 5", "Date: {0}"]))
        #expect(CachePolicy.initialAge(response.headers, timing: .at(0, delay: 7)) == 12)
        #expect(CachePolicy.initialAge(response.headers, timing: .at(20, delay: 7)) == 20)
        #expect(CachePolicy.initialAge([:], timing: .at(0, delay: -7)) == 0)
    }
}
