import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

/// A played recording has the types that a program expects.
@Suite(.againstHanging) struct RedactedTypesTests {
    private let redaction = ExchangeRedaction.standard

    @Test(arguments: [
        (#"{"prompt_tokens": 12, "n": 3}"#, #"{"prompt_tokens": 0, "n": 3}"#),
        (#"{"token_expires_in":3600.5e1}"#, #"{"token_expires_in":0}"#), (#"{"pin" : -1 }"#, #"{"pin" : 0 }"#),
        (#"{"tokens":[1,"hush",true,null,{"a":"hush"}]}"#, #"{"tokens":[0,"REDACTED",true,null,{"a":"REDACTED"}]}"#),
        (
            #"{"session":{"id":7,"user":{"name":"hush"}},"b":1}"#,
            #"{"session":{"id":0,"user":{"name":"REDACTED"}},"b":1}"#
        ),
        (#"{"tokens":{},"secrets":[]}"#, #"{"tokens":{},"secrets":[]}"#),
        (#"{"has_password":true,"token":null}"#, #"{"has_password":true,"token":null}"#),
        (#"{"name":"password","value":12}"#, #"{"name":"password","value":0}"#),
        (#"{"name":"password","value":["hush",1]}"#, #"{"name":"password","value":["REDACTED",0]}"#),
        (#"{"tokens":{"a1B2c3D4":{"by":"hush"}}}"#, #"{"tokens":{"REDACTED":{"by":"REDACTED"}}}"#),
        (#"{"inner":"{\"tokens\":[5]}"}"#, #"{"inner":"{\"tokens\":[0]}"}"#),
        (
            "data: {\"usage\":{\"total_tokens\":9}}\n\ndata: [DONE]\n\n",
            "data: {\"usage\":{\"total_tokens\":0}}\n\ndata: [DONE]\n\n"
        ),
        ("{\"pin\":1}\n{\"pin\":2}\n", "{\"pin\":0}\n{\"pin\":0}\n"),
    ])
    func numbersAndShapesOfJSONStay(_ text: String, _ expected: String) {
        #expect(redaction.text(text) == expected)
        #expect(redaction.text(expected) == expected)
    }

    @Test(arguments: [
        #"{"tokens":[1,"hush","#, #"{"tokens":{"a":"hush"]}"#, #"{"pin":12"#, #"{"tokens":{"a" "hush"},"b":1}"#,
        #"{"tokens":[1 "hush"],"b":1}"#, #"{"tokens":["hush",]}"#, #"{"tokens":{hush:1}}"#, #"{"pin":12hush}"#,
        #"{"tokens":"hush" "hush"}"#, #"{"name":"password","value":{"a":"hush"#,
    ])
    func brokenJSONIsRedactedAsText(_ text: String) {
        let once = redaction.text(text)
        #expect(!once.contains("hush") && !once.contains("12"), "\(once)")
        #expect(redaction.text(once) == once)
    }

    private struct Usage: Codable, Equatable {
        struct Details: Codable, Equatable { var cachedTokens: Int }
        var promptTokens: Int
        var promptTokensDetails: Details
        var accessToken: String
        var tokenScores: [Double]
        var hasSecret: Bool
    }

    @Test func aCodableClientReadsWhatPlays() async throws {
        let usage = Usage(
            promptTokens: 12,
            promptTokensDetails: .init(cachedTokens: 3),
            accessToken: "hush",
            tokenScores: [0.5, 1],
            hasSecret: true
        )
        let tape = try TapeFile()
        try await tape.record(["/a"], .stub(.json(encoding: usage)))
        let text = try await tape.recording(.none).get("/a")
        let expected = Usage(
            promptTokens: 0,
            promptTokensDetails: .init(cachedTokens: 0),
            accessToken: "REDACTED",
            tokenScores: [0, 0],
            hasSecret: true
        )
        #expect(try JSONDecoder().decode(Usage.self, from: Data(text.utf8)) == expected)
    }

    @Test func requestsThatDifferInASecretNumberAreEqual() {
        func key(_ body: String) -> RequestKey {
            let request = RecordedExchange.Request(
                method: .post,
                url: "https://a.example/",
                headerFields: [.contentType: "application/json"],
                body: Data(body.utf8)
            )
            return RequestMatching.standard.key(of: request, redaction)
        }
        #expect(key(#"{"max_tokens":100,"q":1}"#) == key(#"{"q":1,"max_tokens":2e3}"#))
        #expect(
            key(#"{"max_tokens":100,"q":1}"#) != key(#"{"max_tokens":"100","q":1}"#),
            "Another type is another request."
        )
    }

    @Test func playedURLsAndMarkupStayValid() async throws {
        let server = StubTransport()
        server.enqueue(
            .data(
                Data("<login><password>hush</password><token value=\"hush\"/></login>".utf8),
                contentType: "application/xml",
                headers: [.link: "<https://a.example/2?token=hush>; rel=\"next\"", .location: "/b?token=hush&c=1"]
            )
        )
        let tape = try TapeFile()
        let redaction = Redaction(sensitiveParts: ["token", "password"], sensitiveNames: [], placeholder: "#x#")
        func recording(_ mode: Recording.Mode) -> Recording {
            Recording(at: tape.url, mode: mode, redaction: redaction, environment: [:])
        }
        let request = HTTPRequest(url: try tapeURL("/a"))
        let first = recording(.all)
        _ = try await first.send(request, over: server)
        try first.finish()
        let played = try await recording(.none).send(request, over: NoServer())
        #expect(played.headerFields[.link] == "<https://a.example/2?token=REDACTED>; rel=\"next\"")
        #expect(played.headerFields[.location] == "/b?token=REDACTED&c=1")
        let markup = "<login><password>REDACTED</password><token REDACTED=\"\"/></login>"
        #expect(played.body.bytes == Data(markup.utf8))
    }

    /// Texts made of the parts of JSON, forms, markup, URLs and fields.
    private static func text(_ random: inout SeededGenerator) -> String {
        let pieces = [
            "token=hush", "&", ";", "password: hush\n", "\"token\":\"hush\"",
            "\"tokens\":[1,\"hush\",{\"a\":\"hush\"}]",
            "\"pin\":12", "{", "}", "[", "]", ",", ":", "\"", "'", "\\\"", "\n", " ", "<password>hush</password>",
            "<token value=\"hush\"/>", "<input name=\"password\" value=\"hush\">", "<b>", "</b>", "<a href=\"",
            "https://ada:hush@a.example/", "?token=hush", "#", "Bearer hush1234.hush5678", "Authorization: hush\n",
            "<key>password</key><string>hush</string>", "{\"name\":\"password\",\"value\":\"hush\"}", "REDACTED", "0",
            "a", "%3D", "token%3Dhush", "=", "/", ">", "<", "(", ")", "true", "-----BEGIN PRIVATE KEY-----\nhush\n",
            "-----END PRIVATE KEY-----\n", "--", "code", "é",
        ]
        return (0..<Int.random(in: 1...12, using: &random)).map { _ in random.oneOf(pieces) }.joined()
    }

    @Test(arguments: 0..<20) func redactingRandomTextTwiceChangesNothing(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let text = Self.text(&random)
            let once = redaction.text(text)
            #expect(redaction.text(once) == once, "\(text)\n\(once)")
            #expect(once.utf8.count <= text.utf8.count * 12, "\(text)")
        }
    }
}
