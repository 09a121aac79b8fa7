import Foundation
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct MockAnswerTests {
    /// All bytes that a server sends for a request until it closes the connection.
    private func wire(
        _ response: StubAnswer,
        for request: String = Wire.get("/", "Connection: close\r\n")
    ) async throws -> String {
        let server = try MockServer()
        server.enqueue(response)
        let client = try RawClient(port: server.port)
        try await client.send(request)
        return try await client.receiveAll()
    }

    @Test func aConnectionThatIsNotKeptIsAnnounced() async throws {
        let wire = try await wire(StubAnswer.status(200, body: "ok"))
        #expect(wire == "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
    }

    @Test func fieldsKeepOrderSpellingAndDuplicates() async throws {
        let response = StubAnswer.status(200, headers: ["x-B": "1", "Set-Cookie": "a=1", "SET-COOKIE": "b=2"])
        let wire = try await wire(response)
        #expect(
            wire.hasPrefix("HTTP/1.1 200 OK\r\nx-B: 1\r\nSet-Cookie: a=1\r\nSET-COOKIE: b=2\r\nContent-Length: 0\r\n")
        )
    }

    @Test func anUnregisteredStatusHasAnEmptyPhrase() async throws {
        #expect(try await wire(StubAnswer.status(799)).hasPrefix("HTTP/1.1 799 \r\n"))
    }

    @Test func headHasTheFieldsOfGetAndNoContent() async throws {
        let request = Wire.get("/", "Connection: close\r\n", method: "HEAD")
        let plain = try await wire(StubAnswer.status(200, body: "12345"), for: request)
        #expect(plain == "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\n")
        let chunked = try await wire(.stream([Data("ab".utf8)]), for: request)
        #expect(chunked == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
    }

    @Test(arguments: [204, 304]) func aStatusWithoutContentHasNoLengthEither(code: Int) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        let wire = try await wire(StubAnswer.status(status, body: "dropped"))
        #expect(wire == "HTTP/1.1 \(status)\r\nConnection: close\r\n\r\n")
    }

    @Test func chunksAndTrailersAreFramed() async throws {
        let chunks = [Data("ab".utf8), Data(), Data(repeating: UInt8(ascii: "c"), count: 16)]
        let wire = try await wire(.stream(chunks, trailers: ["X-Sum": "1"], headers: ["Trailer": "X-Sum"]))
        #expect(
            wire == """
                HTTP/1.1 200 OK\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n\
                2\r\nab\r\n10\r\ncccccccccccccccc\r\n0\r\nX-Sum: 1\r\n\r\n
                """
        )
    }

    /// The connection closes even if the client would keep it, because the chunks may be shorter than announced.
    @Test func chunksWithAnAnnouncedLengthAreSentPlainlyUntilTheClose() async throws {
        for response in [
            StubAnswer.stream([Data("ab".utf8), Data("c".utf8)], headers: [.contentLength: "100"]),
            .repeating(Data("abc".utf8), times: 1, chunked: true, headers: [.contentLength: "100"]),
        ] {
            let wire = try await wire(response, for: "GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
            #expect(wire == "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nabc")
        }
    }

    @Test func aClientOfHTTP10GetsNoChunkedCoding() async throws {
        let wire = try await wire(.stream([Data("ab".utf8), Data("c".utf8)]), for: "GET / HTTP/1.0\r\n\r\n")
        #expect(wire == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc")
    }

    @Test func repeatedBytesHaveTheirLengthOrAreChunked() async throws {
        let plain = try await wire(.repeating(Data("ab".utf8), times: 3))
        #expect(plain.hasSuffix("Content-Length: 6\r\nConnection: close\r\n\r\nababab"))
        let chunked = try await wire(.repeating(Data("ab".utf8), times: 2, chunked: true))
        #expect(chunked.hasSuffix("\r\n\r\n2\r\nab\r\n2\r\nab\r\n0\r\n\r\n"))
        #expect(
            try await wire(.repeating(Data("ab".utf8), times: 0)).hasSuffix(
                "Content-Length: 0\r\nConnection: close\r\n\r\n"
            )
        )
        #expect(try await wire(.repeating(Data(), times: 9, chunked: true)).hasSuffix("\r\n\r\n0\r\n\r\n"))
        #expect(try await wire(.repeating(Data("a".utf8), times: -1)).contains("Content-Length: 0\r\n"))
    }

    @Test func aBigContentArrivesWhole() async throws {
        let server = try MockServer()
        server.enqueue(.repeating(Data(repeating: 7, count: 1_000_003), times: 97))
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get("/", "Connection: close\r\n"))
        let head = try await client.receive(through: "\r\n\r\n")
        #expect(head.contains("Content-Length: 97000291\r\n"))
        #expect(try await client.countAll() == 97_000_291)
    }

    /// The server joins small pieces into blocks; the last block may be shorter.
    @Test(arguments: [(1_000, 100), (1_000, 65), (1_000, 66), (65_536, 3), (40_000, 3), (1, 65_537)], [false, true])
    func smallPiecesArriveAsOftenAsTheyAreRepeated(piece: (size: Int, times: Int), isChunked: Bool) async throws {
        let server = try MockServer()
        server.enqueue(.repeating(Data(count: piece.size), times: piece.times, chunked: isChunked))
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get("/", "Connection: close\r\n"))
        _ = try await client.receive(through: "\r\n\r\n")
        let frame = String(piece.size, radix: 16).utf8.count + 4
        let expected = piece.times * (piece.size + (isChunked ? frame : 0)) + (isChunked ? 5 : 0)
        #expect(try await client.countAll() == expected)
    }

    @Test func aContentMayEndWithTheConnection() async throws {
        let wire = try await wire(.untilClose(Data("abc".utf8)), for: Wire.get())
        #expect(wire == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nabc")
    }

    @Test func fieldsThatFrameTheContentGoOutAsTheyAre() async throws {
        let response = StubAnswer.status(200, headers: [.transferEncoding: "chunked"], body: "2\r\nab\r\n0\r\n\r\n")
        let wire = try await wire(response)
        #expect(
            wire == "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n2\r\nab\r\n0\r\n\r\n"
        )
    }

    @Test func interimResponsesComeFirst() async throws {
        let response = StubAnswer.status(200, body: "ok")
            .preceded(byInterim: 103, headers: [.link: "</a.css>"])
            .preceded(byInterim: 102)
        let wire = try await wire(response)
        #expect(
            wire.hasPrefix(
                "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 200 OK\r\n"
            )
        )
    }

    @Test func aDelayedResponseWaitsOnTheClock() async throws {
        let clock = ManualClock()
        let server = try MockServer(time: .manual(clock))
        server.enqueue(.status(200, body: "late").delayed(by: .seconds(3600)))
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        await clock.sleepers(1)
        #expect(clock.nextDeadline == .init(elapsed: .seconds(3600)))
        clock.advance(by: .seconds(3600))
        #expect(try await client.receiveResponse().body == "late")
    }

    @Test func aSlowContentComesPieceByPiece() async throws {
        let clock = ManualClock()
        let server = try MockServer(time: .manual(clock))
        server.enqueue(.stream([Data(), Data("one".utf8), Data("two".utf8)], every: .seconds(5)))
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        #expect(try await client.receive(through: "\r\n\r\n").contains("chunked"))
        for piece in ["3\r\none\r\n", "3\r\ntwo\r\n0\r\n\r\n"] {
            await clock.sleepers(1)
            clock.advance(by: .seconds(5))
            #expect(try await client.receive(piece.utf8.count) == piece)
        }
    }

    @Test func stepsLetATestStandBetweenTwoBytes() async throws {
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let server = try MockServer()
        server.enqueue(
            StubAnswer(steps: [
                .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"), .run { for await _ in gate { break } },
                .send("k"),
            ]),
            StubAnswer.status(200, body: "kept")
        )
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        #expect(try await client.receive(through: "\r\n\r\no").hasSuffix("o"))
        open.yield()
        #expect(try await client.receive(1) == "k")
        // After the last step, the connection stays open.
        #expect(try await client.ask(Wire.get()).body == "kept")
    }

    @Test func aCloseMayBeAnnouncedOrNot() async throws {
        let announced = try await wire(StubAnswer.status(200, body: "a").closing(), for: Wire.get())
        #expect(announced == "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na")
        let silent = try await wire(StubAnswer.status(200, body: "a").closing(announced: false), for: Wire.get())
        #expect(silent == "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na")
        let steps = try await wire(StubAnswer(steps: [.send("x")]).closing(), for: Wire.get())
        #expect(steps == "x")
        let closure = try await wire(.answer { _ in HTTPResponse(status: 200, body: "a") }.closing(), for: Wire.get())
        #expect(closure == "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: close\r\n\r\na")
        let choice = try await wire(.choosing { _ in .text("a") }.closing(announced: false), for: Wire.get())
        #expect(choice.hasSuffix("Content-Length: 1\r\n\r\na"))
        let field = try await wire(StubAnswer.status(200, headers: [.connection: "Close"]), for: Wire.get())
        #expect(field == "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n")
    }

    @Test func aResponseThatClosesKeepsWhatComesBeforeIt() async throws {
        let steps: [MockServer.Step] = [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")]
        for response in [StubAnswer.status(200, body: "ok"), StubAnswer(steps: steps)] {
            for isAnnounced in [true, false] {
                let wire = try await wire(response.preceded(byInterim: 103).closing(announced: isAnnounced))
                #expect(wire.hasPrefix("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\n"))
            }
        }
    }
}
