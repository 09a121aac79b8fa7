import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct ServedReferenceTests {
    /// The reference as a client of the server gets it, and the origins that were asked about.
    private func local(_ text: String, isServed: Bool = true) -> (text: String?, origins: [String]) {
        var origins: [String] = []
        let fields: HTTPFields = ["Content-Location": text]
        let local = fields.local { origin in
            origins.append(origin)
            return isServed
        }
        return (local["Content-Location"], origins)
    }

    @Test(arguments: [
        ("https://api.example.com/next", "https://api.example.com", "/next"),
        ("HTTP://user@api.example.com:80/a?b=c#d", "http://api.example.com:80", "/a?b=c#d"),
        ("//api.example.com/next", "https://api.example.com", "/next"),
        ("https://api.example.com", "https://api.example.com", "/"),
        ("https://api.example.com?q=/", "https://api.example.com", "/?q=/"),
        ("https://api.example.com#top", "https://api.example.com", "/#top"),
        ("https://api.example.com//evil.org/x", "https://api.example.com", "/.//evil.org/x"),
        ("https://api.example.com/\\evil.org/x", "https://api.example.com", "/%5Cevil.org/x"),
        ("https://api.example.com//\u{301}x", "https://api.example.com", "/.//%CC%81x"),
    ])
    func originOfAReferenceIsRemoved(text: String, origin: String, target: String) {
        #expect(local(text) == (target, [origin]))
        #expect(local(text, isServed: false) == (text, [origin]))
    }

    @Test(arguments: [
        "/next", "next", "", "?q=https://a.example/", "ftp://a.example/x", "mailto:a@b.c", "a:b//c",
        "https://api.example.com\\evil.org/x",
    ])
    func otherReferenceIsLeftAlone(text: String) { #expect(local(text) == (text, [])) }

    private func served(_ location: String, _ files: [String: String]) async throws -> String? {
        let head = ["GET/a.head": "HTTP/1.1 302 Found\nLocation: \(location)"]
        let folder = try AnswerFolder(files.merging(head) { one, _ in one })
        let answers = FolderAnswers(folder.url, now: { Date() })
        let sent = HTTPRequest(url: try #require(URL(string: "http://127.0.0.1/a")))
        let played = try await answers.answer(to: sent)
        #expect(played.answer.headers[.location] == location, "without a server it stays as it is")
        return try await answers.answer(to: sent, target: "/a").answer.headers[.location]
    }

    @Test func originOfAHostWithAFolderIsRemoved() async throws {
        let files = ["api.example.com/GET/b.txt": "", "localhost,8080/GET/c.txt": ""]
        #expect(try await served("https://api.example.com/none?x=1", files) == "/none?x=1")
        #expect(try await served("//api.example.com:443/none", files) == "/none")
        #expect(try await served("http://localhost:8080/none", files) == "/none")
        for other in ["http://api.example.com:81/none", "https://cdn.example.com/b", "http://localhost/c"] {
            #expect(try await served(other, files) == other)
        }
    }
}
