import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// The cache keeps nothing of a streamed response that breaks off.
@Suite(.againstHanging) struct CacheBrokenStreamTests {
    private let directory = TemporaryDirectory()

    /// A streamed response that breaks off after some of its bytes.
    private func breakOff(_ world: CacheWorld, _ status: HTTPResponse.Status, _ lines: [String], after text: String) {
        let (chunks, feed) = AsyncThrowingStream.makeStream(of: Data.self)
        feed.yield(Data(text.utf8))
        feed.finish(throwing: TransportError(.connectionLost, "It broke off."))
        world.stub.enqueue(.status(status, headers: fields(lines), body: .oneShot(chunks)))
    }

    private func readToTheError(_ world: CacheWorld, _ lines: [String] = []) async throws {
        let response = try await world.chain.send(try world.request(lines, streamed: true))
        await #expect(throws: TransportError.self) { for try await _ in response.body {} }
    }

    @Test(arguments: [
        CacheWorld.whole,
        ["Cache-Control: max-age=60", "Content-Length: 10"],
        ["Cache-Control: max-age=60", "Content-Length: 10", "ETag: W/\"a\""],
        ["Cache-Control: max-age=60", "ETag: \"a\""],
        ["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 10", "Content-Encoding: br"],
        ["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 10", "Accept-Ranges: none"],
        ["Cache-Control: no-store", "ETag: \"a\"", "Content-Length: 10"],
    ])
    func aStreamThatBreaksOffIsDropped(lines: [String]) async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            breakOff(world, 200, lines, after: "0123")
            try await readToTheError(world)
            #expect(try await world.entries().isEmpty)
        }
    }

    @Test func aStreamThatBreaksOffLeavesACompleteResponse() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            world.answer(["Cache-Control: max-age=5", "ETag: \"z\""], "old")
            _ = try await world.send()
            world.advance(10)
            breakOff(world, 200, CacheWorld.whole, after: "0123")
            try await readToTheError(world)
            #expect(try await world.entries().map(\.length) == [3])
        }
    }

    @Test func nothingIsKeptOfAStreamWithoutAByteOrOfOneThatTheCallerGivesUp() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            breakOff(world, 200, CacheWorld.whole, after: "")
            try await readToTheError(world)
            breakOff(world, 200, CacheWorld.whole, after: "0123")
            let response = try await world.chain.send(try world.request(streamed: true))
            response.body.discard()
            #expect(try await world.entries().isEmpty)
        }
    }

    @Test func nothingIsKeptAfterAnErrorThatMayMeanWrongBytes() async throws {
        struct WrongDigest: Error {}
        for world in CacheWorld.ofEachStore(in: directory) {
            let (chunks, feed) = AsyncThrowingStream.makeStream(of: Data.self)
            feed.yield(Data("01x3".utf8))
            feed.finish(throwing: WrongDigest())
            world.stub.enqueue(.status(200, headers: fields(CacheWorld.whole), body: .oneShot(chunks)))
            let response = try await world.chain.send(try world.request(streamed: true))
            await #expect(throws: (any Error).self) { for try await _ in response.body {} }
            #expect(try await world.entries().isEmpty)
        }
    }
}

/// A response to a request for a range isn't stored, and leaves what is stored.
@Suite(.againstHanging) struct CachePartialResponseTests {
    private let directory = TemporaryDirectory()

    @Test func aPartialResponseIsNotStoredAndLeavesTheCompleteOne() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            let lines = ["Cache-Control: max-age=60", "ETag: \"a\""]
            world.answer(206, lines + ["Content-Range: bytes 0-4/10"], "01234")
            let response = try await world.chain.send(try world.request(["Range: bytes=0-4"]))
            #expect(response.status == 206 && response.context.cacheOutcome?.storing == .partial)
            #expect(try await world.entries().isEmpty)
            world.answer(lines, "0123456789")
            #expect(try await world.send() == "200 miss 0123456789")
            world.answer(206, lines + ["Content-Range: bytes 5-9/10"], "56789")
            #expect(try await world.send(["Range: bytes=5-9"], mode: .reload) == "206 miss 56789")
            #expect(try await world.send(["Range: bytes=1-3"]).hasPrefix("206 hit 123"))
            #expect(try await world.entries().map(\.length) == [10])
        }
    }
}
