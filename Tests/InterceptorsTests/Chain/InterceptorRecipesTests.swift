import Foundation
import InterceptorsCore
import InterceptorsTesting
import Synchronization
import Testing

// Copies of the recipes in the documentation of `Interceptor`.

private struct OnceMoreInterceptor: Interceptor {
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        let response = try await next(request)
        guard response.status == 503 && request.method.isSafe else { return response }
        response.body.discard()
        return try await next(request)
    }
}

private struct OnceMoreConsumingInterceptor: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers[.accept] = "text/plain"
        let response = try await next(copy request)
        guard response.status == 503 else { return response }
        response.body.discard()
        return try await next(request)
    }
}

private struct FasterOfTwoInterceptor: Interceptor {
    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        guard request.method.isSafe else { return try await next(request) }
        return try await withThrowingTaskGroup(of: HTTPResponse.self) { group in
            for _ in 0..<2 { group.addTask { try await next(request) } }
            guard let first = await group.nextResult() else { throw CancellationError() }
            group.cancelAll()
            if case .success(let later)? = await group.nextResult() { later.body.discard() }
            return try first.get()
        }
    }
}

@MainActor private final class Activity {
    var count = 0
}

private struct ActivityInterceptor: Interceptor {
    let activity: Activity

    @MainActor func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        activity.count += 1
        defer { activity.count -= 1 }
        return try await next(request)
    }
}

private actor OriginCounter: Interceptor {
    private(set) var counts: [String: Int] = [:]

    func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
        counts[request.url.host() ?? "", default: 0] += 1
        return try await next(request)
    }
}

/// Answers two requests once both have arrived, even if one of them is cancelled.
private final class PairTransport: Transport {
    private struct State {
        var waiting: CheckedContinuation<Void, Never>?
        var discarded = 0
    }

    private let state = Mutex(State())

    var discarded: Int { state.withLock(\.discarded) }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        await withCheckedContinuation { continuation in
            let other = state.withLock { state in
                defer { state.waiting = state.waiting == nil ? continuation : nil }
                return state.waiting
            }
            guard let other else { return }
            other.resume()
            continuation.resume()
        }
        let body = AsyncStream<Data> {
            $0.yield(Data("x".utf8))
            $0.finish()
        }
        return HTTPResponse(status: 200, body: .oneShot(body) { self.state.withLock { $0.discarded += 1 } })
    }
}

@Suite(.againstHanging) struct InterceptorRecipesTests {
    private let request: HTTPRequest

    init() throws { request = HTTPRequest(url: try #require(URL(string: "https://h.example/x"))) }

    @Test func aRequestCanBePassedOnTwice() async throws {
        for interceptor in [OnceMoreInterceptor(), OnceMoreConsumingInterceptor()] as [any Interceptor] {
            let stub = StubTransport()
            stub.enqueue(.status(503), .status(204))
            #expect(try await InterceptorChain([interceptor], transport: stub).send(request).status == 204)
            #expect(stub.requests.count == 2)
            #expect(stub.requests[0].headers == stub.requests[1].headers)
        }
    }

    @Test func aRequestCanBeSentFromChildTasks() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        #expect(try await InterceptorChain([FasterOfTwoInterceptor()], transport: stub).send(request).status == 204)
    }

    /// A streamed response holds its connection until it is read or discarded.
    @Test func responseThatComesSecondIsDiscarded() async throws {
        let pair = PairTransport()
        let response = try await InterceptorChain([FasterOfTwoInterceptor()], transport: pair).send(request)
        #expect(pair.discarded == 1)
        #expect(try await response.body.collect(upTo: 10) == Data("x".utf8))
        #expect(pair.discarded == 1)
    }

    @Test @MainActor func aMethodMayBeTheMainActors() async throws {
        let activity = Activity()
        let stub = StubTransport { _ in
            #expect(await activity.count == 1)
            return HTTPResponse(status: 204)
        }
        _ = try await InterceptorChain([ActivityInterceptor(activity: activity)], transport: stub).send(request)
        #expect(activity.count == 0)
    }

    @Test func anActorMayBeAnInterceptor() async throws {
        let counter = OriginCounter()
        let chain = InterceptorChain([counter], transport: StubTransport { _ in HTTPResponse(status: 204) })
        for _ in 0..<3 { _ = try await chain.send(request) }
        #expect(await counter.counts == ["h.example": 3])
    }
}
