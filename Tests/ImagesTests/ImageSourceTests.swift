import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsImages

@Suite(.againstHanging) struct ImageSourceTests {
    @Test func sourceIsTheNetworkThenTheMemoryThenTheCache() async throws {
        let server = StubTransport()
        server.enqueue(.text("abc", headers: [.cacheControl: "max-age=60"]))
        let loader = ImageLoader<Picture>(server, [.cache(.memory())])
        #expect(try await loader.image(at: "/a").source == .network)
        #expect(try await loader.image(at: "/a").source == .memory)
        loader.removeAll()
        let loaded = try await loader.image(at: "/a")
        #expect(loaded.source == .cache && loaded.image.text == "abc")
        #expect(server.requests.count == 1)
    }

    @Test func confirmedContentIsTheCaches() async throws {
        let server = StubTransport()
        server.enqueue(.text("abc", headers: [.cacheControl: "no-cache", .eTag: "\"1\""]), .status(304))
        let loader = ImageLoader<Picture>(server, [.cache(.memory())])
        _ = try await loader.image(at: "/a")
        loader.removeAll()
        let loaded = try await loader.image(at: "/a")
        #expect(loaded.source == .cache && loaded.image.text == "abc")
        #expect(server.requests.count == 2)
    }

    @Test func everyAskerOfAnExchangeIsToldItsSource() async throws {
        let world = try ImageWorld()
        let askers = (0..<3).map { _ in world.ask("/a") }
        world.run()
        world.answerAll()
        for asker in askers { #expect(try await asker.value.source == .network) }
    }
}
