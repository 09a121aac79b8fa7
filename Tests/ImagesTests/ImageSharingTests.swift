import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsImages

@Suite(.againstHanging) struct ImageSharingTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func thousandAskersOfTenImagesMakeTenExchanges(seed: UInt64) async throws {
        let decoded = Tally()
        let world = try ImageWorld(seed: seed) { content in
            decoded.count()
            return Picture(text: String(decoding: content, as: UTF8.self))
        }
        let askers = (0..<1000).map { world.ask("/\($0 % 10)") }
        world.run()
        #expect(world.loader.loadCounts == (10, 1000))
        world.answerAll()
        for (number, asker) in askers.enumerated() {
            #expect(try await asker.value.image.text.hasSuffix("/v1/\(number % 10)"))
        }
        #expect(world.server.paths.count == 10)
        #expect(decoded.value == 10)
        #expect(world.loader.loadCounts == (0, 0))
    }

    @Test func thousandAskersOnManyThreadsMakeTenExchanges() async throws {
        let server = StubTransport()
        server.on(.get, "/v1/*", .text("abc"))
        let loader = ImageLoader<Picture>(server)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let loaded = try await loader.image(at: "/\(number % 10)")
                    #expect(loaded.image == Picture(text: "abc"))
                }
            }
            try await group.waitForAll()
        }
        #expect(server.requests.count == 10)
        #expect(loader.loadCounts == (0, 0) && loader.memoryCount == 10)
    }

    @Test func pathAndURLOfAnImageAreTheSameImage() async throws {
        let world = try ImageWorld()
        let targets = ["/a", "a", "https://img.example.com/v1/a", "HTTPS://img.example.com/v1/b/../a#top"]
        let askers = targets.map { world.ask($0) }
        world.run()
        world.answerAll()
        for asker in askers { #expect(try await asker.value.image.text == "0 /v1/a") }
        #expect(world.loader.imageInMemory(at: "https://img.example.com/v1/a")?.text == "0 /v1/a")
        #expect(world.server.paths == ["/v1/a"])
    }

    @Test func queryBelongsToTheImage() throws {
        let world = try ImageWorld()
        for target in ["/a", "/a?size=1", "/a?size=2"] { _ = world.ask(target) }
        world.run()
        #expect(world.server.paths.count == 3)
    }

    @Test func equalVariantsAreOneImageAndOthersAreNot() async throws {
        let world = try ImageWorld()
        let askers = [nil, 3, 3, 4].map { world.ask("/a", as: $0.map { Thumbnail(side: $0) }) }
        world.run()
        #expect(world.loader.loadCounts == (3, 4))
        world.answerAll()
        var texts: [String] = []
        for asker in askers { texts.append(try await asker.value.image.text) }
        #expect(texts.map(\.count) == [7, 3, 3, 4])
        #expect(world.loader.imageInMemory(at: "/a", as: Thumbnail(side: 4))?.text.count == 4)
        #expect(world.loader.imageInMemory(at: "/a", as: Thumbnail(side: 5)) == nil)
        #expect(world.loader.memoryCount == 3)
    }

    @Test func imagesInMemoryNeedNoExchange() async throws {
        let world = try ImageWorld()
        world.fill("/a")
        let again = world.ask("/a")
        world.run()
        #expect(try await again.value == LoadedImage(Picture(text: "0 /v1/a"), from: .memory))
        #expect(world.server.paths.count == 1)
    }

    @Test func requestsCarryTheLoadersFieldsAndContext() async throws {
        let server = StubTransport()
        server.on(.get, "/v1/a", .text("abc"))
        let client = Client(baseURL: base, interceptors: [.headers([.accept: "text/plain"])], transport: server)
        let plain = ImageLoader<Picture>(client, decode: { _ in Picture(text: "") }, cost: { _ in 1 })
        _ = try await plain.image(at: "/a")
        let other = ImageLoader<Picture>(
            client,
            bodyLimit: 7,
            headers: ["X-App": "1"],
            context: .with(\.timeouts, Timeouts(total: .seconds(3))),
            decode: { _ in Picture(text: "") },
            cost: { _ in 1 }
        )
        _ = try await other.image(at: "/a")
        let requests = server.requests
        #expect(requests.map { $0.headers[.accept] } == ["image/*", "text/plain"])
        #expect(requests.map { $0.headers["X-App"] } == [nil, "1"])
        #expect(requests.map(\.context.responseBody.bufferLimit) == [32 << 20, 7])
        #expect(requests[1].context.timeouts == Timeouts(total: .seconds(3)))
    }
}
