import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct RecordInterceptorTests {
    @Test func exchangeIsKeptAsFilesThatAnswer() async throws {
        let recorded = RecordedFolder()
        recorded.stub.enqueue(
            .json(#"{"id":42,"price":1.50,"tags":[]}"#, headers: ["X-Own": "1", "Content-Length": "32"]),
            .json("[]", status: 201),
            .status(204, headers: ["X-Deleted": "yes"]),
            .data(Data([0, 255, 1]), contentType: "image/png"),
            .status(404)
        )
        let chain = recorded.chain()
        _ = try await chain.text("/users/42")
        _ = try await chain.text("/users", .post)
        _ = try await chain.text("/users/42", .delete)
        _ = try await chain.text("/logo")
        _ = try await chain.text("/none?q=A")
        #expect(
            try recorded.files == [
                "DELETE/users/42.head", "GET/logo.png", "GET/none?q=A.head", "GET/users/42.json",
                "GET/users/42.json.head",
                "POST/users.json", "POST/users.json.head",
            ]
        )
        let pretty = "{\n  \"id\": 42,\n  \"price\": 1.50,\n  \"tags\": []\n}\n"
        #expect(try recorded.text("GET/users/42.json") == pretty)
        #expect(
            try recorded.text("GET/users/42.json.head") == """
                # GET https://api.example.com/users/42
                HTTP/1.1 200 OK
                X-Own: 1
                Content-Type: application/json

                """
        )
        #expect(try Data(contentsOf: recorded.folder.file("api.example.com/GET/logo.png")) == Data([0, 255, 1]))
        let player = StubTransport.files(in: recorded.folder.url)
        let played = try await player.send(request("/users/42"))
        #expect(played.headers["X-Own"] == "1")
        #expect(played.body.data == Data(pretty.utf8))
        #expect(try await player.send(request("/users", .post)).status == 201)
        let deleted = try await player.send(request("/users/42", .delete))
        #expect(deleted.status == 204)
        #expect(deleted.headers["X-Deleted"] == "yes")
        #expect(try await player.send(request("/none?q=A")).status == 404)
        #expect(recorded.errors.all.isEmpty)
    }

    @Test func theLastAnswerWins() async throws {
        let recorded = RecordedFolder()
        let answers: [(StubAnswer, [String])] = [
            (.text("a", status: 404), ["GET/q.txt", "GET/q.txt.head"]), (.json("1"), ["GET/q.json"]),
            (.status(204), ["GET/q.head"]), (.text("b", headers: ["X-A": "1"]), ["GET/q.txt", "GET/q.txt.head"]),
            (.text("c"), ["GET/q.txt"]),
        ]
        let chains = [recorded.chain(), recorded.chain()]
        for (number, (answer, files)) in answers.enumerated() {
            recorded.stub.enqueue(answer)
            _ = try await chains[number % 2].text("/q")
            #expect(try recorded.files == files)
        }
        #expect(try await recorded.player.text("/q") == "c")
        #expect(recorded.errors.all.isEmpty)
    }

    @Test func otherNamesStay() async throws {
        let recorded = RecordedFolder()
        let kept = [
            "GET/q.v2.json", "GET/q?a=1.json", "GET/q/x.json", "GET/qq.json", "POST/q.json", "*/q.json",
            "GET/q.txt.json",
        ]
        for file in kept { try recorded.write("{}", to: "api.example.com/" + file) }
        for file in ["GET/q.json", "GET/q.json.head", "GET/q.head"] {
            try recorded.write("{}", to: "api.example.com/" + file)
        }
        try await recorded.record("/q", .text("new", headers: ["X-A": "1"]))
        #expect(Set(try recorded.files) == Set(kept + ["GET/q.txt", "GET/q.txt.head"]))
        #expect(try await recorded.player.text("/q") == "new")
    }

    @Test func hostsAreApart() async throws {
        let recorded = RecordedFolder()
        let urls = ["https://api.example.com/x", "https://cdn.example.com/x", "http://api.example.com:8080/x"]
        try await recorded.record(urls.map { (request(at: $0), .text($0)) })
        let names = ["api.example.com", "api.example.com,8080", "cdn.example.com"].map { $0 + "/GET/x.txt" }
        #expect(try FolderPath(recorded.url).list().files.map(FolderPath.text) == names)
        for url in urls { #expect(try await recorded.player.send(request(at: url)).body.data == Data(url.utf8)) }
        await #expect(throws: TransportError.self) {
            try await recorded.player.send(request(at: "https://other.org/x"))
        }
    }

    @Test func namesThatAreOneWithoutCaseAreReported() async throws {
        let recorded = RecordedFolder()
        for target in ["/getUser", "/getuser", "/Users/1", "/users/2"] {
            try await recorded.record(target, .text(target))
        }
        #expect(try recorded.files == ["GET/Users/1.txt", "GET/getUser.txt"])
        let messages = recorded.errors.all.compactMap { ($0 as? TransportError)?.message }
        #expect(messages.count == 2)
        #expect(messages.first?.contains("getuser.txt is the same as getUser.txt.") == true, "\(messages)")
    }

    @Test func urlWithAnExtensionAndOneWithoutAreApart() async throws {
        let recorded = RecordedFolder()
        let answers: [(String, StubAnswer)] = [
            ("/logo", .data(Data([1]), contentType: "image/png")), ("/logo.png", .status(204)),
            ("/a.json", .json("1")), ("/a", .status(204)), ("/index", .text("i")), ("/", .text("/")),
        ]
        for (target, answer) in answers { try await recorded.record(target, answer) }
        #expect(
            try recorded.files == [
                "GET/%69ndex.txt", "GET/a.head", "GET/a.json.json", "GET/index.txt", "GET/logo%2Epng.head",
                "GET/logo.png",
            ]
        )
        for (target, answer) in answers {
            #expect(try await recorded.player.send(request(target)).status == answer.status, "\(target)")
        }
        #expect(try await recorded.player.text("/index") == "i")
        #expect(try await recorded.player.text("/") == "/")
    }

    @Test func aSecondProcessThatRecordsGetsAnError() throws {
        let recorded = RecordedFolder()
        try FileManager.default.createDirectory(at: recorded.url, withIntermediateDirectories: true)
        let other = try OpenedFile.open(recorded.url.path, O_RDONLY | O_DIRECTORY)
        #expect(other.tryLock() == .locked)
        let recorder = FolderRecorder(recorded.url, redaction: .standard) { _ in }
        let exchange = RecordedExchange(
            startedAt: Date(),
            request: .init(method: .get, url: "https://api.example.com/a"),
            response: .init(status: 200, chunks: [.init(Data("1".utf8))])
        )
        let error = #expect(throws: TransportError.self) { try recorder.write(exchange) }
        #expect(
            error?.code == .unwritableFile && error?.message.contains("Another process records into the folder") == true
        )
        #expect(recorded.everything.isEmpty)
        withExtendedLifetime(other) {}
    }

    @Test func temporaryFilesOfKilledProcessesGo() async throws {
        let recorded = RecordedFolder()
        for name in [".recording-abc", ".other"] { try recorded.write("half", to: "api.example.com/GET/" + name) }
        try await recorded.record("/a", .text("1"))
        #expect(recorded.everything.filter { $0.contains("/.") } == ["api.example.com/GET/.other"])
    }

    @Test func failureToWriteLeavesNoTemporaryFile() async throws {
        let recorded = RecordedFolder()
        // A folder in the place of the head can't be replaced.
        try recorded.write("", to: "api.example.com/GET/a.txt.head/x")
        try await recorded.record("/a", .text("1", headers: ["X-A": "1"]))
        #expect(recorded.errors.all.count == 1)
        #expect(!recorded.everything.contains { $0.contains(".recording") })
    }

    @Test(
        arguments: [
            (304, ["If-None-Match": "\"1\""]), (304, ["If-Modified-Since": "Thu, 01 Jan 2015 00:00:00 GMT"]),
            (206, ["Range": "bytes=0-1"]), (416, ["Range": "bytes=9-"]),
        ] as [(Int, HTTPFields)]
    )
    func answerToAConditionDoesNotReplaceAWholeOne(status: Int, fields: HTTPFields) async throws {
        let recorded = RecordedFolder()
        try await recorded.record("/a", .text("whole"))
        let status = try #require(HTTPResponse.Status(code: status))
        let url = "https://api.example.com/a"
        try await recorded.record([(request(at: url, fields: fields), .status(status, headers: ["ETag": "\"1\""]))])
        #expect(try recorded.files == ["GET/a.txt"])
        try await recorded.record([(request(at: url, fields: fields), .text("changed"))])
        #expect(try recorded.text("GET/a.txt") == "changed")
        #expect(recorded.errors.all.isEmpty)
        // Without a condition in the request, the status is the server's answer.
        try await recorded.record("/b", .status(status))
        #expect(try recorded.files.contains("GET/b.head"))
    }

    @Test func streamIsKeptAtItsEndAndNotHeldUp() async throws {
        let recorded = RecordedFolder()
        recorded.stub.enqueue(
            .stream([Data("data: 1\n".utf8), Data("data: 2\n".utf8)], headers: [.contentType: "text/event-stream"])
        )
        var streaming = request("/events")
        streaming.context.responseBody = .streamed
        let response = try await recorded.chain().send(streaming)
        var iterator = response.body.makeAsyncIterator()
        #expect(try await iterator.next() == Data("data: 1\n".utf8))
        #expect(recorded.everything.isEmpty)
        #expect(try await iterator.next() == Data("data: 2\n".utf8))
        #expect(try await iterator.next() == nil)
        #expect(try recorded.text("GET/events.sse") == "data: 1\ndata: 2\n")
    }

    @Test func incompleteContentIsNotKept() async throws {
        let recorded = RecordedFolder()
        recorded.stub.enqueue(
            .stream([Data("a".utf8)], thenFailing: TransportError(.truncated, "Cut.")),
            .stream([Data("a".utf8), Data("b".utf8)]),
            .failure(TransportError(.connectionLost, "Lost."))
        )
        let chain = recorded.chain()
        for _ in 0..<2 {
            var streaming = request("/x")
            streaming.context.responseBody = .streamed
            let response = try await chain.send(streaming)
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            _ = try? await iterator.next()
            response.body.discard()
        }
        await #expect(throws: TransportError.self) { try await chain.text("/x") }
        #expect(recorded.everything.isEmpty)
    }

    @Test func contentOverTheLimitIsReportedAndPasses() async throws {
        let recorded = RecordedFolder()
        recorded.stub.enqueue(.text("12345"), .text("1234"))
        let chain = recorded.chain(limit: 4)
        #expect(try await chain.text("/long") == "12345")
        #expect(try await chain.text("/short") == "1234")
        #expect(try recorded.files == ["GET/short.txt"])
        let error = try #require(recorded.errors.all.first as? TransportError)
        #expect(error.code == .bodyTooLarge)
        #expect(error.message.contains("api.example.com/GET/long"))
    }

    @Test func folderThatCannotBeWrittenIsReportedAndFailsNoCall() async throws {
        let recorded = RecordedFolder()
        try Data().write(to: recorded.folder.url)
        recorded.stub.enqueue(.text("fine"))
        #expect(try await recorded.chain().text("/a") == "fine")
        #expect((recorded.errors.all.first as? TransportError)?.code == .unwritableFile)
    }

    @Test func parallelCallsLoseNothing() async throws {
        let recorded = RecordedFolder()
        recorded.stub.on({ _ in true }, .choosing { .text($0.url.path) })
        let chain = recorded.chain()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { _ = try await chain.text("/item/\(number % 50)") } }
            try await group.waitForAll()
        }
        #expect(try recorded.files.count == 50)
        #expect(!recorded.everything.contains { $0.contains(".recording") })
        let player = StubTransport.files(in: recorded.folder.url)
        for number in 0..<50 { #expect(try await player.text("/item/\(number)") == "/item/\(number)") }
    }

    @Test func digestsGoWhenJSONIsIndented() async throws {
        let recorded = RecordedFolder()
        let fields: HTTPFields = ["Content-Digest": "sha-256=:x:", "ETag": "\"1\""]
        recorded.stub.enqueue(.json(#"{"a":1}"#, headers: fields), .text("unchanged", headers: fields))
        let chain = recorded.chain()
        _ = try await chain.text("/a")
        _ = try await chain.text("/b")
        #expect(try !recorded.text("GET/a.json.head").contains("Digest"))
        #expect(try recorded.text("GET/b.txt.head").contains("Digest"))
    }

    @Test func datesMoveWithTheAnswer() async throws {
        let folder = try AnswerFolder([
            "GET/a.txt": "1",
            "GET/a.txt.head": "Date: Thu, 01 Jan 2015 00:00:00 GMT\nExpires: Thu, 01 Jan 2015 01:00:00 GMT",
        ])
        let transport = StubTransport.files(in: folder.url, time: .manual(ManualClock()))
        let response = try await transport.send(request("/a"))
        #expect(response.headers[.date] == "Thu, 01 Jan 2026 00:00:00 GMT")
        #expect(response.headers[.expires] == "Thu, 01 Jan 2026 01:00:00 GMT")
    }

    @Test func interceptorHasAPlaceInAChain() {
        let chain = InterceptorChain([.record(to: URL(filePath: "/tmp/x"))], transport: StubTransport())
        #expect(chain.findings.isEmpty)
        #expect("\(chain)".contains("record"))
    }
}

@Suite(.againstHanging) struct RecordSecretsTests {
    private static let secret = "hushhush"

    /// Places for a secret: in a URL, in fields, and in a content of some type.
    private static var shapes: [(url: String, fields: HTTPFields, type: String, content: String)] {
        let names = [
            "token", "access_token", "password", "apiKey", "X-Api-Key", "client_secret", "sessionid", "jwt",
            "signature", "otp",
        ]
        return names.flatMap { name -> [(url: String, fields: HTTPFields, type: String, content: String)] in
            let field = HTTPFields([HTTPField(unchecked: HTTPField.Name(name) ?? "Token", secret)])
            return [
                ("/a?\(name)=\(secret)", [:], "text/plain", ""),
                ("/a/b?x=1&\(name)=\(secret)&y=2", [:], "text/plain", ""),
                ("/p;\(name)=\(secret)/x", [:], "text/plain", ""), ("/f", field, "text/plain", ""),
                ("/s", ["Set-Cookie": "\(name)=\(secret); Path=/"], "text/plain", ""),
                ("/l", ["Location": "https://h.org/?\(name)=\(secret)"], "text/plain", ""),
                ("/j", [:], "application/json", "{\"\(name)\":\"\(secret)\",\"a\":1}"),
                ("/k", [:], "application/problem+json", "{\"deep\":[{\"\(name)\":{\"v\":\"\(secret)\"}}]}"),
                ("/form", [:], "application/x-www-form-urlencoded", "a=1&\(name)=\(secret)"),
                ("/bin", [:], "application/octet-stream", "{\"\(name)\":\"\(secret)\"}"),
            ]
        } + [
            ("/r?next=https%3A%2F%2Fh.org%2F%3Ftoken%3D\(secret)", [:], "text/plain", ""),
            ("/b", ["Authorization": "Bearer \(secret)"], "text/plain", ""),
        ]
    }

    @Test func noFileHoldsASecretAndTheRecordingPlays() async throws {
        for shape in Self.shapes {
            let folder = TemporaryFolder.absent()
            let stub = StubTransport()
            let fields = HTTPFields([HTTPField(unchecked: .contentType, shape.type)] + Array(shape.fields))
            stub.enqueue(.status(200, headers: fields, body: HTTPBody(shape.content)))
            let errors = Notes<any Error>()
            let chain = InterceptorChain([.record(to: folder.url, report: { errors.add($0) })], transport: stub)
            var sent = request(shape.url, .post, body: HTTPBody("password=\(Self.secret)"))
            sent.headers[.authorization] = "Bearer \(Self.secret)"
            _ = try await chain.send(sent)
            let paths = FileManager.default.subpaths(atPath: folder.url.path) ?? []
            #expect(!paths.isEmpty, "\(shape)")
            for path in paths {
                #expect(!path.contains(Self.secret), "\(path)")
                guard let bytes = try? Data(contentsOf: folder.file(path)) else { continue }
                #expect(bytes.firstRange(of: Data(Self.secret.utf8)) == nil, "\(path): \(shape)")
            }
            let other = shape.url.replacing(Self.secret, with: "anotherone")
            let played = try await StubTransport.files(in: folder.url).send(request(other, .post, body: "password=x"))
            #expect(played.status == 200, "\(shape)")
            #expect(errors.all.isEmpty)
        }
    }

    @Test func ownNamesAndTheHookCount() async throws {
        let folder = TemporaryFolder.absent()
        let stub = StubTransport()
        stub.enqueue(.json(#"{"frob":"hushhush","note":"Project Manhattan"}"#))
        let record: AnyInterceptor = .record(
            to: folder.url,
            redaction: .standard.adding(names: ["frob"]),
            replacing: { $0.replacing("Manhattan", with: "…") }
        )
        _ = try await InterceptorChain([record], transport: stub).text("/a?frob=hushhush&b=1")
        let name = "api.example.com/GET/a?frob=*&b=1.json"
        #expect(try FolderPath(folder.url).list().files.map(FolderPath.text) == [name])
        let text = String(decoding: try Data(contentsOf: folder.file(name)), as: UTF8.self)
        #expect(!text.contains("hush") && !text.contains("Manhattan"))
        #expect(try await StubTransport.files(in: folder.url).text("/a?frob=other&b=1") == text)
    }
}
