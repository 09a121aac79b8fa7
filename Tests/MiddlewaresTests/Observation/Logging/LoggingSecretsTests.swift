import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@Suite(.againstHanging) struct LoggingSecretsTests {
    private let log = LogRecorder()

    private func loud() -> AnyInterceptor { .logging(.body, to: log.sink, curl: true) }

    private func request() throws -> HTTPRequest {
        HTTPRequest(
            method: .post,
            url: try url("https://ada:hush@h.example/login?page=2&access_token=hush&code=hush#hush"),
            headers: [
                .authorization: "Bearer hush", .cookie: "sid=hush", "X-Api-Key": "hush",
                .contentType: "application/json",
                "X-Forwarded-Uri": "/a?token=hush", .referer: "https://h.example/?token=hush",
            ],
            body: #"{"user":"ada","password":"hush","nested":[{"refresh_token":"hush"}],"next":"/?token=hush"}"#
        )
    }

    @Test(arguments: LogLevel.allCases)
    func neverASecretAtAnyLevel(level: LogLevel) async throws {
        for (type, body) in [
            ("application/json", #"{"access_token":"hush","expires_in":3600,"user":{"pin":"hush"}}"#),
            ("application/x-www-form-urlencoded", "token=hush&scope=all"),
            ("application/xml", "<r><token>hush</token><scope>all</scope></r>"),
            ("text/plain", "your token: hush"),
            ("text/event-stream", "data: {\"token\":\"hush\"}\n\n"),
            (
                "multipart/form-data; boundary=x",
                "--x\r\nContent-Disposition: form-data; name=\"pin\"\r\n\r\nhush\r\n--x--"
            ),
        ] {
            let fields: HTTPFields = [.contentType: type, .setCookie: "sid=hush", .location: "/next?token=hush"]
            let chain = InterceptorChain(
                [.logging(level, to: log.sink, curl: true)],
                transport: Recorder { request in
                    HTTPResponse(status: 200, headers: fields, body: HTTPBody(body), url: request.url)
                }
            )
            _ = try await chain.send(try request())
        }
        #expect(!log.text.contains("hush"), "\(log.text)")
        #expect(log.entries.count == (level == .off ? 0 : 12))
        if level == .body { #expect(log.text.contains(#""expires_in": 3600"#)) }
    }

    @Test func whatTheRequestIsSentWithIsNotRedacted() async throws {
        let recorder = Recorder()
        _ = try await InterceptorChain([loud()], transport: recorder).send(try request())
        let sent = try #require(recorder.requests.first)
        #expect(sent.headers[.authorization] == "Bearer hush")
        #expect(sent.body.data == (try request()).body.data)
        #expect(sent.url == (try request()).url)
    }

    private enum Unlabelled: Error { case rejected(String), lost }
    private enum Labelled: Error { case rejected(token: String) }
    private struct WithReason: Error {
        enum Reason { case badPassword(String) }
        let reason: Reason
    }
    private struct WithFields: Error { let password = "hush", id = 7 }
    private struct WithWords: Error, CustomStringConvertible {
        let description: String
    }

    @Test(
        arguments: [
            (Unlabelled.rejected("hush"), "Unlabelled.rejected(…)"),
            (Unlabelled.lost, "Unlabelled.lost"),
            (Labelled.rejected(token: "hush"), "Labelled.rejected(…)"),
            (WithReason(reason: .badPassword("hush")), "WithReason"),
            (
                TransportError(.transportFailed, "No.", underlying: WithReason(reason: .badPassword("hush"))),
                "Cause: WithReason"
            ),
            (WithFields(), "WithFields"),
            (
                WithWords(description: "GET https://u:hush@h/?token=hush failed"),
                "GET https://<redacted>@h/?token=<redacted> failed"
            ),
            (WithWords(description: #"{"password":"hush"}"#), #"{"password":"<redacted>"}"#),
            (WithWords(description: "Authorization: Bearer hush"), "Authorization: <redacted>"),
            (URLError(.timedOut, userInfo: ["NSErrorFailingURLStringKey": "https://h/?token=hush"]), "-1001"),
        ] as [(any Error, String)]
    )
    func neverASecretEvenWhenARequestFails(error: any Error, expected: String) async throws {
        let chain = InterceptorChain([loud()], transport: Recorder { _ in throw error })
        _ = try? await chain.send(try request())
        #expect(!log.text.contains("hush"), "\(log.text)")
        #expect(log.entries.last?.event == .failure)
        #expect(log.entries.last?.text.contains(expected) == true, "\(log.text)")
    }

    @Test func aLongErrorIsCut() async throws {
        let long = WithWords(description: String(repeating: "ü", count: 1 << 20))
        let chain = InterceptorChain([loud()], transport: Recorder { _ in throw long })
        _ = try? await chain.send(try request())
        #expect(log.entries[1].text.utf8.count < 5_000)
        #expect(log.entries[1].text.hasSuffix("…"))
    }

    @Test func moreNamesCanBeSecret() async throws {
        let redaction = Redaction.standard.adding(names: ["email", "X-Tenant"])
        let chain = InterceptorChain(
            [.logging(.body, to: log.sink, redaction: redaction)],
            transport: Recorder { _ in HTTPResponse(status: 200, body: #"{"email":"hush","id":1}"#) }
        )
        let request = HTTPRequest(url: try url("https://h.example/?email=hush"), headers: ["x-tenant": "hush"])
        _ = try await chain.send(request)
        #expect(!log.text.contains("hush"))
    }

    // MARK: Forgery

    private static let forged =
        "x\r\n<-- #1 200 OK forged\n\u{1B}[2J\u{1B}]0;title\u{7}\u{9B}31m\u{202E}\u{2028}--> #9\u{85}y"

    @Test func textFromTheServerCanNeitherForgeALineNorControlATerminal() async throws {
        let status = try #require(HTTPResponse.Status(code: 200, reasonPhrase: Self.forged))
        let chain = InterceptorChain(
            [loud()],
            transport: Recorder { _ in
                HTTPResponse(
                    status: status,
                    headers: ["X-\u{1B}a": Self.forged, .location: Self.forged],
                    body: HTTPBody(Self.forged)
                )
            }
        )
        let request = HTTPRequest(
            method: "GET\r\nforged",
            url: try url("https://h.example"),
            headers: ["X": Self.forged],
            body: HTTPBody(Self.forged)
        )
        _ = try await chain.send(request)
        let failing = InterceptorChain([loud()], transport: Recorder { _ in throw WithWords(description: Self.forged) })
        _ = try? await failing.send(request)

        for entry in log.entries {
            let lines = entry.text.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(lines.dropFirst().allSatisfy { $0.isEmpty || $0.hasPrefix("    ") })
            let controls = entry.text.unicodeScalars.filter { scalar in
                scalar != "\n" && (scalar.properties.generalCategory == .control || scalar.properties.isBidiControl)
                    || scalar == "\u{2028}"
            }
            #expect(controls.isEmpty)
        }
        #expect(log.text.contains(#"\u{1B}[2J\u{1B}]0;title\u{7}\u{9B}31m\u{202E}\u{2028}"#))
    }
}
