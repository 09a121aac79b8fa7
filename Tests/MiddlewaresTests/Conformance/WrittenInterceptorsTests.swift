import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// The interceptors of the article WritingInterceptors.md keep the rules of their roles.
@Suite(.againstHanging) struct WrittenInterceptorsTests {
    @Test(arguments: InterceptorConformance.rules(for: [.changesRequest]))
    func language(rule: InterceptorConformance.Rule) async throws {
        try await rule.check { _ in LanguageInterceptor(language: "de") }
    }

    @Test(arguments: InterceptorConformance.rules())
    func byteCount(rule: InterceptorConformance.Rule) async throws {
        try await rule.check { _ in ByteCountInterceptor { _ in } }
    }

    @Test(arguments: InterceptorConformance.rules(for: UnixLinesInterceptor()))
    func unixLines(rule: InterceptorConformance.Rule) async throws {
        let content = HTTPBody(String(repeating: "a line\r\n", count: 100))
        try await rule.check(answering: content) { _ in UnixLinesInterceptor() }
    }

    @Test(arguments: InterceptorConformance.rules(for: PaceInterceptor(every: .seconds(1))))
    func pace(rule: InterceptorConformance.Rule) async throws {
        try await rule.check { world in PaceInterceptor(every: .milliseconds(10), time: world.time) }
    }

    @Test(arguments: InterceptorConformance.rules(for: [.addsCredentials]))
    func doorKey(rule: InterceptorConformance.Rule) async throws {
        try await rule.check { DoorKeyInterceptor(user: "ada", key: $0.secret, origin: $0.origin) }
    }

    @Test(arguments: [1, 2, 3, 7])
    func unixLinesChangeNothingButLineEnds(size: Int) async throws {
        let bytes = Array("a\r\nb\rc\r\r\nd\r".utf8)
        let chunks = stride(from: 0, to: bytes.count, by: size).map { Data(bytes[$0..<min($0 + size, bytes.count)]) }
        let body = HTTPBody.oneShot(
            AsyncStream { continuation in
                for chunk in chunks { continuation.yield(chunk) }
                continuation.finish()
            }
        )
        let response = try await UnixLinesInterceptor().intercept(
            HTTPRequest(url: apiURL),
            next: Next { _ in
                HTTPResponse(status: 200, body: body)
            }
        )
        #expect(try await response.body.collect(upTo: 100) == Data("a\nb\rc\r\nd\r".utf8))
    }

    @Test func articleShowsThisCode() throws {
        let code = try String(
            contentsOf: URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "WrittenInterceptors.swift"),
            encoding: .utf8
        )
        let folder = Repository.root.appending(path: "Sources/Middlewares/Middlewares.docc")
        let article = try String(contentsOf: folder.appending(path: "WritingInterceptors.md"), encoding: .utf8)
        let examples = code.components(separatedBy: "// example: ").dropFirst()
        #expect(examples.count == 5)
        for example in examples {
            let lines = example.components(separatedBy: "// end\n")[0].split(
                separator: "\n",
                omittingEmptySubsequences: false
            )
            let text = lines.dropFirst().joined(separator: "\n").trimmingCharacters(in: .newlines)
            // An article may show parts of an example one after the other.
            for part in text.components(separatedBy: "\n}\n\n") {
                let isShown = article.contains(part)
                #expect(isShown, "\(lines[0]): \(part)")
            }
        }
    }
}
