import Foundation
import InterceptorsInsight
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTesting
@testable import InterceptorsTraffic

/// Trailer fields and interim responses pass through every interceptor.
@Suite(.againstHanging, .heavy) struct TrailersTests {
    private static let trailers: HTTPFields = ["X-Checksum": "1", "Server-Timing": "db;dur=53"]
    private static let unharming = ConformingInterceptor.all.filter(\.exceptions.isEmpty)

    private func request(_ mode: ResponseBodyMode = .buffered) -> HTTPRequest {
        var request = HTTPRequest(url: apiURL)
        request.context.responseBody = mode
        return request
    }

    /// Lets the time of a wait pass, if the interceptor waits before it sends a request.
    private func passTheWait(of tested: ConformingInterceptor, _ clock: ManualClock) async {
        guard tested.testDescription == "waitForNetwork without a network" else { return }
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
    }

    private func code(_ response: HTTPResponse) throws -> HTTPErrorCode? {
        do {
            _ = try response.trailers
            return nil
        } catch let error as any HTTPError {
            return error.code
        }
    }

    @Test(arguments: unharming, [ResponseBodyMode.buffered, .streamed])
    func trailersPassEveryInterceptor(tested: ConformingInterceptor, mode: ResponseBodyMode) async throws {
        let clock = ManualClock()
        let time = TimeSource.manual(clock)
        let folder = try TemporaryFolder()
        let world = InterceptorConformance.World(
            clock: clock,
            time: time,
            origin: try #require(Origin(apiURL)),
            secret: "hush"
        )
        let stub = StubTransport(time: time)
        let content = try await (tested.content ?? "the content").collect(upTo: 1 << 20)
        stub.on(nil, "**", .stream([content.prefix(5), content.dropFirst(5)], trailers: Self.trailers))
        let chain = InterceptorChain([tested.make(world, folder.url)], transport: stub)
        let call = Task { [request = request(mode)] in
            let response = try await chain.send(request)
            let isKnown = response.context.trailers?.fields != nil
            #expect(!isKnown || response.body.data != nil, "The trailers of a stream came before its content.")
            _ = try await response.body.collect(upTo: 1 << 20)
            return try response.trailers
        }
        await passTheWait(of: tested, clock)
        #expect(try await call.value == Self.trailers)
    }

    @Test func trailersPassAJournalAndWrappedBodies() async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .stream([Data("ab".utf8)], trailers: Self.trailers))
        let upper: AnyInterceptor = .intercept { request, next in
            var response = try await next(request)
            response.body = response.body.map { Data($0.map { $0 &- 32 }) }.onEnd { _ in }.wrapped { $0.prefix(9) }
            return response
        }
        let client = Client(baseURL: apiURL, interceptors: [upper], transport: stub, observer: Journal())
        let response = try await client.send(request(.streamed))
        #expect(try code(response) == .trailersNotReceived)
        #expect(try await response.body.collect(upTo: 9) == Data("AB".utf8))
        #expect(try response.trailers == Self.trailers)
    }

    /// A cache may drop trailer fields (RFC 9111 §3.1). A response from the store doesn't claim that there were none.
    @Test func cacheDropsTrailersAndSaysSo() async throws {
        let stub = StubTransport()
        stub.on(
            nil,
            "**",
            .stream([Data("ok".utf8)], trailers: Self.trailers, headers: [.cacheControl: "max-age=60"])
        )
        let chain = InterceptorChain([.cache(.memory())], transport: stub)
        #expect(try await chain.send(request()).trailers == Self.trailers)
        let hit = try await chain.send(request())
        #expect(stub.requests.count == 1)
        #expect(try code(hit) == .trailersUnavailable)
    }

    @Test func errorKeepsTheTrailersOfItsResponse() async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .stream([Data("busy".utf8)], trailers: Self.trailers, status: 503))
        let chain = InterceptorChain([.validateStatus()], transport: stub)
        for mode in [ResponseBodyMode.buffered, .streamed] {
            let error = await #expect(throws: StatusError.self) { try await chain.send(request(mode)) }
            #expect(try error?.response?.trailers == Self.trailers)
        }
    }

    @Test func trailersOfARetryAreThoseOfTheLastAttempt() async throws {
        let stub = StubTransport()
        stub.enqueue(
            .stream([], trailers: ["X-A": "first"], status: 503),
            .stream([Data("ok".utf8)], trailers: ["X-A": "last"])
        )
        let clock = ManualClock()
        let chain = InterceptorChain([.retry(maxAttempts: 3, time: .manual(clock))], transport: stub)
        let call = Task { [request = request()] in try await chain.send(request) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await call.value.trailers == ["X-A": "last"])
    }

    // MARK: Interim responses

    private func told(_ request: inout HTTPRequest) -> Notes<Int> {
        let told = Notes<Int>()
        request.context.interim = { told.add($0.status.code) }
        return told
    }

    @Test(arguments: unharming)
    func interimResponsesPassEveryInterceptorOnce(tested: ConformingInterceptor) async throws {
        let clock = ManualClock()
        let time = TimeSource.manual(clock)
        let folder = try TemporaryFolder()
        let origin = try #require(Origin(apiURL))
        let world = InterceptorConformance.World(clock: clock, time: time, origin: origin, secret: "hush")
        let stub = StubTransport(time: time)
        let content = try await (tested.content ?? "the content").collect(upTo: 1 << 20)
        stub.on(nil, "**", .data(content).preceded(byInterim: 103))
        let chain = InterceptorChain([tested.make(world, folder.url)], transport: stub)
        var request = request()
        let told = told(&request)
        let call = Task { [request] in try await chain.send(request) }
        await passTheWait(of: tested, clock)
        #expect(try await call.value.status == 200)
        #expect(told.all == [103])
    }

    @Test func eachAttemptAndEachRedirectTellsItsInterimResponses() async throws {
        let stub = StubTransport()
        stub.enqueue(
            .status(503).preceded(byInterim: 100),
            .status(307, headers: [.location: "/other"]).preceded(byInterim: 102),
            .text("ok").preceded(byInterim: 103)
        )
        let clock = ManualClock()
        let chain = InterceptorChain(
            [.followRedirects(), .retry(maxAttempts: 3, time: .manual(clock))],
            transport: stub
        )
        var request = request()
        let told = told(&request)
        let call = Task { [request] in try await chain.send(request) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(60))
        #expect(try await call.value.status == 200)
        #expect(told.all == [100, 102, 103])
    }

    @Test func storedResponseTellsNothingAndNeitherDoesItsValidationInTheBackground() async throws {
        let clock = ManualClock()
        let stub = StubTransport(time: .manual(clock))
        let fields: HTTPFields = [.cacheControl: "max-age=1, stale-while-revalidate=60", .eTag: #""1""#]
        stub.on(nil, "**", .status(200, headers: fields, body: "ok").preceded(byInterim: 103))
        let chain = InterceptorChain([.cache(.memory(), time: .manual(clock))], transport: stub)
        _ = try await chain.send(request())
        clock.advance(by: .seconds(2))
        var request = request()
        let told = told(&request)
        _ = try await chain.send(request)
        await stub.requests(atLeast: 2)
        #expect(stub.requests.count == 2)
        #expect(stub.requests.last?.context.interim == nil)
        #expect(told.all.isEmpty)
    }

    @Test func requestThatWantsInterimResponsesIsSentByItself() async throws {
        var request = request()
        #expect(ExchangeIdentity(of: request, ignoring: []) != nil)
        request.context.interim = { _ in }
        #expect(ExchangeIdentity(of: request, ignoring: []) == nil)
    }

    @Test func secondRequestOfAHedgeTellsNothing() async throws {
        let clock = ManualClock()
        let stub = StubTransport(time: .manual(clock))
        stub.enqueue(.neverAnswer.preceded(byInterim: 102), .text("ok").preceded(byInterim: 103))
        let chain = InterceptorChain([.hedge(after: .seconds(1), time: .manual(clock))], transport: stub)
        var request = request()
        let told = told(&request)
        let call = Task { [request] in try await chain.send(request) }
        await stub.requests(atLeast: 1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await call.value.status == 200)
        #expect(told.all == [102])
    }
}
