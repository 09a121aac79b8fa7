import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

/// The nth of several equal requests gets the nth answer.
@Suite(.againstHanging) struct AnswerCountsTests {
    @Test func requestsThatShareAPatternAreCountedApart() async throws {
        let folder = try AnswerFolder(["GET/jobs/*.txt": "1", "GET/jobs/*#2.txt": "2"])
        let transport = folder.transport
        var texts: [String] = []
        for target in ["/jobs/a", "/jobs/b", "/jobs/a", "/jobs/%61", "/jobs/b", "/jobs/c?x=1", "/jobs/c"] {
            texts.append(try await transport.text(target))
        }
        #expect(texts == ["1", "1", "2", "2", "2", "1", "1"])
    }

    @Test func methodsOriginsAndBodiesAreCountedApart() async throws {
        let folder = try AnswerFolder([
            "GET/a.txt": "1", "GET/a#2.201.txt": "2", "POST/a.txt": "1", "POST/a#2.txt": "2",
        ])
        let transport = folder.transport
        #expect(try await transport.send(request("/a", .head)).status == 200)
        #expect(try await transport.text("/a") == "1")
        #expect(try await transport.send(request("/a", .head)).status == 201)
        let other = try await transport.send(request(at: "https://other.example.com/a"))
        #expect(other.body.bytes == Data("1".utf8))
        #expect(try await transport.text("/a", .post, body: "x") == "1")
        #expect(try await transport.text("/a", .post, body: "y") == "1")
        #expect(try await transport.text("/a", .post, body: "x") == "2")
    }

    @Test func requestsThatDifferInASecretAreEqual() async throws {
        let folder = try AnswerFolder(["GET/a?token=*.txt": "1", "GET/a?token=*#2.txt": "2"])
        let transport = folder.transport
        #expect(try await transport.text("/a?token=one") == "1")
        #expect(try await transport.text("/a?token=two") == "2")
    }

    @Test func originsOfAnArchiveAreCountedApart() async throws {
        let folder = try AnswerFolder()
        let urls = ["https://a.example/x", "https://b.example/x"]
        var exchanges: [RecordedExchange] = []
        for url in urls {
            for number in 1...2 {
                let chunk = StubAnswer.Chunk(Data("\(url) \(number)".utf8))
                let answered = RecordedExchange.Request(method: .get, url: url)
                let response = RecordedExchange.Response(status: 200, chunks: [chunk])
                let start = Date(timeIntervalSince1970: 0)
                exchanges.append(RecordedExchange(startedAt: start, request: answered, response: response))
            }
        }
        try folder.write(HARArchive.encode(exchanges), to: "s.har")
        let transport = folder.transport
        for number in [1, 2, 2] {
            for url in urls {
                var head = request(at: url)
                head.method = .head
                _ = try await transport.send(head)
                let response = try await transport.send(request(at: url))
                #expect(response.body.bytes == Data("\(url) \(number)".utf8))
            }
        }
    }

    @Test func keysBeyondTheLimitGetTheFirstAnswer() {
        var counts = AnswerCounts<Int>()
        let limit = AnswerCounts<Int>.limit
        for key in 0...limit { #expect(counts.next(key, of: 2) == 0) }
        #expect(counts.next(0, of: 2) == 1)
        #expect(counts.next(limit, of: 2) == 0)
        for _ in 0..<2 { #expect(counts.next(1, of: 1) == 0) }
        for index in [1, 2, 2] { #expect(counts.next(1, of: 3) == index) }
    }
}
