import Foundation
import HTTPSyntax
import Middlewares
import Synchronization
import TestSupport
import Testing
import TransportTesting

@testable import Middlewares

/// The cache keeps parts of representations, and completes them, without ever mixing two versions.
@Suite(.againstHanging) struct CachePartTests {
    private let directory = TemporaryDirectory()

    private func worlds() -> [CacheWorld] {
        [CacheWorld(), CacheWorld(store: DiskCacheStore(at: directory.url))]
    }

    private func storeBeginning(_ world: CacheWorld, _ more: [String] = []) async throws {
        world.answer(206, ["Cache-Control: max-age=60", "Content-Range: bytes 0-4/10", "ETag: \"a\""] + more, "01234")
        #expect(try await world.send(["Range: bytes=0-4"]) == "206 miss 01234")
        #expect(try await world.entries().count == 1)
    }

    @Test(arguments: Scenario.misfits.indices)
    func anAnswerThatDoesNotFitIsFollowedByARequestForEverything(index: Int) async throws {
        let (status, lines, body) = Scenario.misfits[index]
        for world in worlds() {
            try await storeBeginning(world)
            world.answer(status, lines, body)
            world.answer(["Cache-Control: max-age=60", "ETag: \"b\""], "abcdefghij")
            #expect(try await world.send() == "200 miss abcdefghij")
            let sent = world.stub.requests.map { $0.headerFields[.range] ?? "-" }
            #expect(sent == ["bytes=0-4", "bytes=5-", "-"])
            #expect(world.stub.requests[2].headerFields[.ifRange] == nil)
            #expect(try await world.send().hasPrefix("200 hit abcdefghij"))
            #expect(try await world.entries().count == 1, "nothing of the old version stays")
        }
    }

    @Test func aRangeInAnotherFormIsComparedByItsPositions() async throws {
        for world in worlds() {
            try await storeBeginning(world)
            world.answer(206, ["Content-Range: bytes 5-9/*", "ETag: \"a\""], "56789")
            #expect(try await world.send().hasPrefix("200 miss 0123456789"), "RFC 9110 §14.4: the total may be unknown")
        }
    }

    @Test func cookiesOfStoredPartsAreNotReplayedWithTheServersBytes() async throws {
        let world = CacheWorld()
        try await storeBeginning(world, ["Set-Cookie: a=old", "Set-Cookie: b=old"])
        world.answer(206, ["Content-Range: bytes 5-9/10", "ETag: \"a\"", "Set-Cookie: c=new"], "56789")
        let response = try await world.chain.send(try world.request())
        #expect(response.headerFields[values: .setCookie] == ["c=new"])
        #expect(response.receivedCookies.map(\.value) == ["c=new"])
    }

    @Test func aCompletedResponseKeepsToTheCallersLimit() async throws {
        let world = CacheWorld()
        try await storeBeginning(world)
        world.answer(206, ["Content-Range: bytes 5-9/10", "ETag: \"a\""], "56789")
        var request = try world.request()
        request.context.responseBody = .buffered(upTo: 9)
        await #expect(throws: TransportError.self) { try await world.chain.send(request) }
    }

    @Test func aConditionOfAnOuterInterceptorIsAboutTheWholeSoNoPartIsStored() async throws {
        let world = CacheWorld()
        world.answer(206, ["Cache-Control: max-age=60", "Content-Range: bytes 0-4/10", "ETag: \"a\""], "01234")
        var request = try world.request(["Range: bytes=0-4"])
        request.context.storeResponse { _ in true }
        let response = try await world.chain.send(request)
        #expect(response.context.cacheOutcome?.storing == .partial)
        #expect(try await world.entries().isEmpty)
    }

    @Test func aPartThatThePredicateRefusesIsNotStored() async throws {
        let stub = StubTransport()
        let store = MemoryCacheStore()
        let chain = InterceptorChain(
            [CacheInterceptor(store: store, stores: { $0.status != 206 })],
            transport: stub
        )
        let lines = ["Cache-Control: max-age=60", "Content-Range: bytes 0-4/10", "ETag: \"a\""]
        stub.enqueue(.status(206, headers: fields(lines), body: "01234"))
        let request = HTTPRequest(url: try url("https://a.example/x"), headerFields: [.range: "bytes=0-4"])
        #expect(try await chain.send(request).context.cacheOutcome?.storing == .condition)
        #expect(store.count == 0)
    }

    @Test func moreThanEightPartsCostTheShortest() async throws {
        for world in worlds() {
            for index in 0..<10 {
                let (first, last) = (index * 4, index * 4 + (index == 3 ? 0 : 1))
                world.answer(
                    206,
                    ["Cache-Control: max-age=60", "Content-Range: bytes \(first)-\(last)/99", "ETag: \"a\""],
                    String(repeating: "a", count: last - first + 1)
                )
                _ = try await world.send(["Range: bytes=\(first)-\(last)"])
            }
            let entries = try await world.entries()
            #expect(entries.count == 8)
            #expect(!entries.contains { $0.response.headerFields[.contentRange] == "bytes 12-12/99" })
        }
    }

    @Test func aLargerPartReplacesThoseWithinIt() async throws {
        for world in worlds() {
            for (place, text) in [("2-3", "23"), ("5-5", "5"), ("1-6", "123456")] {
                world.answer(
                    206,
                    ["Cache-Control: max-age=60", "Content-Range: bytes \(place)/10", "ETag: \"a\""],
                    text
                )
                _ = try await world.send(["Range: bytes=\(place)"])
            }
            #expect(try await world.entries().map(\.length) == [6])
        }
    }
}

extension CachePartTests {
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

    private static let whole = ["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 10"]

    @Test func aStreamThatBreaksOffIsKeptAndCompleted() async throws {
        for world in worlds() {
            breakOff(world, 200, Self.whole, after: "0123")
            try await readToTheError(world)
            #expect(try await world.send(["Range: bytes=1-3"]) == "206 hit 123 age 0")
            breakOff(world, 206, ["Content-Range: bytes 4-9/10", "ETag: \"a\""], after: "456")
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
        for world in worlds() {
            breakOff(world, 200, lines, after: "0123")
            try await readToTheError(world)
            #expect(try await world.entries().isEmpty)
        }
    }

    @Test func aStreamThatBreaksOffLeavesACompleteResponse() async throws {
        for world in worlds() {
            world.answer(["Cache-Control: max-age=5", "ETag: \"z\""], "old")
            _ = try await world.send()
            world.advance(10)
            breakOff(world, 200, Self.whole, after: "0123")
            try await readToTheError(world)
            #expect(try await world.entries().map(\.length) == [3])
        }
    }

    @Test func nothingIsKeptOfAStreamWithoutAByteOrOfOneThatTheCallerGivesUp() async throws {
        for world in worlds() {
            breakOff(world, 200, Self.whole, after: "")
            try await readToTheError(world)
            breakOff(world, 200, Self.whole, after: "0123")
            let response = try await world.chain.send(try world.request(streamed: true))
            response.body.discard()
            #expect(try await world.entries().isEmpty)
        }
    }

    @Test func aPartIsNotStoredAfterAnInvalidation() async throws {
        for world in worlds() {
            breakOff(world, 200, Self.whole, after: "0123")
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
        for world in worlds() {
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

    @Test func aPartThatIsGoneWhenItIsReadCostsARequestForEverything() async throws {
        let store = FragileStore(weakness: .read)
        let world = CacheWorld(store: store)
        try await storeBeginning(world)
        world.answer(206, ["Content-Range: bytes 5-9/10", "ETag: \"a\""], "56789")
        world.answer(["ETag: \"a\""], "0123456789")
        #expect(try await world.send() == "200 miss 0123456789")
        #expect(world.stub.requests.map { $0.headerFields[.range] ?? "-" } == ["bytes=0-4", "bytes=5-", "-"])
    }

    @Test func aStoreWithoutPartsDropsWhatBrokeOff() async throws {
        let world = CacheWorld(store: try FolderStore(at: directory.url, nil))
        breakOff(world, 200, Self.whole, after: "0123")
        try await readToTheError(world)
        #expect(try await world.entries().isEmpty)
        try await storeBeginning(world)
        #expect(try await world.send(["Range: bytes=1-3"]) == "206 hit 123 age 0")
    }
}
