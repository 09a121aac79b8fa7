import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Synchronization
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct PreparingTests {
    private func prepare(
        _ interceptors: [any Interceptor],
        of request: HTTPRequest = request(),
        transport: any Transport = StubTransport()
    ) async throws -> HTTPRequest {
        let client = Client(baseURL: apiURL, interceptors: interceptors, transport: transport)
        return try await RequestPreparation(client).prepare(request)
    }

    @Test func chainAddsFieldsAndTokenAndNothingIsSent() async throws {
        let stub = StubTransport()
        let prepared = try await prepare(
            [.headers(["X-App": "1"]), .bearerAuth("token")],
            of: HTTPRequest(url: URL(string: "/film")!),
            transport: stub
        )
        #expect(prepared.url == filmURL)
        #expect(prepared.headers["X-App"] == "1")
        #expect(prepared.headers[.authorization] == "Bearer token")
        #expect(stub.requests.isEmpty)
    }

    @Test func chainInsideTheTransportPreparesToo() async throws {
        let inner = InterceptorChain([.headers(["X-Inner": "1"])], transport: StubTransport())
        let client = Client(baseURL: apiURL, interceptors: [.headers(["X-Middle": "1"])], transport: inner)
        let prepared = try await prepare([.headers(["X-Outer": "1"])], transport: client)
        for name in ["X-Inner", "X-Middle", "X-Outer"] as [HTTPField.Name] {
            #expect(prepared.headers[name] == "1")
        }
    }

    @Test func interceptorsThatJudgeRepeatStoreOrCountSeeNothing() async throws {
        let runs = Tally()
        let log = Mutex<[LogEntry.Event]>([])
        let prepared = try await prepare([
            .unwrapEnvelope(payload: "object"), .validateStatus(), .followRedirects(), .timeout(.seconds(60)),
            .cache(.memory()), .coalesce(), .circuitBreaker(), .limitConcurrency(1), .retry(maxAttempts: 5),
            .logging(.basic, to: LogSink { entry in log.withLock { $0.append(entry.event) } }),
            .intercept { request, next in
                runs.count()
                return try await next(request)
            },
        ])
        #expect(prepared.url == filmURL)
        #expect(runs.value == 1)
        #expect(log.withLock { $0 } == [.request, .cancellation])
    }

    @Test func preparingOpensNoCircuitAndKeepsNoPermit() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/film", .text("film"))
        let limits: [any Interceptor] = [.circuitBreaker(.consecutiveFailures(1)), .limitConcurrency(1)]
        for _ in 0..<5 { _ = try await prepare(limits) }
        let client = Client(baseURL: apiURL, interceptors: limits, transport: stub)
        #expect(try await client.send(request()).status == 200)
    }

    @Test func responseInTheCacheDoesNotKeepARequestFromBeingPrepared() async throws {
        let stub = StubTransport()
        stub.enqueue(.text("old", headers: [.cacheControl: "max-age=1000"]))
        let store: any Interceptor = .cache(.memory())
        let client = Client(baseURL: apiURL, interceptors: [store], transport: stub)
        _ = try await client.send(request())
        #expect(try await prepare([store]).url == filmURL)
    }

    @Test func foregroundCallAndPreparationDoNotJoinEachOther() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/film", .text("film"))
        let (entered, gate) = (Latch(), Gate())
        let chain: [any Interceptor] = [
            .coalesce(),
            .intercept { request, next in
                entered.open()
                await gate.opened()
                return try await next(request)
            },
        ]
        let client = Client(baseURL: apiURL, interceptors: chain, transport: stub)
        let preparing = Task { try await RequestPreparation(client).prepare(request()) }
        await entered.opened()
        let called = Task { try await client.send(request()) }
        gate.open()
        #expect(try await preparing.value.url == filmURL)
        #expect(try await called.value.status == 200)
    }

    @Test func preparingLeavesTheModeOfTheBodyAndDropsTheTimeLimitsOfTheCall() async throws {
        var given = request()
        given.context.responseBody = .buffered(upTo: 7)
        given.context.timeouts = Timeouts(total: .seconds(1))
        let prepared = try await prepare([.timeout(.seconds(1))], of: given)
        #expect(prepared.context.responseBody == .buffered(upTo: 7))
        #expect(prepared.context.timeouts == nil && prepared.context.deadline == nil)
    }

    @Test func elementThatRepeatsEveryFailurePreparesTheFirstRequest() async throws {
        let number = Atomic(0)
        let prepared = try await prepare([
            .intercept { request, next in
                for _ in 0..<3 {
                    do { return try await next(request) } catch { continue }
                }
                return try await next(request)
            },
            .intercept { request, next in
                request.headers["X-Number"] = "\(number.wrappingAdd(1, ordering: .relaxed).newValue)"
                return try await next(request)
            },
        ])
        #expect(prepared.headers["X-Number"] == "1")
    }

    @Test func requestsThatTheChainItselfSendsAreSent() async throws {
        let stub = StubTransport()
        stub.on(.post, "/v1/token", .text("fresh"))
        let client = Client(baseURL: apiURL, interceptors: [], transport: stub)
        let prepared = try await prepare(
            [
                .bearerAuth { () async throws -> String? in
                    try await client.post("/token", body: Data(), as: String.self)
                }
            ],
            transport: stub
        )
        #expect(prepared.headers[.authorization] == "Bearer fresh")
        #expect(stub.requests.count == 1)
    }

    @Test func answerOfAnInterceptorIsRefused() async throws {
        let error = await #expect(throws: TransferError.self) {
            try await prepare([.intercept { _, _ in HTTPResponse(status: 200) }])
        }
        #expect(error?.code == .answeredByChain)
        #expect(error?.sentNothing == true)
    }

    @Test func errorOfTheChainReachesTheCaller() async throws {
        struct Refused: Error {}
        await #expect(throws: Refused.self) { try await prepare([.intercept { _, _ in throw Refused() }]) }
    }

    @Test func cancelledCallThrowsCancellationError() async throws {
        let task = Task {
            try await prepare([
                .intercept { request, next in
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await next(request)
                }
            ])
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func requestThatMustNotBeSentIsRefused() async throws {
        var forbidden = request()
        forbidden.context.sendingForbidden = "No."
        let given = forbidden
        let error = await #expect(throws: TransportError.self) { try await prepare([], of: given) }
        #expect(error?.code == .sendingForbidden)
        let field = await #expect(throws: TransportError.self) {
            try await prepare([.headers(["X-Bad": "a\r\nb"])])
        }
        #expect(field?.code == .invalidRequest)
    }

    #if !canImport(Darwin)
    @Test func systemSessionIsRefusedWhereThereIsNone() throws {
        let error = #expect(throws: TransferError.self) {
            try BackgroundTransfers(
                "x",
                preparing: Client(interceptors: []),
                session: .system(),
                onEnd: { _ in }
            )
        }
        #expect(error?.code == .unsupported && error?.message.contains("Only Apple") == true)
    }
    #endif
}
