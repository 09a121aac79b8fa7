import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// The cache keeps parts of representations, and completes them, without ever mixing two versions.
@Suite(.againstHanging) struct CachePartTests {
    private let directory = TemporaryDirectory()

    @Test(arguments: Scenario.misfits.indices)
    func anAnswerThatDoesNotFitIsFollowedByARequestForEverything(index: Int) async throws {
        let (status, lines, body) = Scenario.misfits[index]
        for world in CacheWorld.ofEachStore(in: directory) {
            try await world.storeBeginning()
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
        for world in CacheWorld.ofEachStore(in: directory) {
            try await world.storeBeginning()
            world.answer(206, ["Content-Range: bytes 5-9/*", "ETag: \"a\""], "56789")
            #expect(try await world.send().hasPrefix("200 miss 0123456789"), "RFC 9110 §14.4: the total may be unknown")
        }
    }

    @Test func cookiesOfStoredPartsAreNotReplayedWithTheServersBytes() async throws {
        let world = CacheWorld()
        try await world.storeBeginning(["Set-Cookie: a=old", "Set-Cookie: b=old"])
        world.answer(206, ["Content-Range: bytes 5-9/10", "ETag: \"a\"", "Set-Cookie: c=new"], "56789")
        let response = try await world.chain.send(try world.request())
        #expect(response.headerFields[values: .setCookie] == ["c=new"])
        #expect(response.receivedCookies.map(\.value) == ["c=new"])
    }

    @Test func aCompletedResponseKeepsToTheCallersLimit() async throws {
        let world = CacheWorld()
        try await world.storeBeginning()
        world.answer(206, ["Content-Range: bytes 5-9/10", "ETag: \"a\""], "56789")
        var request = try world.request()
        request.context.responseBody = .buffered(upTo: 9)
        let error = await #expect(throws: TransportError.self) { try await world.chain.send(request) }
        #expect(error?.code == .bodyTooLarge)
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
        for world in CacheWorld.ofEachStore(in: directory) {
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
        for world in CacheWorld.ofEachStore(in: directory) {
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

    @Test func aPartThatIsGoneWhenItIsReadCostsARequestForEverything() async throws {
        let store = FragileStore(weakness: .read)
        let world = CacheWorld(store: store)
        try await world.storeBeginning()
        world.answer(206, ["Content-Range: bytes 5-9/10", "ETag: \"a\""], "56789")
        world.answer(["ETag: \"a\""], "0123456789")
        #expect(try await world.send() == "200 miss 0123456789")
        #expect(world.stub.requests.map { $0.headerFields[.range] ?? "-" } == ["bytes=0-4", "bytes=5-", "-"])
    }

    @Test func aPartThatCameDuringACompleteResponseDoesNotStandBeforeIt() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            let (chunks, feed) = AsyncThrowingStream.makeStream(of: Data.self)
            world.stub.enqueue(.status(200, headers: fields(CacheWorld.whole), body: .oneShot(chunks)))
            let response = try await world.chain.send(try world.request(streamed: true))
            world.advance(1)
            for first in 0..<20 {
                let place = "Content-Range: bytes \(first)-\(first)/30"
                world.answer(206, ["Cache-Control: max-age=60", place, "ETag: \"b\""], "x")
                _ = try await world.send(["Range: bytes=\(first)-\(first)"])
            }
            feed.yield(Data("0123456789".utf8))
            feed.finish()
            _ = try await response.body.collect(upTo: 100)
            #expect(try await world.send().hasPrefix("200 hit 0123456789"))
            #expect(try await world.send(mode: .offline).contains("0123456789"))
        }
    }

    @Test(arguments: ["345", "34567"]) func aMissingMiddleOfAnotherLengthGivesNoByteAWrongPlace(
        middle: String
    ) async throws {
        let world = CacheWorld()
        for (place, text) in [("0-2", "012"), ("7-9", "789")] {
            world.answer(206, ["Cache-Control: max-age=60", "Content-Range: bytes \(place)/10", "ETag: \"a\""], text)
            _ = try await world.send(["Range: bytes=\(place)"])
        }
        let (chunks, feed) = AsyncThrowingStream.makeStream(of: Data.self)
        feed.yield(Data(middle.utf8))
        feed.finish()
        let lines = ["Content-Range: bytes 3-6/10", "ETag: \"a\""]
        world.stub.enqueue(.status(206, headers: fields(lines), body: .oneShot(chunks)))
        let response = try await world.chain.send(try world.request(streamed: true))
        var read = ""
        await #expect(throws: TransportError.self) {
            for try await chunk in response.body { read += String(decoding: chunk, as: UTF8.self) }
        }
        #expect("0123456789".hasPrefix(read), "\(read)")
    }

    @Test func digestsOfOneContentAreNotThoseOfAnother() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            world.answer(["Cache-Control: max-age=5", "ETag: \"a\"", "Content-Digest: whole"], "0123456789")
            _ = try await world.send()
            world.advance(10)
            let part = ["Content-Range: bytes 0-0/10", "ETag: \"a\"", "Content-Digest: part", "Content-MD5: part"]
            world.answer(206, part + ["Cache-Control: max-age=60"], "0")
            _ = try await world.send(["Range: bytes=0-0"])
            let whole = try await world.chain.send(try world.request()).headerFields
            #expect(whole["Content-Digest"] == "whole" && whole["Content-MD5"] == nil)
            let range = try await world.chain.send(try world.request(["Range: bytes=1-2"])).headerFields
            #expect(range["Content-Digest"] == nil)
        }
    }

    @Test func aWeakTagInA304LeavesThePartsTogether() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            try await world.storeBeginning()
            world.answer(304, ["ETag: W/\"a\""])
            #expect(try await world.send(["Range: bytes=1-2"], mode: .revalidate).hasPrefix("206 revalidated 12"))
            world.answer(206, ["Content-Range: bytes 5-9/10", "ETag: \"a\""], "56789")
            #expect(try await world.send().hasPrefix("200 miss 0123456789"))
        }
    }

    @Test func aStalePartIsNotValidatedInTheBackground() async throws {
        let world = CacheWorld()
        let lines = ["Cache-Control: max-age=5, stale-while-revalidate=60", "ETag: \"a\""]
        world.answer(206, lines + ["Content-Range: bytes 0-4/10"], "01234")
        _ = try await world.send(["Range: bytes=0-4"])
        world.advance(10)
        world.answer(304, lines)
        #expect(try await world.send(["Range: bytes=0-4"]).hasPrefix("206 revalidated 01234"))
        #expect(world.stub.requests.count == 2)
    }

    @Test func aPartFromBehindARedirectIsNeitherStoredNorCompletedWith() async throws {
        let stub = StubTransport()
        stub.on(.get, "/latest", .status(302, headers: [.location: "/v1"]))
        stub.on(.get, "/v1") { request in
            let fields = fields(["Cache-Control: max-age=60", "ETag: \"1\"", "Content-Range: bytes 0-4/10"])
            return request.headerFields.contains(.range)
                ? .status(206, headers: fields, body: "01234") : .status(200, body: "0123456789")
        }
        let chain = InterceptorChain([.cache(.memory()), .followRedirects()], transport: stub)
        var request = HTTPRequest(url: try url("https://a.example/latest"), headerFields: [.range: "bytes=0-4"])
        #expect(try await chain.send(request).context.cacheOutcome?.storing == .redirected)
        request.headerFields.remove(.range)
        #expect(try await chain.send(request).body.collect(upTo: 100) == Data("0123456789".utf8))
        #expect(stub.requests.allSatisfy { $0.headerFields[.ifRange] == nil })
    }

    @Test func manyPartsAtOnceAreCutToTheLimitByTheNext() async throws {
        for world in CacheWorld.ofEachStore(in: directory) {
            var responses: [HTTPResponse] = []
            for first in 0..<12 {
                let (chunks, feed) = AsyncThrowingStream.makeStream(of: Data.self)
                feed.yield(Data("x".utf8))
                feed.finish()
                let lines = ["Cache-Control: max-age=60", "Content-Range: bytes \(first)-\(first)/30", "ETag: \"a\""]
                world.stub.enqueue(.status(206, headers: fields(lines), body: .oneShot(chunks)))
                let request = try world.request(["Range: bytes=\(first)-\(first)"], streamed: true)
                responses.append(try await world.chain.send(request))
            }
            for response in responses { _ = try await response.body.collect(upTo: 10) }
            #expect(try await world.entries().count == 12)
            world.answer(206, ["Cache-Control: max-age=60", "Content-Range: bytes 20-21/30", "ETag: \"a\""], "xx")
            _ = try await world.send(["Range: bytes=20-21"])
            #expect(try await world.entries().count == StoredParts.limit)
        }
    }

    @Test func aCompletionThatIsCancelledWhilePartsAreOpenedReleasesTheServersBody() async throws {
        let world = CacheWorld(store: FragileStore(weakness: .read))
        try await world.storeBeginning()
        let discards = Tally()
        let (chunks, _) = AsyncThrowingStream.makeStream(of: Data.self)
        let lines = ["Content-Range: bytes 5-9/10", "ETag: \"a\""]
        world.stub.enqueue(.status(206, headers: fields(lines), body: .oneShot(chunks) { discards.count() }))
        world.answer(["ETag: \"b\""], "whole")
        let response = try await world.chain.send(try world.request(streamed: true))
        #expect(try await response.body.collect(upTo: 100) == Data("whole".utf8))
        #expect(discards.value == 1)
    }
}
