import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// A file's name depends only on the request and the folder's home origin.
@Suite(.againstHanging) struct FolderNamingTests {
    private func digest(_ body: String) throws -> String {
        try #require(FolderBody.digest(of: request("/", .post, body: HTTPBody(body)), redaction: .standard))
    }

    // MARK: Bodies

    @Test func everyBodyIsInTheNameExceptAnEmptyOne() async throws {
        let recorded = RecordedFolder()
        try await recorded.record([
            (request("/u", .post, body: "a=1"), .text("1", status: 201)), (request("/u", .post), .text("none")),
            (request("/u", .post, body: "a=2"), .text("2")), (request("/u", .post, body: "a=1"), .text("1 again")),
        ])
        let (one, two) = (try digest("a=1"), try digest("a=2"))
        let names = ["u#\(one)#2.txt", "u#\(one).201.txt", "u#\(two).txt", "u.txt"].map { "POST/" + $0 }
        #expect(Set(try recorded.files) == Set(names))
        let player = recorded.player
        #expect(try await player.text("/u", .post, body: "a=2") == "2")
        #expect(try await player.text("/u", .post, body: "a=1") == "1")
        #expect(try await player.text("/u", .post, body: "a=1") == "1 again")
        #expect(try await player.text("/u", .post, body: "a=3") == "none", "a file without a digest is for any body")
    }

    @Test func recordingAgainWithAnotherFirstBodyLeavesNoStaleAnswer() async throws {
        let recorded = RecordedFolder()
        for round in 1...2 {
            let bodies: [HTTPBody] = round == 1 ? ["x", .empty, "y"] : ["y", "x", .empty]
            try await recorded.record(
                bodies.map { (request("/u", .post, body: $0), .text("\($0.bytes?.count ?? 0) \(round)")) }
            )
        }
        #expect(try recorded.files.count == 3)
        for body: HTTPBody in ["x", "y", .empty] {
            #expect(try await recorded.player.text("/u", .post, body: body).hasSuffix(" 2"))
        }
    }

    @Test func theOnlyBodyOfAURLAnswersAnyBody() async throws {
        let recorded = RecordedFolder()
        try await recorded.record([(request("/log", .post, body: #"{"at":1}"#), .text("kept", status: 201))])
        #expect(try await recorded.player.text("/log", .post, body: #"{"at":2}"#) == "kept")
        #expect(try await recorded.player.text("/log", .post) == "kept")
        // Also where the URL only matches, and before patterns that match more.
        try recorded.write("fallback", to: "*/**.404.txt")
        try recorded.write("star", to: "POST/star/*#\(try digest("x")).txt")
        #expect(try await recorded.player.text("/log", .post, body: #"{"at":3}"#) == "kept")
        #expect(try await recorded.player.text("/star/1", .post, body: "y") == "star")
        #expect(try await recorded.player.text("/log") == "fallback", "another method")
    }

    @Test func oneOfSeveralBodiesAnswersNoOther() async throws {
        let recorded = RecordedFolder()
        try await recorded.record(["a", "b"].map { (request("/u", .post, body: $0), .text("x")) })
        let error = await #expect(throws: TransportError.self) {
            try await recorded.player.text("/u", .post, body: "c")
        }
        #expect(error?.code == .noStub)
        let message = try #require(error).message
        #expect(message.contains("answers another body: remove the # part to answer any."), "\(message)")
        try recorded.write("any", to: "POST/u.txt")
        #expect(try await recorded.player.text("/u", .post, body: "c") == "any")
        #expect(try await recorded.player.text("/u", .post, body: "a") == "x")
    }

    // MARK: Origins

    private let urls = ["https://api.example.com/x", "https://cdn.example.com/x", "http://api.example.com:8080/x"]

    @Test func theFirstRequestEverSetsTheHomeOrigin() async throws {
        let recorded = RecordedFolder()
        for urls in [urls, urls.reversed()] {
            try await recorded.record(urls.map { (request(at: $0), .text($0)) })
            #expect(
                Set(try recorded.files) == [
                    "GET/x.txt", "cdn.example.com/GET/x.txt", "http,api.example.com,8080/GET/x.txt",
                ]
            )
        }
        #expect(try recorded.text(".home") == "https://api.example.com\n")
        for url in urls { #expect(try await recorded.player.send(request(at: url)).body.bytes == Data(url.utf8)) }
        let other = try await recorded.player.send(request(at: "https://other.org/x"))
        #expect(other.body.bytes == Data(urls[0].utf8))
        #expect(recorded.errors.all.isEmpty)
    }

    @Test func recordersThatStartTogetherAgreeOnTheHomeOrigin() async throws {
        let recorded = RecordedFolder()
        recorded.stub.on({ _ in true }, .choosing { .text($0.url.absoluteString) })
        let urls = (0..<40).map { "https://h\($0).example.com/x" }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for url in urls {
                group.addTask { _ = try await recorded.chain().send(request(at: url)) }
            }
            try await group.waitForAll()
        }
        #expect(try recorded.files.count == urls.count)
        #expect(try recorded.files.count { !$0.contains("example.com") } == 1)
        for url in urls { #expect(try await recorded.player.send(request(at: url)).body.bytes == Data(url.utf8)) }
        #expect(!recorded.everything.contains { $0.contains(".recording") })
    }

    @Test(arguments: ["", "nonsense", "https://", "ftp://a.example", "a\nb", "https://a b", "\u{FF}\u{0}", "//h.org"])
    func brokenHomeIsReportedAndNothingIsKept(text: String) async throws {
        let recorded = RecordedFolder()
        try recorded.write(text, to: ".home")
        try await recorded.record("/a", .text("1"))
        let error = try #require(recorded.errors.all.first as? TransportError)
        #expect(error.message.contains(".home"), "\(error)")
        #expect(try recorded.files.isEmpty)
        #expect(FolderAnswers(recorded.url, now: { Date() }).problems().contains { $0.contains(".home") })
    }

    @Test func homeMayBeWrittenByHand() async throws {
        let recorded = RecordedFolder()
        try recorded.write("HTTPS://API.example.com:443/", to: ".home")
        try await recorded.record([(request(at: urls[1]), .text("cdn")), (request(at: urls[0]), .text("home"))])
        #expect(try recorded.files == ["GET/x.txt", "cdn.example.com/GET/x.txt"])
    }

    @Test func theProgramsReplacementCountsForOrigins() async throws {
        let hook: @Sendable (String) -> String = { $0.replacing("hushhush", with: "tenant") }
        let recorded = RecordedFolder()
        let urls = ["https://hushhush.example.com/a", "https://cdn.hushhush.org/hushhush"]
        try await recorded.record(urls.map { (request(at: $0), .text("x")) }, replacing: hook)
        #expect(try recorded.files.sorted() == ["GET/a.txt", "cdn.tenant.org/GET/tenant.txt"])
        #expect(try recorded.text(".home") == "https://tenant.example.com\n")
        for file in recorded.everything { #expect(!file.contains("hushhush")) }
        let player = FilesTransport.files(in: recorded.url, replacing: hook)
        for url in urls { #expect(try await player.send(request(at: url)).status == 200) }
        await #expect(throws: TransportError.self) { try await recorded.player.send(request(at: urls[1])) }
    }

    @Test func originThatIsASecretAsAWholeHasAStar() async throws {
        let hook: @Sendable (String) -> String = { $0.replacing("hushhush.org", with: "REDACTED") }
        let recorded = RecordedFolder()
        let urls = ["https://a.example/x", "https://hushhush.org:8443/x"]
        try await recorded.record(urls.map { (request(at: $0), .text($0)) }, replacing: hook)
        #expect(try recorded.files.sorted() == ["GET/x.txt", "https,*,8443/GET/x.txt"])
        let player = FilesTransport.files(in: recorded.url, replacing: hook)
        #expect(try await player.send(request(at: urls[1])).status == 200)
    }

    // MARK: Spelling

    @Test func handwrittenSpellingIsTheSameName() async throws {
        let recorded = RecordedFolder()
        try recorded.write("old", to: "GET/userList/getUser.json")
        try recorded.write("old", to: "GET/userList/getUser.json.head")
        try await recorded.record("/userList/getUser", .text("new", status: 201))
        #expect(try recorded.files == ["GET/user^list/get^user.201.txt"])
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

    @Test func messagesShowNamesOfFilesWithoutSecrets() async throws {
        let folder = try AnswerFolder(["GET/a?token=hushhush.json": "1", "GET/a?token=hushhush.json.head": "broken"])
        try folder.write("{", to: "token=hushhush.har")
        let answers = FolderAnswers(folder.url, now: { Date() })
        var messages: [String] = []
        for target in ["/a?token=hushhush", "/b"] {
            do {
                _ = try await answers.answer(to: request(target))
            } catch {
                messages.append((error as? TransportError)?.message ?? "")
            }
        }
        #expect(messages.count == 2 && messages[0].contains("GET/a?token=*.json.head, line 1"), "\(messages)")
        for message in messages { #expect(!message.contains("hushhush"), "\(message)") }
    }
}
