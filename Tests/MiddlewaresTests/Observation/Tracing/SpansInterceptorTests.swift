import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// A tracing system that keeps its spans. A span's parent is in the request's context.
private final class SpanLog: Sendable {
    struct Span: Sendable {
        let number: Int
        let parent: Int?
        let request: String
        let resendCount: Int
        var ends: [(response: HTTPResponse?, error: (any Error)?)] = []
    }

    let spans = Shared<[Span]>([])
    let ended = Tally()

    var tracing: AnyInterceptor {
        .tracing { [self] request in
            let parent = request.context.spanNumber
            let (text, count) = (request.summary.description, request.context.resendCount)
            var number = 0
            spans.change { spans in
                number = spans.count + 1
                spans.append(Span(number: number, parent: parent, request: text, resendCount: count))
            }
            request.context.spanNumber = number
            request.headers["X-Span"] = "\(number)"
            return number
        } end: { [self] number, response, error in
            spans.change { $0[number - 1].ends.append((response, error)) }
            ended.count()
        }
    }

    /// Each span in short words, such as `1 under 0, resend 0: 200`.
    var words: [String] {
        spans.value.map { span in
            let ends = span.ends.map { end in
                let status = end.response.map { "\($0.status.code)" }
                let error = end.error.map { "\(type(of: $0))" }
                return [status, error].compactMap { $0 }.joined(separator: " ")
            }
            return
                "\(span.number) under \(span.parent ?? 0), resend \(span.resendCount): \(ends.joined(separator: ", "))"
        }
    }
}

extension HTTPContext {
    private enum SpanKey: HTTPContextKey { static var defaultValue: Int? { nil } }

    fileprivate var spanNumber: Int? {
        get { self[SpanKey.self] }
        set { self[SpanKey.self] = newValue }
    }
}

@Suite(.againstHanging) struct SpansInterceptorTests {
    private let log = SpanLog()

    @discardableResult
    private func send(
        _ interceptors: [any Interceptor],
        _ method: HTTPRequest.Method = .get,
        _ text: String = "https://e.com/",
        over transport: any Transport = Recorder()
    ) async throws -> HTTPResponse {
        try await InterceptorChain(interceptors, transport: transport).send(HTTPRequest(method: method, url: url(text)))
    }

    private func streamed(_ body: HTTPBody) async throws -> HTTPResponse {
        try await send([log.tracing], over: Recorder { _ in HTTPResponse(status: 200, body: body) })
    }

    @Test func spanBeginsAndEndsWithItsCall() async throws {
        let recorder = Recorder { _ in HTTPResponse(status: 204) }
        try await send([log.tracing], .get, "https://e.com/a?token=hush", over: recorder)
        #expect(log.words == ["1 under 0, resend 0: 204"])
        #expect(log.spans.value[0].request == "GET https://e.com/a?token=<redacted>")
        #expect(recorder.requests.map { $0.headers["X-Span"] } == ["1"])
    }

    @Test func failedCallEndsItsSpanWithTheErrorAndItsResponse() async throws {
        await #expect(throws: Broken.self) {
            try await send([log.tracing], over: Recorder { _ in throw Broken() })
        }
        let failing = Recorder { _ in HTTPResponse(status: 500, headers: [.server: "s"], body: "secret") }
        await #expect(throws: StatusError.self) {
            try await send([log.tracing, .validateStatus()], over: failing)
        }
        #expect(log.words == ["1 under 0, resend 0: Broken", "2 under 0, resend 0: 500 StatusError"])
        let response = try #require(log.spans.value[1].ends[0].response)
        #expect(response.headers[.server] == "s" && response.body.isEmpty)
    }

    // MARK: The body

    @Test func spanEndsWithTheLastByteOfItsStream() async throws {
        let response = try await streamed(.oneShot(Chunks(["ab", "c"])))
        #expect(log.words == ["1 under 0, resend 0: "])
        #expect(try await response.body.collect(upTo: 10) == Data("abc".utf8))
        #expect(log.words == ["1 under 0, resend 0: 200"])
    }

    @Test func spanOfAStreamThatFailsEndsWithTheError() async throws {
        let response = try await streamed(.oneShot(Chunks(["ab"], failure: Broken())))
        await #expect(throws: Broken.self) { try await response.body.collect(upTo: 10) }
        response.body.discard()
        #expect(log.words == ["1 under 0, resend 0: 200 Broken"])
    }

    @Test func spanOfADiscardedOrDroppedStreamEndsOnce() async throws {
        let response = try await streamed(.oneShot(Chunks(["ab"])))
        response.body.discard()
        response.body.discard()
        do { _ = try await streamed(.oneShot(Chunks(["ab"]))) }
        #expect(
            log.words == [
                "1 under 0, resend 0: 200 CancellationError", "2 under 0, resend 0: 200 CancellationError",
            ]
        )
    }

    @Test func contentInMemoryEndsTheSpanWithTheHead() async throws {
        let response = try await streamed("abc")
        #expect(log.words == ["1 under 0, resend 0: 200"])
        #expect(response.body.data == Data("abc".utf8))
    }

    // MARK: Among other interceptors

    @Test func attemptsOfARetryAreSpansUnderTheCallsSpan() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(503), .status(503), .status(200))
        let policy = RetryPolicy.constant(.zero)
        try await send([log.tracing, .retry(policy), log.tracing], over: stub)
        #expect(
            log.words == [
                "1 under 0, resend 0: 200", "2 under 1, resend 0: 503", "3 under 1, resend 1: 503",
                "4 under 1, resend 2: 200",
            ]
        )
    }

    @Test func callWithARefreshHasOneSpanOutsideAndTwoInside() async throws {
        let tokens = TokenStore(TokenStore.Token("old"), origins: [try #require(Origin(url("https://e.com/")))]) { _ in
            TokenStore.Token("new")
        }
        let stub = StubTransport()
        stub.enqueue(.status(401), .status(200))
        let interceptors: [any Interceptor] = [
            log.tracing, .retryOnUnauthorized(tokens), .bearerAuth(tokens), log.tracing,
        ]
        try await send(interceptors, over: stub)
        #expect(
            log.words == ["1 under 0, resend 0: 200", "2 under 1, resend 0: 401", "3 under 1, resend 1: 200"]
        )
    }

    @Test func redirectsAndChallengesCountAsSentAgain() async throws {
        let stub = StubTransport()
        stub.enqueue(
            .status(302, headers: [.location: "/b"]),
            .status(401, headers: [.wwwAuthenticate: "Basic realm=\"a\""]),
            .status(200)
        )
        let interceptors: [any Interceptor] = [
            .followRedirects(),
            .basicAuth(username: "u", password: "p", origins: [try #require(Origin(url("https://e.com/")))]),
            log.tracing,
        ]
        try await send(interceptors, over: stub)
        #expect(log.spans.value.map(\.resendCount) == [0, 1, 2])
        #expect(log.spans.value.allSatisfy { $0.ends.count == 1 })
    }

    @Test func hedgedCallHasOneSpanOutsideAndTheLosersSpanEndsCancelled() async throws {
        let clock = ManualClock()
        let recorder = Recorder { request in
            guard request.context.hedgeAttempt == 2 else {
                try await clock.sleep(until: clock.now.advanced(by: .seconds(60)))
                throw Broken()
            }
            return HTTPResponse(status: 200)
        }
        let interceptors: [any Interceptor] = [
            log.tracing, .hedge(after: .seconds(1), time: .manual(clock)), log.tracing,
        ]
        async let call = send(interceptors, over: recorder)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        _ = try await call
        #expect(
            log.words == [
                "1 under 0, resend 0: 200", "2 under 1, resend 0: CancellationError", "3 under 1, resend 1: 200",
            ]
        )
    }

    @Test func callersThatShareAnExchangeHaveASpanEachAndTheExchangeIsUnderTheFirst() async throws {
        let (gate, waiting) = (Gate(), Tally())
        let coalesce = CoalesceInterceptor { if case .waiting = $0 { waiting.count() } }
        let recorder = Recorder { _ in
            await gate.opened()
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain(
            [log.tracing, .headers(forced: ["X-Span": ""]), coalesce, log.tracing],
            transport: recorder
        )
        let request = HTTPRequest(url: try url("https://e.com/"))
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 { group.addTask { _ = try await chain.send(request) } }
            await waiting.reached(3)
            gate.open()
            try await group.waitForAll()
        }
        let spans = log.spans.value
        #expect(spans.count == 4 && spans.allSatisfy { $0.ends.count == 1 })
        #expect(spans.filter { $0.parent == nil }.count == 3)
        #expect(spans.first { $0.parent != nil }?.parent.map { spans[$0 - 1].parent == nil } == true)
        #expect(recorder.requests.count == 1)
    }

    @Test func cancelledCallEndsItsSpanOnce() async throws {
        let began = Latch()
        let recorder = Recorder { _ in
            began.open()
            try await ManualClock().sleep(until: ManualClock.Instant(elapsed: .seconds(1)))
            throw Broken()
        }
        let chain = InterceptorChain([log.tracing, .retry(maxAttempts: 3)], transport: recorder)
        let request = HTTPRequest(url: try url("https://e.com/"))
        let call = Task { try await chain.send(request) }
        await began.opened()
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(log.words == ["1 under 0, resend 0: CancellationError"])
    }
}
