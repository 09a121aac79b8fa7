import Foundation
import Interceptors
import InterceptorsTesting
import InterceptorsTraffic
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

/// How a failed request affects the stored response.
@Suite(.againstHanging) struct CacheFailureTests {
    private let world = CacheWorld()

    private func fail(_ error: any Error, times: Int = 1) {
        for _ in 0..<times { world.stub.enqueue(.failure(error)) }
    }

    private func chain(_ inside: any Interceptor...) -> InterceptorChain {
        InterceptorChain([world.cache] + inside, transport: world.stub)
    }

    // MARK: Unsafe requests

    @Test(
        arguments: [
            (.cannotFindHost, true), (.cannotConnect, true), (.invalidRequest, true), (.unsupportedURL, true),
            (.connectionLost, false), (.timedOut, false), (.tlsFailed, false), (.truncated, false),
            (.transportFailed, false),
            (.bodyNotReplayable, false), (.unreadableFile, false), (.unsupported, false),
        ] as [(HTTPErrorCode, Bool)]
    )
    func anUnsafeRequestThatFailedInvalidatesItsURLUnlessNothingWasSent(
        code: HTTPErrorCode,
        isKept: Bool
    ) async throws {
        world.answer(["Cache-Control: max-age=60"], "one")
        _ = try await world.send()
        fail(TransportError(code, "Failed."))
        await #expect(throws: TransportError.self) { try await world.send([], .put) }
        #expect(try await world.entries().isEmpty == !isKept)
    }

    @Test func aRefusedRequestInvalidatesNothing() async throws {
        world.answer(["Cache-Control: max-age=60"], "one")
        _ = try await world.send()
        let put = try world.request([], .put)
        fail(UnsentError.timedOut(waitingFor: "a permit", put))
        await #expect(throws: TransportError.self) { try await chain().send(put) }
        let origin = try #require(Origin(put.url))
        fail(LimitError.circuitOpen(origin, nextProbe: .seconds(1), request: put))
        await #expect(throws: LimitError.self) { try await chain().send(put) }
        fail(LimitError.queueFull("rateLimit", waiting: 1, request: put))
        await #expect(throws: LimitError.self) { try await chain().send(put) }
        fail(TransportError.unsigned(.unknownOrigin, "Whose?", request: put))
        await #expect(throws: TransportError.self) { try await chain().send(put) }
        #expect(try await world.send() == "200 hit one age 0")
    }

    @Test(arguments: [(HTTPErrorCode.cannotConnect, true), (.connectionLost, false)])
    func everyAttemptOfAnUnsafeRequestCounts(first: HTTPErrorCode, isKept: Bool) async throws {
        world.answer(["Cache-Control: max-age=60"], "one")
        _ = try await world.send()
        fail(TransportError(first, "Failed."))
        fail(TransportError(.cannotConnect, "Failed."))
        let put = try world.request([], .put)
        await #expect(throws: TransportError.self) {
            try await chain(.retry(.constant(.zero, maxAttempts: 2), time: .manual(world.clock))).send(put)
        }
        #expect(world.stub.requests.count == 3)
        #expect(try await world.entries().isEmpty == !isKept)
    }

    @Test func anUnsafeRequestThatWasRedirectedWasSent() async throws {
        world.answer(["Cache-Control: max-age=60"], "one")
        _ = try await world.send()
        world.answer(303, ["Location: https://b.example/done"])
        var get = try world.request()
        get.url = try url("https://b.example/done")
        fail(TransportError(.cannotConnect, "Failed.", request: get))
        let post = try world.request([], .post)
        await #expect(throws: TransportError.self) { try await chain(.followRedirects()).send(post) }
        #expect(try await world.entries().isEmpty)
    }

    // MARK: Answers that tell of an error

    @Test(arguments: [
        (500, "no-cache, private"), (429, "no-cache, private"), (403, "no-cache, private"), (503, "max-age=0"),
    ])
    func aPassingErrorDoesNotReplaceWhatIsStored(code: Int, directives: String) async throws {
        world.answer(["Cache-Control: max-age=5"], "one")
        _ = try await world.send()
        world.advance(10)
        let status = try #require(HTTPResponse.Status(code: code))
        world.answer(status, ["Cache-Control: \(directives)"], "error")
        #expect(try await world.send() == "\(code) miss error")
        #expect(try await world.send(mode: .offline) == "200 stale one age 10")
    }

    @Test func whatIsGoneReplacesWhatIsStored() async throws {
        world.answer(["Cache-Control: max-age=5"], "one")
        _ = try await world.send()
        world.advance(10)
        world.answer(404, ["Cache-Control: no-cache, private"], "gone")
        #expect(try await world.send() == "404 miss gone")
        #expect(try await world.send(mode: .offline) == "404 stale gone age 0")
    }

    // MARK: Stale responses

    @Test func behindAnOpenCircuitAStaleResponseIsServed() async throws {
        let chain = chain(.circuitBreaker(.consecutiveFailures(1), time: .manual(world.clock)))
        world.answer(["Cache-Control: max-age=5"], "one")
        let get = try world.request()
        _ = try await chain.send(get)
        world.advance(10)
        world.answer(500, [], "down")
        #expect(try await chain.send(get).status == 500)
        let response = try await chain.send(get)
        #expect(response.body.data == Data("one".utf8))
        #expect(response.context.cacheOutcome?.staleReason == .disconnected)
        await #expect(throws: LimitError.self) { try await chain.send(try world.request(path: "y")) }
    }

    @Test(
        arguments: [
            (.connectionLost, true, true), (.truncated, false, true), (.invalidResponse, false, true),
            (.transportFailed, false, true),
            (.tlsFailed, false, false), (.bodyTooLarge, false, false), (.invalidRequest, false, false),
            (.unsupported, false, false),
        ] as [(HTTPErrorCode, Bool, Bool)]
    )
    func staleIfErrorHoldsForEveryFailureOfTheServer(
        code: HTTPErrorCode,
        isServedAnyway: Bool,
        isServedIfAllowed: Bool
    ) async throws {
        for (directives, isServed) in [("", isServedAnyway), (", stale-if-error=60", isServedIfAllowed)] {
            world.answer(["Cache-Control: max-age=5" + directives], "one")
            _ = try await world.send(mode: .reload)
            world.advance(10)
            fail(TransportError(code, "Failed."))
            let line = try? await world.send()
            #expect(line == (isServed ? "200 stale one age 10" : nil), "\(code)\(directives)")
        }
    }

    @Test func staleIfErrorHoldsForAFailureThatAnInterceptorInsideHasMadeAnErrorOf() async throws {
        world.answer(["Cache-Control: max-age=5, stale-if-error=60"], "one")
        let get = try world.request()
        _ = try await chain(.validateStatus()).send(get)
        world.advance(10)
        world.answer(503, [], "down")
        #expect(try await chain(.validateStatus()).send(get).body.data == Data("one".utf8))
        world.answer(403, [], "forbidden")
        await #expect(throws: StatusError.self) { try await chain(.validateStatus()).send(get) }
    }

    @Test func aCallersLimitsAreNoFailureOfTheServer() async throws {
        world.answer(["Cache-Control: max-age=5, stale-if-error=60"], "one")
        let get = try world.request()
        _ = try await chain().send(get)
        world.advance(10)
        fail(TransportError.unsigned(.unknownOrigin, "Whose?", request: get))
        await #expect(throws: TransportError.self) { try await chain().send(get) }
        fail(LimitError.queueFull("rateLimit", waiting: 1, request: get))
        await #expect(throws: LimitError.self) { try await chain().send(get) }
    }

    @Test func whatADisconnectionIsCanBeSaidOtherwise() async throws {
        struct Unplugged: Error {}
        let cache = AnyInterceptor.cache(
            MemoryCacheStore(),
            time: TimeSource(clock: world.clock),
            isDisconnection: { $0 is Unplugged }
        )
        let chain = InterceptorChain([cache], transport: world.stub)
        let get = try world.request()
        world.answer(["Cache-Control: max-age=0"], "one")
        _ = try await chain.send(get)
        fail(Unplugged())
        #expect(try await chain.send(get).context.cacheOutcome?.staleReason == .disconnected)
        fail(TransportError(.cannotConnect, "No network."))
        await #expect(throws: TransportError.self) { try await chain.send(get) }
    }
}
