import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct CurlCommandTests {
    private func line(
        _ method: HTTPRequest.Method = .get,
        _ text: String = "https://h.example/a",
        fields: HTTPFields = [:],
        body: HTTPBody = .empty
    ) throws -> String {
        let body = (body, LoggedBody(limit: 100, isPretty: true, redaction: .standard))
        let request = HTTPRequest(method: method, url: try url(text), headers: fields, body: body.0)
        return CurlCommand(body: body.1, redaction: .standard).line(for: request)
    }

    @Test func sendsTheLikeOfTheRequest() throws {
        #expect(try line() == "curl 'https://h.example/a'")
        #expect(try line(.head) == "curl --head 'https://h.example/a'")
        #expect(try line(.delete) == "curl -X DELETE 'https://h.example/a'")
        #expect(
            try line(.post, fields: [.contentType: "application/json", .contentLength: "9"], body: "[\"it's!\"]")
                == #"curl -X POST -H 'Content-Type: application/json' --data-raw '["it'\''s!"]' 'https://h.example/a'"#
        )
        #expect(try line(.get, body: "[]") == "curl -X GET -H 'Content-Type:' --data-raw '[]' 'https://h.example/a'")
        // Nobody can tell a secret in prose.
        #expect(
            try line(.post, fields: [.contentType: "text/plain"], body: "x")
                == "curl -X POST -H 'Content-Type: text/plain' --data-binary @- 'https://h.example/a'"
        )
        #expect(try line(fields: ["X-Empty": ""]) == "curl -H 'X-Empty;' 'https://h.example/a'")
    }

    @Test func requestHasItsCommandWithoutSecrets() throws {
        let request = HTTPRequest(
            method: .post,
            url: try url("https://h.example/a?token=hush"),
            headers: [.authorization: "Bearer s3cr3t", .contentType: "application/json"],
            body: #"{"password":"s3cr3t","title":"x"}"#
        )
        let text = request.curlCommand()
        #expect(text.hasPrefix("curl -X POST -H 'Authorization: <redacted>'"))
        #expect(text.contains(#""title":"x""#))
        #expect(!text.contains("s3cr3t") && !text.contains("hush"))
        let all = request.curlCommand(redaction: nil)
        #expect(all.contains("Bearer s3cr3t") && all.contains("token=hush") && all.contains(#""password":"s3cr3t""#))
        #expect(request.curlCommand(bodyLimit: 3).contains("--data-binary @-"))
    }

    @Test func patternsAndStepsInAURLAreNotCurlsToInterpret() throws {
        #expect(try line(.get, "http://[::1]:80/").contains(" --globoff "))
        #expect(try line(.get, "https://h.example/a/../b").contains(" --path-as-is "))
        #expect(try line(fields: [.acceptEncoding: "gzip"]).contains(" --compressed "))
    }

    @Test func secretsAreLeftOut() throws {
        let text = try line(
            .post,
            "https://h.example/?token=hush",
            fields: [.authorization: "Bearer hush", .contentType: "application/json"],
            body: #"{"password":"hush"}"#
        )
        #expect(!text.contains("hush"))
        #expect(text.contains(#"--data-raw '{"password":"<redacted>"}'"#))
    }

    @Test func aBodyThatIsNotShownIsReadFromItsFileOrFromStandardInput() throws {
        #expect(try line(.post, body: HTTPBody(Data(repeating: 0x61, count: 101))).contains("--data-binary @- "))
        #expect(try line(.post, body: HTTPBody(Data([0, 1]))).contains("--data-binary @- "))
        #expect(try line(.post, body: .oneShot(Chunks(["a"]))).contains("--data-binary @- "))
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("x".utf8), to: "it's")
        let quoted = CurlCommand.quoted("@" + file.path)
        #expect(try line(.post, body: HTTPBody(file: file)).contains("--data-binary \(quoted) "))
    }

    @Test(
        arguments: [
            ["X": "a\r\nb"], ["@/etc/passwd": "x"], [HTTPField.Name.transferEncoding: "chunked"],
        ] as [HTTPFields]
    )
    func aRequestThatCannotBeSentHasNoCommand(fields: HTTPFields) throws {
        #expect(try line(fields: fields).hasPrefix("<no curl command"))
    }

    // A shell parses the words, so the test doesn't rely on our reading of its rules.
    #if os(Linux) || os(macOS)
    @Test(arguments: [
        "plain", "", "two words", "it's", "''", "$HOME", "`id`", "$(id)", "a;id", "a&b|c>d<e", "\"q\"", "back\\slash",
        "!!", "it's!\n!",
        "*?[a]{b,c}", "~", "#no comment", "line\nbreak", "tab\tcr\r", "\u{1B}[2J", "é😀\u{85}7", "\u{202E}8", "-n",
        "\\'\n", "\u{7F}\u{1}1", "'\u{301};id", "'\u{200D}x", "$'\u{FE0F}`id`'\u{301}", "'\u{301}\n!\u{301}\\\u{301}",
    ])
    func theShellReadsBackEveryWordAsItWas(word: String) async throws {
        let quoted = CurlCommand.quoted(word)
        #expect(!quoted.unicodeScalars.contains { $0.properties.generalCategory == .control })
        let script = "curl() { printf '%s\\0' \"$@\"; }; curl 'first' \(quoted) last"
        let shell = try await Command.run("/bin/bash", ["-c", script])
        #expect(shell.text == "first\0\(word)\0last\0")
    }
    #endif
}
