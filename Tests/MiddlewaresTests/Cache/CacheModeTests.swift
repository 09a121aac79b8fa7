import Foundation
import Interceptors
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CacheModeTests {
    private let world = CacheWorld()

    @Test(arguments: [CacheMode.offline, .onlyIfCached])
    func whereNothingMayBeSentNothingIs(mode: CacheMode) async throws {
        world.answer(["Cache-Control: max-age=60", "ETag: \"a\""], "one")
        _ = try await world.send()
        for method in [HTTPRequest.Method.post, .put, .delete, .options, .query] {
            #expect(try await world.send([], method, mode: mode) == "504 unsatisfiable ")
        }
        for line in ["Range: bytes=0-0,2-2", "Range: lines=1-2", "If-Match: \"a\"", "If-Unmodified-Since: {0}"] {
            #expect(try await world.send([line], mode: mode) == "504 unsatisfiable ")
        }
        var request = try world.request(mode: mode)
        request.body = "content"
        #expect(try await world.chain.send(request).status == 504)
        request.url = try url("x-app://a.example/x")
        #expect(try await world.chain.send(request).status == 504)
        #expect(world.stub.requests.count == 1)
        #expect(try await world.send() == "200 hit one age 0", "and nothing is removed for it")
    }

    @Test func aRequestThatSaysOnlyIfCachedIsNeverSent() async throws {
        #expect(try await world.send(["Cache-Control: only-if-cached"], .post) == "504 unsatisfiable ")
        #expect(try await world.send(["Cache-Control: only-if-cached", "If-Match: \"a\""]) == "504 unsatisfiable ")
        #expect(world.stub.requests.isEmpty)
    }
}
