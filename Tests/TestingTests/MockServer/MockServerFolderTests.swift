import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct MockServerFolderTests {
    private func folder(_ files: [String: String]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, text) in files {
            let file = folder.url.appending(path: name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
        return folder
    }

    private func send(
        _ target: String,
        _ method: HTTPRequest.Method = .get,
        to server: MockServer
    ) async throws -> HTTPResponse {
        let url = try #require(URL(string: server.url.absoluteString + target))
        return try await PlatformTransport().send(HTTPRequest(method: method, url: url))
    }

    @Test func folderAnswersOverASocket() async throws {
        let folder = try folder([
            "GET/users/42.json": "{}", "GET/users/42.json.head": "X-Own: 1", "POST/users.json": "[]",
            "POST/users.json.head": "HTTP/1.1 201", "DELETE/users/42.head": "HTTP/1.1 204",
            "api.example.com/GET/status.json": "1",
        ])
        let server = try MockServer(serving: folder.url)
        let response = try await send("/users/42", to: server)
        #expect(response.status == 200)
        #expect(response.headers["X-Own"] == "1")
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.contentLength] == "2")
        #expect(response.body.data == Data("{}".utf8))
        #expect(try await send("/users", .post, to: server).status == 201)
        #expect(try await send("/users/42", .delete, to: server).status == 204)
        #expect(try await send("/status", to: server).status == 200)
        let head = try await send("/users/42", .head, to: server)
        #expect(head.headers[.contentLength] == "2")
        try Data("[1]".utf8).write(to: folder.file("GET/users/42.json"))
        #expect(try await send("/users/42", to: server).body.data == Data("[1]".utf8))
    }

    @Test func folderAnswersTheAbsoluteFormOfATarget() async throws {
        let folder = try folder(["GET/users/42.json": "{}", "GET/users?page=2.json": "[2]"])
        let server = try MockServer(serving: folder.url)
        let client = try RawClient(port: server.port)
        #expect(try await client.ask(Wire.get("http://api.example.com/users/42")).body == "{}")
        #expect(try await client.ask(Wire.get("http://api.example.com/users?page=2")).body == "[2]")
        #expect(try await client.ask(Wire.get("http://api.example.com/users/43")).head.hasPrefix("HTTP/1.1 404"))
        #expect(try await client.ask(Wire.get("*", method: "OPTIONS")).head.hasPrefix("HTTP/1.1 400"))
    }

    @Test func missGets404AndABrokenFile500WithTheReason() async throws {
        let folder = try folder(["GET/users/42.json": "{}", "GET/bad.json": "1", "GET/bad.json.head": "?"])
        let server = try MockServer(serving: folder.url)
        let miss = try await send("/users/43", to: server)
        #expect(miss.status == 404)
        let text = String(decoding: try #require(miss.body.data), as: UTF8.self)
        #expect(text.contains("Looked for GET/users/43.*") && text.contains("Did you mean GET /users/42?"))
        let broken = try await send("/bad", to: server)
        #expect(broken.status == 500)
        #expect(String(decoding: try #require(broken.body.data), as: UTF8.self).contains("GET/bad.json.head, line 1"))
    }

    @Test func routesAndTheQueueComeBeforeTheFolder() async throws {
        let folder = try folder(["GET/a.json": "folder"])
        let server = try MockServer(serving: folder.url)
        server.on(.get, "/route", .text("route"))
        server.enqueue(.text("queue"))
        var texts: [String] = []
        for target in ["/a", "/route"] {
            texts.append(String(decoding: try await send(target, to: server).body.data ?? Data(), as: UTF8.self))
        }
        #expect(texts == ["queue", "route"])
    }

    @Test func portIsChosenAndFreeAgainAfterTheStop() async throws {
        let folder = try folder(["GET/a.json": "1"])
        let port = try MockServer().port
        for _ in 0..<3 {
            let server = try MockServer(serving: folder.url, port: port)
            #expect(server.port == port)
            #expect(try await send("/a", to: server).status == 200)
            let error = #expect(throws: MockServerError.self) { try MockServer(serving: folder.url, port: port) }
            #expect(try #require(error).description.contains("bind to port \(port)"))
            server.stop()
        }
        #expect(throws: MockServerError.self) { try MockServer(serving: folder.url, port: 65_536) }
    }

    @Test func delayIsWaitedOnTheServersClock() async throws {
        let clock = ManualClock()
        let folder = try folder(["GET/a.json": "1"])
        let server = try MockServer(serving: folder.url, delay: .seconds(60), time: .manual(clock))
        let response = try await clock.run { try await send("/a", to: server) }
        #expect(response.status == 200)
        #expect(clock.now.elapsed == .seconds(60))
    }
}

@Suite(.againstHanging) struct MockFolderAnswerTests {
    private func received(
        _ answer: StubAnswer,
        _ method: HTTPRequest.Method = .get,
        within limit: Duration? = nil
    ) async throws -> HTTPResponse {
        let server = try MockServer(port: 0) { _ in answer }
        var request = HTTPRequest(method: method, url: server.url)
        if let limit { request.context.timeouts = Timeouts(idle: limit) }
        return try await PlatformTransport().send(request)
    }

    @Test func longContentIsReadWhileItIsSent() async throws {
        let (body, source) = Endless.body(length: 1 << 40)
        let server = try MockServer(port: 0) { request in
            .status(200, headers: ["X-Method": request.method.rawValue], body: body)
        }
        var request = HTTPRequest(url: server.url)
        request.context.responseBody = .streamed
        let response = try await PlatformTransport().send(request)
        #expect(response.headers[.contentLength] == "\(1 << 40)")
        var read = 0
        for try await chunk in response.body {
            read += chunk.count
            if read > 1 << 20 { break }
        }
        response.body.discard()
        await source.isDiscarded()
        // The sockets hold at most some megabytes more than was read.
        #expect(source.produced < 64 << 20)
    }

    @Test func headDoesNotReadTheContent() async throws {
        let (body, source) = Endless.body(length: 1 << 40)
        let answer = StubAnswer.status(200, body: body)
        let response = try await received(answer, .head)
        #expect(response.headers[.contentLength] == "\(1 << 40)")
        await source.isDiscarded()
        #expect(source.produced == 0)
    }

    @Test func contentThatFailsBreaksOff() async throws {
        let body = HTTPBody.oneShot(
            AsyncThrowingStream<Data, any Error> { continuation in
                continuation.yield(Data("hello".utf8))
                continuation.finish(throwing: CocoaError(.fileReadUnknown))
            }
        )
        let error = await #expect(throws: TransportError.self) { try await received(.status(200, body: body)) }
        #expect(error?.code == .truncated)
    }

    @Test func requestsNeedNotBeKept() async throws {
        for keeps in [true, false] {
            let server = try MockServer(port: 0, keepsRequests: keeps) { _ in .status(204) }
            for _ in 0..<3 { _ = try await PlatformTransport().send(HTTPRequest(url: server.url)) }
            #expect(server.requests.count == (keeps ? 3 : 0))
        }
    }

    @Test func framingOfTheRecordedConnectionIsNotSent() async throws {
        let fields: HTTPFields = [
            .contentLength: "99", .transferEncoding: "chunked", .connection: "close", "X-Kept": "yes",
        ]
        for answer: StubAnswer in [
            .status(200, headers: fields, body: "hello"), .stream([Data("hello".utf8)], headers: fields),
        ] {
            let response = try await received(answer.withFramingOfServer(answering: .get))
            #expect(response.headers["X-Kept"] == "yes")
            #expect(response.body.data == Data("hello".utf8))
        }
    }

    @Test func valuesAreSentAsResponses() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("from a file".utf8))
        let answers: [(StubAnswer, String)] = [
            (.json("{}", status: 201), "201 {}"), (.file(file), "200 from a file"),
            (.stream([Data("a".utf8), Data(), Data("b".utf8)]), "200 ab"),
            (.answer { _ in HTTPResponse(status: 203, body: "closure") }, "203 closure"),
            (
                .status(
                    200,
                    body: .restartable {
                        AsyncStream {
                            $0.yield(Data("s".utf8)); $0.finish()
                        }
                    }
                ), "200 s"
            ),
            (.choosing { _ in .text("chosen") }, "200 chosen"),
        ]
        for (answer, expected) in answers {
            let response = try await received(answer)
            let text = String(decoding: response.body.data ?? Data(), as: UTF8.self)
            #expect("\(response.status.code) \(text)" == expected)
        }
    }

    @Test func failuresAreFailuresOfTheConnection() async throws {
        struct Broken: Error {}
        let cut = StubAnswer.stream([Data("a".utf8)], thenFailing: Broken())
        let codes: [(StubAnswer, HTTPErrorCode)] = [
            (cut, .truncated), (.failure(Broken()), .connectionLost), (.neverAnswer, .timedOut),
            (.failure(TransportError(.timedOut, "Silence.")), .timedOut),
        ]
        for (answer, code) in codes {
            let error = await #expect(throws: TransportError.self) {
                // A server that never answers can't be told from a slow one without a limit.
                try await received(answer, within: code == .timedOut ? .milliseconds(100) : nil)
            }
            #expect(error?.code == code)
        }
    }
}

/// A source of zeros that counts them.
private final class Endless: Sendable {
    private let count = Mutex(0)
    private let (ends, continuation) = AsyncStream.makeStream(of: Void.self)

    var produced: Int { count.withLock { $0 } }

    func isDiscarded() async { for await _ in ends {} }

    static func body(length: Int64) -> (HTTPBody, Endless) {
        let source = Endless()
        let chunks = AsyncStream(unfolding: {
            source.count.withLock { $0 += 64 << 10 }
            return Data(count: 64 << 10)
        })
        let body = HTTPBody.oneShot(chunks, length: length, onDiscard: { source.continuation.finish() })
        return (body, source)
    }
}
