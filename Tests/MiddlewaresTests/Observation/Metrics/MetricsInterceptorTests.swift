import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// Keeps the reported events, and describes them in short words.
private final class EventLog: Sendable {
    let events = Shared<[ExchangeEvent]>([])

    @Sendable func report(_ event: ExchangeEvent) { events.change { $0.append(event) } }

    var ends: [MeasuredExchange] {
        events.value.compactMap { if case .ended(let end) = $0 { end } else { nil } }
    }

    var words: [String] {
        events.value.map { event in
            switch event {
            case .began(let start): "began \(start.number)"
            case .ended(let end): "\(Self.word(end)) \(end.number)"
            case .decodingFailed(let start, let failure): "\(failure.code) \(start.number)"
            }
        }
    }

    private static func word(_ end: MeasuredExchange) -> String {
        switch end.error {
        case nil: "completed"
        case is CancellationError: "cancelled"
        case .some: "failed"
        }
    }
}

@Suite(.againstHanging)
struct MetricsInterceptorTests {
    private let log = EventLog()
    private let clock = ManualClock()

    private func send(
        _ request: HTTPRequest? = nil,
        _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let chain = InterceptorChain([.metrics(time: .manual(clock), report: log.report)], transport: Recorder(answer))
        return try await chain.send(try request ?? HTTPRequest(url: url("https://e.com/")))
    }

    private func streamed(_ body: HTTPBody) async throws -> HTTPResponse {
        try await send { _ in HTTPResponse(status: 200, body: body) }
    }

    @Test func startAndEndTellMethodStatusSizesAndTimes() async throws {
        let timings = TransferTimings(
            nameLookup: .zero,
            connect: .zero,
            tls: .zero,
            firstByte: .seconds(1),
            total: .seconds(2),
            reusedConnection: true
        )
        let request = HTTPRequest(method: .post, url: try url("https://e.com/a?token=s3cr3t"), body: "12345")
        _ = try await send(request) { [clock] _ in
            clock.advance(by: .seconds(3))
            var context = HTTPContext()
            context.timings = timings
            return HTTPResponse(status: 201, body: "123", context: context)
        }
        guard case .began(let start) = log.events.value.first else { throw Broken() }
        #expect(start.method == .post && start.requestBytes == 5 && start.origin == Origin(request.url))
        #expect(!start.url.contains("s3cr3t"))
        let end = try #require(log.ends.first)
        #expect(end.status == 201 && end.responseBytes == 3 && end.context.timings == timings)
        #expect(end.duration == .seconds(3) && end.timeToResponse == .seconds(3))
        #expect(log.words == ["began 1", "completed 1"])
    }

    @Test func streamEndsWithItsLastByte() async throws {
        let response = try await streamed(.oneShot(Chunks(["ab", "c"])))
        #expect(log.words == ["began 1"])
        clock.advance(by: .seconds(1))
        #expect(try await response.body.collect(upTo: 10) == Data("abc".utf8))
        #expect(log.words == ["began 1", "completed 1"])
        #expect(log.ends[0].responseBytes == 3)
        #expect(log.ends[0].timeToResponse == .zero && log.ends[0].duration == .seconds(1))
    }

    @Test func streamThatIsDiscardedEndsOnceAndLetsItsSourceGo() async throws {
        let discards = Tally()
        let response = try await streamed(.oneShot(Chunks(["ab"]), onDiscard: { discards.count() }))
        response.body.discard()
        response.body.discard()
        #expect(log.words == ["began 1", "cancelled 1"])
        #expect(discards.value >= 1)
    }

    @Test func streamThatIsDroppedUnreadEnds() async throws {
        do { _ = try await streamed(.oneShot(Chunks(["ab"]))) }
        #expect(log.words == ["began 1", "cancelled 1"])
    }

    @Test func streamThatIsDroppedHalfReadEndsWithWhatWasRead() async throws {
        func readOne() async throws {
            let response = try await streamed(.oneShot(Chunks(["ab", "c"])))
            for try await _ in response.body { break }
        }
        try await readOne()
        #expect(log.words == ["began 1", "cancelled 1"])
        #expect(log.ends[0].responseBytes == 2)
    }

    @Test func streamThatFailsEndsWithItsError() async throws {
        let response = try await streamed(.oneShot(Chunks(["ab"], failure: Broken())))
        await #expect(throws: Broken.self) { try await response.body.collect(upTo: 10) }
        #expect(log.words == ["began 1", "failed 1"])
        response.body.discard()
        #expect(log.words.count == 2)
    }

    @Test func readingThatIsCancelledEndsCancelled() async throws {
        let (began, signal) = AsyncStream<Void>.makeStream()
        let response = try await streamed(.oneShot(NoChunks(began: signal)))
        let reading = Task { try await response.body.collect(upTo: 10) }
        for await _ in began { break }
        reading.cancel()
        await #expect(throws: CancellationError.self) { try await reading.value }
        #expect(log.words == ["began 1", "cancelled 1"])
    }

    @Test func restartableStreamHoldsNothingSoItEndsAtOnce() async throws {
        let response = try await streamed(.restartable(length: 2) { Chunks(["ab"]) })
        for _ in 0..<2 { #expect(try await response.body.collect(upTo: 10) == Data("ab".utf8)) }
        #expect(response.body.isRestartable)
        #expect(log.words == ["began 1", "completed 1"])
        #expect(log.ends[0].responseBytes == 2)
    }

    @Test func failureAndCancellationEndTheExchange() async throws {
        await #expect(throws: Broken.self) { try await send { _ in throw Broken() } }
        await #expect(throws: CancellationError.self) { try await send { _ in throw CancellationError() } }
        #expect(log.words == ["began 1", "failed 1", "began 1", "cancelled 1"])
        #expect(log.ends.allSatisfy { $0.status == nil && $0.timeToResponse == nil })
    }

    @Test func shortCircuitEndsToo() async throws {
        let answer: some Interceptor = AnyInterceptor.intercept { _, _ in HTTPResponse(status: 204) }
        let chain = InterceptorChain([.metrics(report: log.report), answer], transport: Recorder())
        _ = try await chain.send(HTTPRequest(url: try url("https://e.com/")))
        #expect(log.words == ["began 1", "completed 1"])
    }

    @Test func innermostEachAttemptIsAnExchange() async throws {
        let chain = InterceptorChain([sendTwice, .metrics(report: log.report)], transport: Recorder())
        _ = try await chain.send(HTTPRequest(url: try url("https://e.com/")))
        #expect(log.words == ["began 1", "completed 1", "began 2", "completed 2"])
    }

    @Test func decodingErrorIsReportedToEveryInterceptorOnTheWay() async throws {
        let outer = EventLog()
        let client = Client(
            interceptors: [.metrics(report: outer.report), .metrics(report: log.report)],
            transport: Recorder { _ in HTTPResponse(status: 200, body: "{") }
        )
        let target = try url("https://e.com/")
        await #expect(throws: ResponseDecodingError.self) {
            try await client.get(RequestTarget(target), as: [Int].self)
        }
        for log in [outer, log] { #expect(log.words == ["began 1", "completed 1", "undecodable 1"]) }
        let _: NoContent = try await client.get(RequestTarget(target))
        #expect(log.words.count == 5)
    }

    @Test func everyStartHasOneEndWhateverBecomesOfAThousandExchanges() async throws {
        let chain = InterceptorChain(
            [.metrics(report: log.report)],
            transport: Recorder { request in
                let number = Int(request.headers["N"] ?? "") ?? 0
                switch number % 5 {
                case 0: throw Broken()
                case 1: throw CancellationError()
                case 2: return HTTPResponse(status: 200, body: "x")
                default: return HTTPResponse(status: 200, body: .oneShot(Chunks(["a", "b"])))
                }
            }
        )
        let target = try url("https://e.com/")
        await withTaskGroup { group in
            for number in 0..<1_000 {
                group.addTask {
                    let request = HTTPRequest(url: target, headers: ["N": "\(number)"])
                    guard let response = try? await chain.send(request) else { return }
                    switch number % 3 {
                    case 0: response.body.discard()
                    case 1: _ = try? await response.body.collect(upTo: 10)
                    default: break
                    }
                }
            }
        }
        let ends = log.ends.map(\.number)
        #expect(ends.count == 1_000)
        #expect(Set(ends).count == 1_000)
        #expect(log.events.value.count == 2_000)
    }

    @Test func eventsNameTheEndpoint() async throws {
        struct Status: Endpoint {
            let request: EndpointRequest<NoContent> = .get("/status")
            let name = "status of the service"
        }
        let client = Client(
            baseURL: try url("https://e.com/"),
            interceptors: [.metrics(time: .manual(clock), report: log.report)],
            transport: StubTransport { _ in HTTPResponse(status: 204) }
        )
        try await client.call(Status())
        try await client.get("/ping")
        #expect(log.ends.map { ($0.endpoint as? Status)?.name } == ["status of the service", nil])
    }
}
