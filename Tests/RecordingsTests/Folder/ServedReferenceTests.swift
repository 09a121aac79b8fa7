import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct ServedReferenceTests {
    @Test(arguments: [
        ("https://api.example.com/next", "https://api.example.com", "/next"),
        ("HTTP://user@api.example.com:80/a?b=c#d", "HTTP://user@api.example.com:80", "/a?b=c#d"),
        ("//api.example.com/next", "//api.example.com", "/next"),
        ("https://api.example.com", "https://api.example.com", "/"),
        ("https://api.example.com?q=/", "https://api.example.com", "/?q=/"),
        ("https://api.example.com#top", "https://api.example.com", "/#top"),
        ("https://api.example.com//evil.org/x", "https://api.example.com", "/.//evil.org/x"),
        ("https://api.example.com/\\evil.org/x", "https://api.example.com", "/./\\evil.org/x"),
        ("https://api.example.com\\evil.org/x", "https://api.example.com", "/./\\evil.org/x"),
        ("https://api.example.com//\u{301}x", "https://api.example.com", "/.//\u{301}x"),
    ])
    func referenceWithAnOriginIsSplit(text: String, origin: String, target: String) throws {
        let reference = try #require(ServedReference(text))
        #expect(reference.origin == origin)
        #expect(Array(reference.target.utf8) == Array(target.utf8))
    }

    @Test(arguments: ["/next", "next", "", "?q=https://a.example/", "ftp://a.example/x", "mailto:a@b.c", "a:b//c"])
    func otherReferenceIsLeftAlone(text: String) { #expect(ServedReference(text) == nil) }

    private func served(_ location: String, _ files: [String: String]) async throws -> String? {
        let folder = try AnswerFolder(files.merging(["GET/a.302.head": "Location: \(location)"]) { one, _ in one })
        let answers = FolderAnswers(folder.url, now: { Date() })
        let sent = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1/a")))
        let played = try await answers.answer(to: sent)
        #expect(played.answer.headerFields[.location] == location, "without a server it stays as it is")
        return try await answers.answer(to: sent, target: "/a", isAnyOrigin: true).answer.headerFields[.location]
    }

    @Test func originOfTheHomeAndOfAnswersIsRemoved() async throws {
        let home = [".home": "https://api.example.com\n"]
        #expect(try await served("https://api.example.com/none?x=1", home) == "/none?x=1")
        #expect(try await served("//api.example.com:443/none", home) == "/none")
        #expect(try await served("http://api.example.com/none", home) == "http://api.example.com/none")
        #expect(try await served("https://cdn.example.com/b", home) == "https://cdn.example.com/b")
        #expect(try await served("https://cdn.example.com/b", ["cdn.example.com/GET/b.txt": ""]) == "/b")
        #expect(try await served("https://cdn.example.com/b", ["c.example.com/GET/b.txt": ""]).hasSuffix("com/b"))
        #expect(try await served("https://cdn.example.com/b", ["GET/b.txt": ""]) == "/b", "a file for any origin")
        #expect(try await served("https://cdn.example.com/b?token=x", ["GET/b?token=*.txt": ""]) == "/b?token=x")
    }

    @Test func originOfAnAnswerInAnArchiveIsRemoved() async throws {
        let exchange = RecordedExchange(
            startedAt: Date(timeIntervalSince1970: 0),
            request: .init(method: .get, url: "https://cdn.example.com/b"),
            response: .init(status: 200)
        )
        let archive = String(decoding: HARArchive.encode([exchange]), as: UTF8.self)
        #expect(try await served("https://cdn.example.com/b", ["s.har": archive]) == "/b")
        #expect(try await served("https://cdn.example.com/c", ["s.har": archive]) == "https://cdn.example.com/c")
    }

    @Test func brokenHomeIsAnErrorWhereItMatters() async throws {
        await #expect(throws: TransportError.self) { try await served("https://a.example/", [".home": "?"]) }
        #expect(try await served("/b", [".home": "?"]) == "/b")
    }
}

extension String? {
    fileprivate func hasSuffix(_ suffix: String) -> Bool { self?.hasSuffix(suffix) ?? false }
}
