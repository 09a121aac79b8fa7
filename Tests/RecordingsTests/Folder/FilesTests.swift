import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// A folder for one test, and requests to it.
struct AnswerFolder {
    let folder: TemporaryFolder

    init(_ files: [String: String] = [:]) throws {
        folder = try TemporaryFolder()
        for (name, text) in files { try write(text, to: name) }
    }

    var url: URL { folder.url }

    func write(_ text: String, to name: String) throws { try write(Data(text.utf8), to: name) }

    func write(_ bytes: Data, to name: String) throws {
        let file = folder.url.appending(path: name)
        try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try bytes.write(to: file, options: .atomic)
    }

    var transport: StubTransport { .files(in: url) }
}

func request(_ target: String, _ method: HTTPRequest.Method = .get, body: HTTPBody = .empty) -> HTTPRequest {
    HTTPRequest(method: method, url: URL(string: "https://api.example.com" + target)!, body: body)
}

extension Transport {
    func text(_ target: String, _ method: HTTPRequest.Method = .get, body: HTTPBody = .empty) async throws -> String {
        let response = try await send(request(target, method, body: body))
        return String(decoding: try await response.body.collect(upTo: 1 << 30), as: UTF8.self)
    }
}

@Suite(.againstHanging) struct FilesTests {
    @Test(arguments: [
        ("/users/42", "GET/users/42.json"), ("/getUserById", "GET/getUserById.json"),
        ("/", "GET/index.json"), ("/users/", "GET/users/index.json"), ("/index", "GET/index.json"),
        ("/users/7", "GET/users/*.json"), ("/a/b/c", "GET/**.json"), ("/a/b/edit", "GET/**/edit.json"),
        ("/search?q=swift", "GET/search.json"), ("/search?q=swift&page=2", "GET/search?q=swift.json"),
        ("/search?page=2&q=swift", "GET/search?q=*&page=2.json"), ("/logo.png", "GET/logo.png"),
        ("/logo", "GET/logo.png"), ("/logo.png", "GET/logo.png.png"), ("/caf%C3%A9", "GET/café.json"),
        ("/any", "*/any.json"), ("/users/42", "api.example.com/GET/users/42.json"),
        ("/a%2Fb", "GET/a%2Fb.json"), ("/v1.2", "GET/v1.2.json"), ("/plain", "GET/plain"),
    ])
    func fileAnswersRequest(target: String, file: String) async throws {
        let folder = try AnswerFolder([file: "1"])
        #expect(try await folder.transport.text(target) == "1")
    }

    @Test(arguments: [
        ("/Users/42", "GET/users/42.json"), ("/users/42/", "GET/users/42.json"), ("/users", "GET/users/index.json"),
        ("/users/42", "POST/users/42.json"), ("/users/42", "other.example.com/GET/users/42.json"),
        ("/users/42", "api.example.com,81/GET/users/42.json"),
        ("/a/b", "GET/a%2Fb.json"), ("/cafe%CC%81", "GET/café.json"), ("/a", "GET/.a.json"), ("/a", "GET/a.json.head"),
        ("/users/", "GET/users/*.json"), ("/search", "GET/search?q=swift.json"), ("/42", "42.json"),
        ("/a", "get/a.json"),
    ])
    func fileDoesNotAnswerAnotherRequest(target: String, file: String) async throws {
        let folder = try AnswerFolder([file: "1"])
        await #expect { try await folder.transport.text(target) } throws: { ($0 as? TransportError)?.code == .noStub }
    }

    @Test func theMostSpecificFileAnswers() async throws {
        let folder = try AnswerFolder([
            "GET/**.txt": "none", "GET/**.txt.head": "HTTP/1.1 404", "GET/users/*.json": "any",
            "GET/users/42.json": "one",
            "GET/users/42?full=1.json": "full", "api.example.com/GET/users/43.json": "ours", "GET/users/43.json": "all",
        ])
        let transport = folder.transport
        #expect(try await transport.text("/users/42") == "one")
        #expect(try await transport.text("/users/42?full=1") == "full")
        #expect(try await transport.text("/users/42?other=1") == "one")
        #expect(try await transport.text("/users/1") == "any")
        #expect(try await transport.text("/users/43") == "ours")
        #expect(try await transport.text("/users") == "none")
        #expect(try await transport.send(request("/users")).status == 404)
    }

    @Test func filesThatDifferInTheirExtensionAnswerTheirOwnURLs() async throws {
        let folder = try AnswerFolder(["GET/app.js": "js", "GET/app.css": "css", "GET/index.html": "html"])
        let transport = folder.transport
        var texts: [String] = []
        for target in ["/app.js", "/app.css", "/app", "/index.html", "/"] {
            texts.append(try await transport.text(target))
        }
        #expect(texts == ["js", "css", "css", "html", "html"])
    }

    @Test func headPrefersAFileForGetToAFallback() async throws {
        let folder = try AnswerFolder([
            "*/**.json": "{}", "*/**.json.head": "HTTP/1.1 404", "GET/users/42.json": "1", "GET/a.json": "1",
            "HEAD/a.head": "HTTP/1.1 204",
        ])
        for (target, status) in [("/users/42", 200), ("/users/43", 404), ("/a", 204)] {
            #expect(try await folder.transport.send(request(target, .head)).status.code == status)
        }
    }

    @Test func headGivesStatusAndFields() async throws {
        let folder = try AnswerFolder([
            "GET/a.json": "{}",
            "GET/a.json.head": """
            # a comment
            HTTP/1.1 418 I'm a teapot

            Content-Type: application/vnd.tea+json
            Set-Cookie: a=1
            Set-Cookie: b=2
            Content-Length: 99
            """,
            "DELETE/a.head": "HTTP/1.1 204\nX-Deleted: yes", "PUT/a": "", "PUT/a.head": "HTTP/1.1 202",
        ])
        let response = try await folder.transport.send(request("/a"))
        #expect(response.status == 418)
        #expect(response.headers[.contentType] == "application/vnd.tea+json")
        #expect(response.headers[values: .setCookie] == ["a=1", "b=2"])
        #expect(!response.headers.contains(.contentLength))
        #expect(response.body.data == Data("{}".utf8))
        let deleted = try await folder.transport.send(request("/a", .delete))
        #expect(deleted.status == 204)
        #expect(deleted.headers["X-Deleted"] == "yes")
        #expect(try await folder.transport.send(request("/a", .put)).status == 202)
    }

    @Test func extensionGivesTheContentType() async throws {
        let folder = try AnswerFolder(["GET/a.json": "{}", "GET/b.sse": "data: 1\n\n", "GET/c": "x"])
        #expect(try await folder.transport.send(request("/a")).headers[.contentType] == "application/json")
        #expect(try await folder.transport.send(request("/b")).headers[.contentType] == "text/event-stream")
        #expect(try await folder.transport.send(request("/c")).headers[.contentType] == nil)
    }

    @Test func headIsAnsweredLikeGetWithoutContent() async throws {
        let folder = try AnswerFolder(["GET/a.json": "{\"a\":1}", "HEAD/b.head": "Content-Length: 12\nX-Own: 1"])
        let response = try await folder.transport.send(request("/a", .head))
        #expect(response.body.isEmpty)
        #expect(response.headers[.contentLength] == "7")
        let own = try await folder.transport.send(request("/b", .head))
        #expect(own.headers[.contentLength] == "12")
        #expect(own.headers["X-Own"] == "1")
    }

    @Test func editIsSeenAtTheNextStart() async throws {
        let folder = try AnswerFolder(["GET/a.json": "1"])
        let transport = folder.transport
        #expect(try await transport.text("/a") == "1")
        try folder.write("2", to: "GET/b.json")
        await #expect(throws: TransportError.self) { try await transport.text("/b") }
        #expect(try await folder.transport.text("/b") == "2")
        // The table has names; the content belongs to the head of the same moment.
        try folder.write("3", to: "GET/a.json")
        try folder.write("X-New: 1", to: "GET/a.json.head")
        let edited = try await transport.send(request("/a"))
        #expect(edited.headers["X-New"] == "1" && edited.body.data == Data("3".utf8))
        try FileManager.default.removeItem(at: folder.url.appending(path: "GET/a.json"))
        let error = await #expect(throws: TransportError.self) { try await transport.text("/a") }
        #expect(error?.code == .unreadableFile)
        #expect(error?.message.contains("GET/a.json can't be read: No such file") == true)
    }

    @Test func missingFolderIsReadWhenItIsThere() async throws {
        let recorded = RecordedFolder()
        let player = recorded.player
        await #expect(throws: TransportError.self) { try await player.text("/a") }
        try await recorded.record("/a", .text("1"))
        #expect(try await player.text("/a") == "1")
    }

    @Test func tooLongFileIsRefused() async throws {
        let folder = try AnswerFolder(["GET/a.bin": ""])
        let file = folder.url.appending(path: "GET/a.bin").path
        #expect(truncate(file, (64 << 20) + 1) == 0)
        let error = await #expect(throws: TransportError.self) { try await folder.transport.text("/a") }
        #expect(error?.code == .unreadableFile)
        #expect(truncate(file, 1) == 0)
        #expect(try await folder.transport.text("/a").utf8.count == 1)
    }

    @Test(arguments: ["token=test1", "token=Test1", "token=t:1"])
    func literalFileComesBeforeTheStarOfASecret(item: String) async throws {
        let folder = try AnswerFolder(["GET/users?\(item).json": "1", "GET/users?token=*.json": "2"])
        #expect(try await folder.transport.text("/users?\(item)") == "1")
        #expect(try await folder.transport.text("/users?token=other") == "2")
        let error = await #expect(throws: TransportError.self) { try await folder.transport.text("/user?\(item)") }
        let message = try #require(error).message
        #expect(message.contains("token=*") && !message.contains(item), "\(message)")
    }

    @Test func aLookUpInALargeFolderTakesNoListing() async throws {
        let folder = try AnswerFolder()
        for number in 0..<500 { try folder.write("\(number)", to: "GET/item/\(number).txt") }
        let transport = folder.transport
        #expect(try await transport.text("/item/7") == "7")
        for number in 0..<500 where number != 7 {
            try FileManager.default.removeItem(at: folder.url.appending(path: "GET/item/\(number).txt"))
        }
        #expect(try await transport.text("/item/7") == "7")
        let error = await #expect(throws: TransportError.self) { try await transport.text("/item/8") }
        #expect(error?.code == .unreadableFile, "the table still has the name")
    }

    @Test func missNamesRequestFilesAndTheNearest() async throws {
        let folder = try AnswerFolder(["GET/users/42.json": "1"])
        let error = await #expect(throws: TransportError.self) {
            try await folder.transport.text("/users/43?token=abc")
        }
        let text = try #require(error).description
        #expect(text.contains("GET https://api.example.com/users/43?token=<redacted>"))
        #expect(text.contains("Looked for api.example.com/GET/users/43?token=*.*, GET/users/43?token=*.*."))
        #expect(text.contains("Did you mean GET /users/42?"))
        let other = await #expect(throws: TransportError.self) { try await folder.transport.text("/users/42", .put) }
        #expect(try #require(other).description.contains("Did you mean GET /users/42? This request's method is PUT."))
        let empty = try AnswerFolder()
        let none = await #expect(throws: TransportError.self) { try await empty.transport.text("/") }
        #expect(try #require(none).description.contains("The folder has no answers."))
    }

    @Test(arguments: [
        (["GET/a.json": "1", "GET/a.json.head": "no colon"], "GET/a.json.head, line 1: A field reads like"),
        (["GET/a.json": "1", "GET/a.json.head": "# x\nHTTP/1.1 abc"], "GET/a.json.head, line 2: A status line"),
        (["GET/a.json": "1", "GET/a.json.head": "HTTP/1.1 101"], "101 is no final status"),
    ])
    func brokenFileFailsWithItsName(files: [String: String], message: String) async throws {
        let folder = try AnswerFolder(files)
        let error = await #expect(throws: TransportError.self) { try await folder.transport.text("/a") }
        #expect(error?.code == .unreadableFile)
        #expect(try #require(error).description.contains(message))
    }

    @Test func missingFolderFailsWithItsPath() async throws {
        let folder = TemporaryFolder.absent()
        let transport = StubTransport.files(in: folder.url)
        let error = await #expect(throws: TransportError.self) { try await transport.text("/a") }
        #expect(error?.code == .unreadableFile)
        #expect(try #require(error).description.contains("No such file or directory."))
        #expect(error?.underlying == nil)
        #expect(error?.description.contains("Cause") == false)
    }

    @Test func longContentIsStreamed() async throws {
        let folder = try AnswerFolder()
        let bytes = Data((0..<(6 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        try folder.write(bytes, to: "GET/movie.mp4")
        var streaming = request("/movie")
        streaming.context.responseBody = .streamed
        let response = try await folder.transport.send(streaming)
        #expect(response.body.length == Int64(bytes.count))
        #expect(try await response.body.collect(upTo: 1 << 30) == bytes)
        let buffered = try await folder.transport.send(request("/movie.mp4"))
        #expect(buffered.body.data == bytes)
    }

    @Test func delayIsWaitedOnTheClock() async throws {
        let folder = try AnswerFolder(["GET/a.json": "1"])
        let clock = ManualClock()
        let transport = StubTransport.files(in: folder.url, delay: .seconds(5), time: .manual(clock))
        let start = clock.now
        let text = try await clock.run { try await transport.text("/a") }
        #expect(text == "1")
        #expect(start.duration(to: clock.now) == .seconds(5))
    }

    @Test func noSecretInANameIsPrinted() throws {
        let folder = try AnswerFolder([
            "GET/a?token=hush.json": "1", "GET/b?token=hush.json.head": "X: 1",
            "GET/sub/c?token=hush.html.head": "X: 1",
            "a?token=hush.json": "1",
        ])
        try FileManager.default.createSymbolicLink(
            at: folder.url.appending(path: "GET/link?token=hush.json"),
            withDestinationURL: folder.url.appending(path: "GET/ok.json")
        )
        let answers = FolderAnswers(folder.url, now: { Date() })
        #expect(answers.problems().count == 4)
        #expect(!answers.problems().joined().contains("hush"), "\(answers.problems())")
        #expect(answers.example == nil)
        try folder.write("1", to: "GET/z.json")
        #expect(FolderAnswers(folder.url, now: { Date() }).example == "/z")
    }

    @Test func problemsAreListed() async throws {
        let folder = try AnswerFolder([
            "GET/a.json": "{", "GET/b.json.head": "X: 1", "stray.json": "1", "get/x.json": "1", "GET/ok.json": "{}",
            "GET/d.json": "{}", "GET/d.json.head": "?",
        ])
        try FileManager.default.createSymbolicLink(
            at: folder.url.appending(path: "GET/link.json"),
            withDestinationURL: folder.url.appending(path: "GET/ok.json")
        )
        #expect(
            FolderAnswers(folder.url, now: { Date() }).problems() == [
                "GET/a.json isn't JSON.", "GET/b.json.head is a head without the file beside it.",
                "GET/d.json.head, line 1: A field reads like \"Content-Type: text/plain\".",
                "GET/link.json is neither a file nor a folder; links aren't followed.",
                "get/x.json isn't in the folder of a method, such as GET.",
                "stray.json isn't in the folder of a method, such as GET.",
            ]
        )
    }
}
