import Foundation
import InMemoryTracing
import Interceptors
import InterceptorsObservability
import InterceptorsTesting
import InterceptorsTraffic
import Synchronization
import Testing
import Tracing

private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

@Suite(.timeLimit(.minutes(10))) struct TracingTests {
    private let tracer = InMemoryTracer()

    @discardableResult
    private func send(
        _ interceptors: [any Interceptor],
        _ request: HTTPRequest? = nil,
        over transport: any Transport = .stub(.status(200))
    ) async throws -> HTTPResponse {
        try await InterceptorChain(interceptors, transport: transport)
            .send(try request ?? HTTPRequest(url: url("https://e.com/")))
    }

    private func stream(_ chunks: some AsyncSequence<Data, any Error> & Sendable) async throws -> HTTPResponse {
        let request = HTTPRequest(url: try url("https://e.com/"), context: .with(\.responseBody, .streamed))
        return try await send(
            [.tracing(with: tracer)],
            request,
            over: .stub { _ in
                HTTPResponse(status: 200, body: .oneShot(chunks))
            }
        )
    }

    private func stream(_ text: String, failure: (any Error)? = nil) async throws -> HTTPResponse {
        try await stream(
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data(text.utf8))
                continuation.finish(throwing: failure)
            }
        )
    }

    /// The only finished span.
    private func span() throws -> FinishedInMemorySpan {
        #expect(tracer.activeSpans.isEmpty)
        let spans = tracer.popFinishedSpans()
        #expect(spans.count == 1)
        return try #require(spans.first)
    }

    // MARK: Names

    struct Example: Sendable, CustomTestStringConvertible {
        var method: HTTPRequest.Method = .get
        var url = "https://e.com/"
        var context = HTTPContext()
        var answer: Result<HTTPResponse, any Error> = .success(HTTPResponse(status: 200))
        var name = "GET"
        let attributes: [String: SpanAttribute]
        /// Attributes that must be missing.
        var absent: [String] = []
        var isError = false
        var testDescription: String { "\(method) \(url) \(attributes.keys.sorted())" }
    }

    // https://opentelemetry.io/docs/specs/semconv/http/http-spans/#http-client-span
    private static let examples = [
        Example(
            attributes: [
                "http.request.method": "GET", "url.full": "https://e.com/", "server.address": "e.com",
                "server.port": .int64(443), "http.response.status_code": .int64(200),
            ],
            absent: [
                "error.type", "http.request.resend_count", "http.request.method_original", "network.protocol.version",
                "url.template",
            ]
        ),
        Example(url: "http://E.com/a", attributes: ["server.address": "e.com", "server.port": .int64(80)]),
        Example(url: "http://[::1]:8080/", attributes: ["server.address": "::1", "server.port": .int64(8080)]),
        Example(
            url: "https://e.com/a?token=hush&x=1",
            attributes: ["url.full": "https://e.com/a?token=<redacted>&x=1"]
        ),
        Example(method: .patch, name: "PATCH", attributes: ["http.request.method": "PATCH"]),
        Example(
            method: "PURGE",
            name: "HTTP",
            attributes: ["http.request.method": "_OTHER", "http.request.method_original": "PURGE"]
        ),
        Example(
            method: "get",
            name: "HTTP",
            attributes: ["http.request.method": "_OTHER", "http.request.method_original": "get"]
        ),
        Example(
            context: .with(\.urlTemplate, "/users/{id}"),
            name: "GET /users/{id}",
            attributes: ["url.template": "/users/{id}"]
        ),
        Example(context: .with(\.resendCount, 2), attributes: ["http.request.resend_count": .int64(2)]),
        Example(
            answer: .success(HTTPResponse(status: 302)),
            attributes: ["http.response.status_code": .int64(302)],
            absent: ["error.type"]
        ),
        Example(
            answer: .success(HTTPResponse(status: 404)),
            attributes: ["http.response.status_code": .int64(404), "error.type": "404"],
            isError: true
        ),
        Example(
            answer: .success(HTTPResponse(status: 503)),
            attributes: ["http.response.status_code": .int64(503), "error.type": "503"],
            isError: true
        ),
        Example(
            answer: .failure(TransportError(.timedOut, "Late.")),
            attributes: ["error.type": .string(TransportError(.timedOut, "Late.").code.rawValue)],
            absent: ["http.response.status_code"],
            isError: true
        ),
        Example(
            answer: .failure(URLError(.badURL)),
            attributes: ["error.type": "URLError"],
            isError: true
        ),
        Example(answer: .failure(CancellationError()), attributes: ["error.type": "CancellationError"]),
        Example(
            answer: .success(HTTPResponse(status: 200, context: .with(\.connection, connection))),
            attributes: [
                "network.protocol.version": "2", "network.peer.address": "10.0.0.1", "network.peer.port": .int64(8443),
            ]
        ),
    ]

    private static let connection = HTTPConnectionInfo(
        httpVersion: .http2,
        remoteAddress: "10.0.0.1",
        remotePort: 8443
    )

    @Test(arguments: examples) func namesAreThoseOfOpenTelemetry(example: Example) async throws {
        let request = HTTPRequest(method: example.method, url: try url(example.url), context: example.context)
        _ = try? await send([.tracing(with: tracer)], request, over: .stub { _ in try example.answer.get() })
        let span = try span()
        #expect(span.kind == .client)
        #expect(span.operationName == example.name)
        for (name, value) in example.attributes { #expect(span.attributes.get(name) == value, "\(name)") }
        for name in example.absent { #expect(span.attributes.get(name) == nil, "\(name)") }
        #expect((span.status?.code == .error) == example.isError)
    }

    @Test func knownMethodsCanBeChanged() async throws {
        let request = HTTPRequest(method: "PURGE", url: try url("https://e.com/"))
        try await send([.tracing(with: tracer, knownMethods: ["PURGE"])], request)
        #expect(try span().operationName == "PURGE")
    }

    @Test func onlyErrorsWithoutSecretsAreRecorded() async throws {
        struct Telltale: Error { let secret = "hush" }
        for error in [TransportError(.timedOut, "Late."), Telltale()] as [any Error] {
            await #expect(throws: (any Error).self) {
                try await send([.tracing(with: tracer)], over: .stub { _ in throw error })
            }
            #expect(try span().errors.count == (error is TransportError ? 1 : 0))
        }
    }

    // MARK: The server is told

    @Test func serverIsToldAboutTheSpan() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(200))
        try await send([.tracing(with: tracer)], over: stub)
        let span = try span()
        #expect(stub.requests[0].headers["in-memory-trace-id"] == span.traceID)
        #expect(stub.requests[0].headers["in-memory-span-id"] == span.spanID)
    }

    @Test func otherOriginsAreNotTold() async throws {
        let stub = StubTransport()
        stub.on(nil, "/**", .status(200))
        let home = try #require(Origin(url("https://home.example/")))
        for text in ["https://home.example/", "https://e.com/"] {
            try await send([.tracing(with: tracer, origins: [home])], HTTPRequest(url: url(text)), over: stub)
        }
        #expect(stub.requests.map { $0.headers.contains("in-memory-span-id") } == [true, false])
    }

    @Test func redirectToAnotherOriginTellsNothingOfAnOuterSpan() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(302, headers: [.location: "https://e.com/"]), .status(200))
        let home = try #require(Origin(url("https://home.example/")))
        let tracing: AnyInterceptor = .tracing(with: tracer, origins: [home])
        try await send(
            [tracing, .followRedirects(), tracing],
            HTTPRequest(url: url("https://home.example/")),
            over: stub
        )
        #expect(stub.requests.map { $0.headers.contains("in-memory-span-id") } == [true, false])
    }

    // MARK: The body

    @Test func spanEndsWithItsBody() async throws {
        let response = try await stream("abc")
        #expect(tracer.finishedSpans.isEmpty && tracer.activeSpans.count == 1)
        _ = try await response.body.collect(upTo: 10)
        #expect(try span().status == nil)
    }

    @Test func discardedBodyIsNoError() async throws {
        try await stream("abc").body.discard()
        let span = try span()
        #expect(span.status == nil && span.attributes.get("error.type") == nil)
    }

    @Test func bodyThatFailsIsAnError() async throws {
        let response = try await stream("abc", failure: TransportError(.truncated, "Cut."))
        await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 10) }
        #expect(try span().status?.code == .error)
    }

    // MARK: The context

    /// Runs a call inside a span of the program, and checks that the spans of all attempts are its children.
    private func childrenOfTheProgramsSpan(
        _ call: @Sendable () async throws -> Void
    ) async throws -> [FinishedInMemorySpan] {
        try await tracer.withSpan("program") { _ in try await call() }
        let spans = tracer.popFinishedSpans()
        let program = try #require(spans.first { $0.operationName == "program" })
        let children = spans.filter { $0.kind == .client }
        #expect(children.allSatisfy { $0.parentSpanID == program.spanID && $0.traceID == program.traceID })
        return children
    }

    @Test func contextIsKeptAcrossARefresh() async throws {
        let origin = try #require(Origin(url("https://e.com/")))
        let seen = Mutex<[ServiceContext?]>([])
        let tokens = TokenStore(TokenStore.Token("old"), origins: [origin]) { _ in
            seen.withLock { $0.append(ServiceContext.current) }
            return TokenStore.Token("new")
        }
        let stub = StubTransport()
        stub.enqueue(.status(401), .status(200))
        let spans = try await childrenOfTheProgramsSpan {
            try await send([.retryOnUnauthorized(tokens), .bearerAuth(tokens), .tracing(with: tracer)], over: stub)
        }
        #expect(spans.map { $0.attributes.get("http.request.resend_count") } == [nil, .int64(1)])
        #expect(seen.withLock { $0.map { $0?.inMemorySpanContext?.traceID } } == [spans.first?.traceID])
    }

    @Test func contextIsKeptInASharedExchange() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(200))
        let spans = try await childrenOfTheProgramsSpan {
            try await send([.coalesce(), .retry(maxAttempts: 3), .tracing(with: tracer)], over: stub)
        }
        #expect(spans.count == 1)
    }

    @Test func contextIsKeptInBothAttemptsOfAHedge() async throws {
        let clock = ManualClock()
        let stub = StubTransport(time: .manual(clock))
        stub.on({ $0.context.hedgeAttempt == nil }, .status(200).delayed(by: .seconds(60)))
        stub.on({ $0.context.hedgeAttempt == 2 }, .status(200))
        let spans = try await childrenOfTheProgramsSpan {
            _ = try await clock.run(sleepers: 2) {
                try await send([.hedge(after: .seconds(1), time: .manual(clock)), .tracing(with: tracer)], over: stub)
            }
        }
        #expect(spans.count == 2)
    }

    @Test func spansInsideAreChildrenOfTheSpanOutside() async throws {
        let work: some Interceptor = .intercept { request, next in
            let request = request
            return try await tracer.withSpan("work") { _ in try await next(request) }
        }
        try await send([.tracing(with: tracer), work, .tracing(with: tracer)])
        let spans = tracer.popFinishedSpans()
        let inner = try #require(spans.first)
        let middle = try #require(spans.first { $0.operationName == "work" })
        let outer = try #require(spans.last)
        #expect(inner.parentSpanID == middle.spanID && middle.parentSpanID == outer.spanID)
        #expect(outer.parentSpanID == nil && spans.count == 3)
    }

    @Test func contextOfTheRequestIsTheParent() async throws {
        let program = tracer.startSpan("program")
        var request = HTTPRequest(url: try url("https://e.com/"))
        request.context.serviceContext = program.context
        try await send([.tracing(with: tracer)], request)
        #expect(tracer.popFinishedSpans().first?.parentSpanID == program.spanID)
        program.end()
    }
}
