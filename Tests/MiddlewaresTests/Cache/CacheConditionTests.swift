import Foundation
import Interceptors
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// The cache doesn't replay a response that an outer interceptor turns into an error.
@Suite(.againstHanging) struct CacheConditionTests {
    private let world = CacheWorld()
    private let failure = #"{"code":1005,"message":"No such user"}"#
    private let success = #"{"code":200,"object":{"id":42}}"#
    private let fresh = ["Cache-Control: max-age=60", "Content-Type: application/json"]

    private func send(
        _ envelope: any Interceptor = AnyInterceptor.unwrapEnvelope(payload: "object"),
        streamed: Bool = false
    ) async throws -> String {
        let chain = InterceptorChain([envelope, world.cache], transport: world.stub)
        do {
            let response = try await chain.send(try world.request(streamed: streamed))
            let body = String(decoding: try await response.body.collect(upTo: 1 << 20), as: UTF8.self)
            return "\(response.context.cacheOutcome?.result.description ?? "-") \(body)"
        } catch let error as EnvelopeError {
            return "\(error.code) \(error.serverCode?.text ?? "-")"
        }
    }

    @Test func envelopeOfFailureIsNotStored() async throws {
        world.answer(fresh, failure)
        world.answer(fresh, success)
        #expect(try await send() == "envelopeFailure 1005")
        #expect(try await world.entries().isEmpty)
        #expect(try await send() == "miss {\"id\":42}")
        #expect(try await send() == "hit {\"id\":42}")
    }

    @Test func envelopeOfFailureLeavesTheStoredResponse() async throws {
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\""], success)
        _ = try await send()
        world.advance(10)
        world.answer(fresh, failure)
        #expect(try await send() == "envelopeFailure 1005")
        world.stub.enqueue(.failure(TransportError(.cannotConnect, "No network.")))
        #expect(try await send() == "stale {\"id\":42}")
    }

    @Test(arguments: [("<html>", false), ("{}", false), ("{\"code\":200}", true), ("", true)])
    func responseWithoutAnEnvelopeIsStoredOnlyIfItPasses(body: String, isEnvelope: Bool) async throws {
        world.answer(fresh, body, times: 2)
        _ = try await send()
        #expect(try await world.entries().isEmpty == !isEnvelope)
        _ = try await send(AnyInterceptor.unwrapEnvelope(payload: "object", passesOthers: true))
        #expect(try await world.entries().count == 1)
    }

    @Test func longEnvelopeIsCheckedToo() async throws {
        let padding = String(repeating: " ", count: 100_000)
        world.answer(fresh, padding + failure)
        #expect(try await send() == "envelopeFailure 1005")
        #expect(try await world.entries().isEmpty)
        world.answer(fresh, padding + success)
        #expect(try await send() == "miss {\"id\":42}")
        #expect(try await world.entries().count == 1)
    }

    @Test func streamedJSONIsNotStoredAndOtherStreamsAre() async throws {
        world.answer(fresh, success)
        #expect(try await send(streamed: true) == "miss {\"id\":42}")
        #expect(try await world.entries().isEmpty)
        world.answer(["Cache-Control: max-age=60", "Content-Type: image/png"], "png")
        #expect(try await send(streamed: true) == "miss png")
        #expect(try await world.entries().count == 1)
    }

    @Test func aConditionOfTheCacheHolds() async throws {
        let cache = AnyInterceptor.cache(
            world.store,
            report: { _ in },
            stores: { $0.headers["X-Degraded"] == nil && $0.body.data != Data("bad".utf8) }
        )
        let chain = InterceptorChain([cache], transport: world.stub)
        for (fields, body) in [(["X-Degraded: 1"], "good"), ([], "bad")] {
            world.answer(["Cache-Control: max-age=60"] + fields, body)
            let response = try await chain.send(try world.request())
            #expect(response.context.cacheOutcome?.storing == .condition)
            #expect(response.body.data == Data(body.utf8))
        }
        #expect(try await world.entries().isEmpty)
        world.answer(["Cache-Control: max-age=60"], "good")
        #expect(try await chain.send(try world.request()).context.cacheOutcome?.storing == .stored)
    }

    @Test func conditionsOfInterceptorsAddUp() async throws {
        let chain = InterceptorChain(
            [
                .intercept { request, next in
                    var request = request
                    request.context.storeResponse { $0.headers["A"] == nil }
                    request.context.storeResponse { $0.headers["B"] == nil }
                    return try await next(request)
                },
                world.cache,
            ],
            transport: world.stub
        )
        for line in ["A: 1", "B: 1", "C: 1"] {
            world.answer(["Cache-Control: max-age=60", line], "x")
            let response = try await chain.send(try world.request())
            #expect((response.context.cacheOutcome?.storing == .stored) == (line == "C: 1"))
        }
    }
}
