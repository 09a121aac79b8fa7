import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// The cache keeps the beginning of a streamed response that breaks off.
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

    @Test func aStreamThatBreaksOffIsKeptAndCompleted() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            breakOff(world, 200, CacheWorld.whole, after: "0123")
            try await readToTheError(world)
            #expect(try await world.send(["Range: bytes=1-3"]) == "206 hit 123 age 0")
            breakOff(world, 206, ["Content-Range: bytes 4-9/10", "Content-Length: 6", "ETag: \"a\""], after: "456")
            try await readToTheError(world)
            world.answer(206, ["Content-Range: bytes 7-9/10", "ETag: \"a\""], "789")
            #expect(try await world.send() == "200 miss 0123456789 age 0")
            #expect(world.stub.requests.map { $0.headerFields[.range] ?? "-" } == ["-", "bytes=4-", "bytes=7-"])
            #expect(try await world.send() == "200 hit 0123456789 age 0")
        }
    }

    @Test(arguments: [
        ["Cache-Control: max-age=60", "Content-Length: 10"],
        ["Cache-Control: max-age=60", "Content-Length: 10", "ETag: W/\"a\""],
        ["Cache-Control: max-age=60", "ETag: \"a\""],
        ["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 10", "Content-Encoding: br"],
        ["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 10", "Accept-Ranges: none"],
        ["Cache-Control: no-store", "ETag: \"a\"", "Content-Length: 10"],
    ])
    func aStreamWhoseRestCannotBeRequestedIsDropped(lines: [String]) async throws {
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

    @Test func aPartIsNotStoredAfterAnInvalidation() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            breakOff(world, 200, CacheWorld.whole, after: "0123")
            let response = try await world.chain.send(try world.request(streamed: true))
            var chunks = response.body.makeAsyncIterator()
            _ = try await chunks.next()
            world.answer(204, [])
            _ = try await world.send([], .post)
            await #expect(throws: TransportError.self) { try await chunks.next() }
            #expect(try await world.entries().isEmpty)
        }
    }

    @Test func aPartOfAnEarlierResponseIsNotStoredAfterALaterCompleteOne() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            breakOff(
                world,
                206,
                ["Cache-Control: max-age=60", "Content-Range: bytes 0-4/10", "ETag: \"a\""],
                after: "01"
            )
            let response = try await world.chain.send(try world.request(["Range: bytes=0-4"], streamed: true))
            world.answer(["Cache-Control: max-age=60", "ETag: \"b\""], "new")
            #expect(try await world.send() == "200 miss new")
            await #expect(throws: TransportError.self) { for try await _ in response.body {} }
            #expect(try await world.entries().map(\.length) == [3])
        }
    }

    @Test func aStoreWithoutPartsDropsWhatBrokeOff() async throws {
        let world = CacheWorld(store: try FolderStore(at: directory.url, nil))
        breakOff(world, 200, CacheWorld.whole, after: "0123")
        try await readToTheError(world)
        #expect(try await world.entries().isEmpty)
        try await world.storeBeginning()
        #expect(try await world.send(["Range: bytes=1-3"]) == "206 hit 123 age 0")
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

    @Test(arguments: [
        ["Content-Range: bytes 0-4/10", "Content-Length: 5"], ["Content-Range: bytes 0-8/10"],
    ])
    func ofABrokenPartOnlyBytesWithinAnAnnouncedLengthAreKept(lines: [String]) async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            breakOff(world, 206, ["Cache-Control: max-age=60", "ETag: \"a\""] + lines, after: "0123456")
            try await readToTheError(world, ["Range: bytes=0-8"])
            #expect(try await world.entries().isEmpty)
        }
    }

    @Test func aBrokenResponseOfTheSameVersionLeavesItsParts() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            world.answer(
                206,
                ["Cache-Control: max-age=60", "Content-Range: bytes 0-8/10", "ETag: \"a\""],
                "012345678"
            )
            _ = try await world.send(["Range: bytes=0-8"])
            breakOff(world, 200, CacheWorld.whole, after: "01")
            let response = try await world.chain.send(try world.request(mode: .reload, streamed: true))
            await #expect(throws: TransportError.self) { for try await _ in response.body {} }
            #expect(try await world.entries().map(\.length) == [9])
        }
    }
}
