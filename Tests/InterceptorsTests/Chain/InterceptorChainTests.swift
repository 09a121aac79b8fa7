import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

private func request() throws -> HTTPRequest {
    HTTPRequest(url: try #require(URL(string: "https://a.example/")))
}

private struct Tracing: Interceptor {
    let name: String
    let trace: Notes<String>

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        trace.add("\(name) down")
        request.headers.append("X-Path", name)
        do {
            var response = try await next(request)
            trace.add("\(name) up")
            response.headers.append("X-Path", name)
            return response
        } catch {
            trace.add("\(name) failed")
            throw error
        }
    }
}

/// An interceptor without `consuming`, as authors may write it.
private struct Plain: Interceptor {
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        var request = request
        request.headers["X-Plain"] = "1"
        return try await next(request)
    }
}

@Suite(.againstHanging) struct InterceptorChainTests {
    private let trace = Notes<String>()
    private let stub = StubTransport()

    @Test func aRequestGoesDownInOrderAndItsResponseUpInReverse() async throws {
        stub.enqueue(.status(200))
        let trace = trace
        let transport = ClosureTransport { [stub] request in
            trace.add("transport")
            return try await stub.send(request)
        }
        let interceptors = ["a", "b", "c"].map { Tracing(name: $0, trace: trace) }
        let chain = InterceptorChain(interceptors, transport: transport)
        let response = try await chain.send(request())
        #expect(trace.all == ["a down", "b down", "c down", "transport", "c up", "b up", "a up"])
        #expect(stub.requests.first?.headers[values: "X-Path"] == ["a", "b", "c"])
        #expect(response.headers[values: "X-Path"] == ["c", "b", "a"])
        #expect(chain.interceptors.count == 3)
    }

    @Test func anEmptyChainIsItsTransport() async throws {
        stub.enqueue(.status(204))
        let chain = InterceptorChain([], transport: stub)
        #expect(try await chain.send(request()).status == 204)
        #expect(chain.transport is StubTransport)
    }

    @Test func aFailureOnTheWayDownStopsThere() async throws {
        let chain = InterceptorChain(
            [
                Tracing(name: "a", trace: trace), .intercept { _, _ in throw Broken(place: "down") },
                Tracing(name: "b", trace: trace),
            ],
            transport: stub
        )
        await #expect(throws: Broken(place: "down")) { try await chain.send(request()) }
        #expect(trace.all == ["a down", "a failed"])
        #expect(stub.requests.isEmpty)
    }

    @Test func aFailureAtTheTransportGoesUpThroughAll() async throws {
        stub.enqueue(.failure(Broken(place: "transport")))
        let interceptors = ["a", "b"].map { Tracing(name: $0, trace: trace) }
        let chain = InterceptorChain(interceptors, transport: stub)
        await #expect(throws: Broken(place: "transport")) { try await chain.send(request()) }
        #expect(trace.all == ["a down", "b down", "b failed", "a failed"])
    }

    @Test func aFailureOnTheWayUpReplacesTheResponse() async throws {
        stub.enqueue(.status(200))
        let chain = InterceptorChain(
            [
                Tracing(name: "a", trace: trace),
                .intercept { request, next in
                    _ = try await next(request)
                    throw Broken(place: "up")
                },
                Tracing(name: "b", trace: trace),
            ],
            transport: stub
        )
        await #expect(throws: Broken(place: "up")) { try await chain.send(request()) }
        #expect(trace.all == ["a down", "b down", "b up", "a failed"])
        #expect(stub.requests.count == 1)
    }

    @Test func aFailureCanBecomeAResponse() async throws {
        stub.enqueue(.failure(Broken()))
        let chain = InterceptorChain(
            [.intercept { request, next in (try? await next(request)) ?? HTTPResponse(status: 299) }],
            transport: stub
        )
        #expect(try await chain.send(request()).status == 299)
    }

    @Test func withoutNextTheTransportIsNotReached() async throws {
        let chain = InterceptorChain(
            [
                Tracing(name: "a", trace: trace), .intercept { _, _ in HTTPResponse(status: 418) },
                Tracing(name: "b", trace: trace),
            ],
            transport: stub
        )
        #expect(try await chain.send(request()).status == 418)
        #expect(trace.all == ["a down", "a up"])
        #expect(stub.requests.isEmpty)
    }

    @Test func eachCallOfNextRunsTheRestAnew() async throws {
        stub.enqueue(.status(500), .status(500), .status(200))
        let chain = InterceptorChain(
            [
                Tracing(name: "a", trace: trace),
                .intercept { request, next in
                    for _ in 0..<2 {
                        let response = try await next(request)
                        if response.status != 500 { return response }
                    }
                    return try await next(request)
                },
                Tracing(name: "b", trace: trace),
            ],
            transport: stub
        )
        #expect(try await chain.send(request()).status == 200)
        #expect(trace.all == ["a down", "b down", "b up", "b down", "b up", "b down", "b up", "a up"])
        // Each run starts from the request at this point of the chain, without the changes of inner interceptors.
        #expect(stub.requests.allSatisfy { $0.headers[values: "X-Path"] == ["a", "b"] })
    }

    @Test func nextCanBeCalledFromChildTasksAtOnce() async throws {
        stub.on(nil, "**", .answer { HTTPResponse(status: 200, body: $0.body) })
        let chain = InterceptorChain(
            [
                .intercept { request, next in
                    let bodies = try await withThrowingTaskGroup(of: String.self) { group in
                        for index in 0..<200 {
                            group.addTask { [request] in
                                var copy = request
                                copy.body = HTTPBody("\(index)")
                                let response = try await next(copy)
                                return String(decoding: try await response.body.collect(upTo: 10), as: UTF8.self)
                            }
                        }
                        return try await group.reduce(into: Set<String>()) { $0.insert($1) }
                    }
                    return HTTPResponse(status: 200, body: HTTPBody("\(bodies.count)"))
                },
                Tracing(name: "b", trace: trace),
            ],
            transport: stub
        )
        #expect(try await chain.send(request()).body.data == Data("200".utf8))
        #expect(stub.requests.count == 200)
    }

    @Test func chainsNest() async throws {
        stub.enqueue(.status(200))
        let inner = InterceptorChain([Tracing(name: "b", trace: trace)], transport: stub)
        let outer = InterceptorChain([Tracing(name: "a", trace: trace)], transport: inner)
        _ = try await InterceptorChain([], transport: outer).send(request())
        #expect(trace.all == ["a down", "b down", "b up", "a up"])
        #expect(outer.transport is InterceptorChain)
    }

    @Test func aMutationOfOneRequestNeverLeaksIntoAnother() async throws {
        stub.on(nil, "**", .status(200))
        let chain = InterceptorChain(
            [
                Plain(), Tracing(name: "a", trace: trace),
                .intercept { request, next in
                    var request = request
                    request.method = .post
                    request.headers["X-Own"] = request.headers["X-Caller"]
                    return try await next(request)
                },
            ],
            transport: stub
        )
        let original = try request()
        try await withThrowingTaskGroup { group in
            for index in 0..<300 {
                group.addTask {
                    var request = original
                    request.headers["X-Caller"] = "\(index)"
                    _ = try await chain.send(request)
                }
            }
            try await group.waitForAll()
        }
        #expect(original.headers.isEmpty)
        #expect(original.method == .get)
        #expect(stub.requests.count == 300)
        #expect(stub.requests.allSatisfy { $0.headers["X-Own"] == $0.headers["X-Caller"] })
        #expect(stub.requests.allSatisfy { $0.headers.count == 4 })
        #expect(Set(stub.requests.map { $0.headers["X-Own"] }).count == 300)
    }

    @Test func theRequestOfTheCallerStaysAsItWas() async throws {
        stub.on(nil, "**", .status(200))
        let chain = InterceptorChain([Tracing(name: "a", trace: trace)], transport: stub)
        let request = try request()
        _ = try await chain.send(request)
        _ = try await chain.send(request)
        #expect(request.headers.isEmpty)
        #expect(stub.requests.allSatisfy { $0.headers[values: "X-Path"] == ["a"] })
    }

    @Test func aThousandInterceptorsDeepIsNoStackOverflow() async throws {
        stub.on(nil, "**", .status(200))
        let interceptors = (0..<1000).map { Tracing(name: "\($0)", trace: trace) }
        let chain = InterceptorChain(interceptors, transport: stub)
        let response = try await chain.send(request())
        #expect(response.headers[values: "X-Path"].count == 1000)
        #expect(trace.all.count == 2000)
        stub.on(nil, "**", .failure(Broken()))
        await #expect(throws: Broken()) { try await chain.send(request()) }
    }

    @Test func cancellationReachesTheTransportAndComesBackUnwrapped() async throws {
        let clock = ManualClock()
        let stub = StubTransport(time: .manual(clock))
        stub.enqueue(.status(200).delayed(by: .seconds(3600)))
        let interceptors = ["a", "b"].map { Tracing(name: $0, trace: trace) }
        let chain = InterceptorChain(interceptors, transport: stub)
        let task = Task { [request = try request()] in try await chain.send(request) }
        await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(trace.all == ["a down", "b down", "b failed", "a failed"])
    }

    @Test func staticFactoriesReadWell() {
        let interceptors: [any Interceptor] = [.intercept { try await $1($0) }, Plain()]
        #expect(interceptors.count == 2)
    }
}

@Suite(.againstHanging) struct InterceptorChainIsolationTests {
    private struct Isolated: Interceptor {
        let isMain: Notes<String>

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            isMain.add("\(#isolation === MainActor.shared)")
            let response = try await next(request)
            isMain.add("\(#isolation === MainActor.shared)")
            return response
        }
    }

    @MainActor @Test func theCallersActorIsKept() async throws {
        let trace = Notes<String>()
        let stub = StubTransport { _ in
            trace.add("\(#isolation === MainActor.shared)")
            return HTTPResponse(status: 200)
        }
        let closure = AnyInterceptor.intercept { request, next in
            trace.add("\(#isolation === MainActor.shared)")
            return try await next(request)
        }
        let chain = InterceptorChain([Isolated(isMain: trace), closure, Isolated(isMain: trace)], transport: stub)
        _ = try await chain.send(request())
        #expect(trace.all.count == 6)
        #expect(trace.all.allSatisfy { $0 == "true" })
    }

    @Test func interceptorCanBeCalledByItselfWithAClosure() async throws {
        let trace = Notes<String>()
        let next = Next { request in
            trace.add(request.headers["X-Path"] ?? "")
            return HTTPResponse(status: 204)
        }
        let tracing = Tracing(name: "a", trace: trace)
        #expect(try await tracing.intercept(request(), next: next).status == 204)
        #expect(trace.all == ["a down", "a", "a up"])
    }

    @Test func nextOfAClosureRefusesWhatAChainRefuses() async throws {
        let next = Next { _ in HTTPResponse(status: 204) }
        var shared = try request()
        shared.shareResponse(by: "cache")
        shared.headers[.authorization] = "Bearer secret"
        await expectUnseenCaller { try await next(shared) }
    }

    @Test func nextMayBeKeptAndCalledLater() async throws {
        let kept = Mutex<Next?>(nil)
        let chain = InterceptorChain(
            [
                AnyInterceptor.intercept { request, next in
                    kept.withLock { $0 = next }
                    return try await next(request)
                }
            ],
            transport: StubTransport { _ in HTTPResponse(status: 204) }
        )
        _ = try await chain.send(request())
        let next = try #require(kept.withLock { $0 })
        #expect(try await Task { try await next(request()) }.value.status == 204)
    }

    @Test func withoutAnActorThereIsNone() async throws {
        let trace = Notes<String>()
        let chain = InterceptorChain(
            [Isolated(isMain: trace)],
            transport: StubTransport { _ in HTTPResponse(status: 200) }
        )
        _ = try await chain.send(request())
        #expect(trace.all == ["false", "false"])
    }
}

private struct ClosureTransport: Transport {
    let answer: @Sendable (HTTPRequest) async throws -> HTTPResponse

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await answer(request) }
}
