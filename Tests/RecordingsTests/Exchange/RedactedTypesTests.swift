import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

/// A played recording has the types that a program expects.
@Suite(.againstHanging) struct RedactedTypesTests {
    private let redaction = ExchangeRedaction.standard

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
            promptTokens: 12,
            promptTokensDetails: .init(cachedTokens: 3),
            accessToken: "REDACTED",
            tokenScores: [0.5, 1],
            hasSecret: true
        )
        #expect(try JSONDecoder().decode(Usage.self, from: Data(text.utf8)) == expected)
    }

    @Test func requestsThatDifferInASecretNumberAreEqual() {
        func key(_ body: String) -> RequestKey {
            let request = RecordedExchange.Request(
                method: .post,
                url: "https://a.example/",
                headers: [.contentType: "application/json"],
                body: Data(body.utf8)
            )
            return RequestMatching.standard.key(of: request, redaction)
        }
        #expect(key(#"{"otp":100,"q":1}"#) == key(#"{"q":1,"otp":2e3}"#))
        #expect(
            key(#"{"otp":100,"q":1}"#) != key(#"{"otp":"100","q":1}"#),
            "Another type is another request."
        )
    }

    @Test func playedURLsStayValid() async throws {
        let server = StubTransport()
        let fields: HTTPFields = [
            .link: "<https://a.example/2?token=hush>; rel=\"next\"", .location: "/b?token=hush&c=1",
        ]
        server.enqueue(.data(Data("<token>hush</token>".utf8), contentType: "application/xml", headers: fields))
        let tape = try TapeFile()
        let redaction = Redaction(sensitiveParts: ["token", "password"], sensitiveNames: [], placeholder: "#x#")
        func recording(_ mode: Recording.Mode) -> Recording {
            Recording(at: tape.url, mode: mode, redaction: redaction, environment: [:])
        }
        let request = HTTPRequest(url: try tapeURL("/a"))
        let first = recording(.all)
        _ = try await first.send(request, over: server)
        #expect(try first.finish() == ["token": 2])
        let played = try await recording(.none).send(request, over: NoServer())
        #expect(played.headers[.link] == "<https://a.example/2?token=REDACTED>; rel=\"next\"")
        #expect(played.headers[.location] == "/b?token=REDACTED&c=1")
        #expect(played.body.data == Data("<token>hush</token>".utf8))
    }

    /// An element may declare any field as its credential.
    @Test func aFieldThatAnElementDeclaresIsReplaced() async throws {
        let door: AnyInterceptor = .intercept("door", placement: [.addsCredentials(in: "X-Door")]) { request, next in
            request.headers["X-Door"] = "hush"
            return try await next(request)
        }
        let tape = try TapeFile()
        // A redaction without a name: only what is declared, and what always carries credentials, is replaced.
        let redaction = Redaction(sensitiveParts: [], sensitiveNames: [])
        func send(_ mode: Recording.Mode, over server: any Transport) async throws -> Recording {
            let matching: RequestMatching = [.method, .path, .fields(["X-Door"])]
            let recording = Recording(
                at: tape.url,
                mode: mode,
                matching: matching,
                redaction: redaction,
                environment: [:]
            )
            let chain = InterceptorChain([door], transport: RecordedTransport(recording: recording, base: server))
            let request = HTTPRequest(url: try tapeURL("/a"), headers: [.authorization: "hush"])
            #expect(try await chain.send(request).status == 204)
            return recording
        }
        let recorded = try await send(.all, over: StubTransport { _ in HTTPResponse(status: 204) })
        #expect(try recorded.finish() == ["X-Door": 1, "Authorization": 1])
        #expect(try !String(contentsOf: tape.url, encoding: .utf8).contains("hush"))
        // A request with the credential finds its answer.
        _ = try await send(.none, over: NoServer())
    }

    /// The package's own envelope reads its tape.
    @Test func anEnvelopesCodePlays() async throws {
        let envelope = #"{"code":"OK","result":{"key":"PROJ-12","currency":{"code":"USD"},"nextPageToken":"CAUQAA"}}"#
        let tape = try TapeFile()
        try await tape.record(["/a"], .stub(.data(Data(envelope.utf8), contentType: "application/json")))
        #expect(try await tape.recording(.none).get("/a") == envelope)
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
