import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsCore
@testable import InterceptorsInsight

/// Secrets where a journal's text is cut, and in texts that should hold none.
@Suite(.againstHanging) struct JournalSecretsTests {
    @Test(arguments: [
        #"{"password":"hushhush"}"#, #"{"tokens":{"a":["hushhush"]}}"#,
        #"{"clone_url":"https://hushhush@git.example/x"}"#,
    ])
    func aSecretAtTheCutIsHidden(_ secret: String) async throws {
        for offset in stride(from: 0, through: secret.utf8.count, by: 3) {
            let padding = String(repeating: "x", count: (4 << 10) - offset - 8)
            let fixture = JournalFixture([]) { _ in
                HTTPResponse(status: 200, body: HTTPBody("{\"p\":\"\(padding)\",\"a\":[\(secret)],\"z\":1}"))
            }
            try await fixture.send()
            let text = try #require(fixture.journal.calls.first?.root?.response?.body.text)
            #expect(!text.contains("hus"), "\(offset): \(text.suffix(200))")
            #expect(text.utf8.count <= 4 << 10)
        }
    }

    /// An element may declare any field as its credential.
    @Test func aFieldThatAnElementDeclaresIsHidden() async throws {
        let door: AnyInterceptor = .intercept("door", placement: [.addsCredentials(in: "X-Door")]) { request, next in
            request.headers["X-Door"] = "hush"
            return try await next(request)
        }
        let fixture = JournalFixture([.group([door]), Pass()])
        try await fixture.send()
        #expect(fixture.explained.contains("X-Door: <redacted>") && !fixture.explained.contains("hush"))
    }

    @Test func decisionsAndNamesAreRedactedAndCut() async throws {
        let long = String(repeating: "n", count: 100_000)
        let fixture = JournalFixture([
            .intercept { request, next in
                request.note(CallNote("refresh token=hush", "text"))
                request.note(CallNote(long, "text"))
                return try await next(request)
            }
        ]) { _ in
            HTTPResponse(status: 200, headers: HTTPFields([HTTPField(unchecked: .init(stringLiteral: long), "1")]))
        }
        try await fixture.send()
        let call = try #require(fixture.journal.calls.first)
        #expect(call.root?.notes.first?.decision == "refresh token=<redacted>")
        #expect(call.root?.notes.last?.decision.utf8.count == 256 + 3)
        #expect(call.root?.response?.fields.first?.name.rawName.utf8.count == 256 + 3)
        #expect(!String(decoding: fixture.journal.har(), as: UTF8.self).contains("hush"))
        #expect(fixture.journal.byteCount < 10_000)
    }

    @Test func anErrorsCodeIsRedactedAndPrintedOnOneLine() async throws {
        let code = "x\n#2 GET https://bank.example/ token=hush"
        let fixture = JournalFixture([]) { _ in
            throw TransportError(HTTPErrorCode(rawValue: code), "It failed.")
        }
        await #expect(throws: TransportError.self) { try await fixture.send() }
        #expect(!fixture.explained.contains("hush"))
        #expect(!fixture.explained.contains("\n#2"))
    }

    @Test func aDumpShowsNoRequest() async throws {
        let shown = Shared("")
        let fixture = JournalFixture([
            .intercept { request, next in
                let step = request.context.observedStep as Any
                dump(step, to: &shown.value)
                shown.value += "\(step) \(String(reflecting: step))"
                return try await next(request)
            }
        ])
        try await fixture.send("/?access_token=hush") {
            $0.method = .post
            $0.body = HTTPBody(String(repeating: "content ", count: 10))
        }
        #expect(shown.value.contains("callID: 1"))
        #expect(!shown.value.contains("hush") && !shown.value.contains("content"), "\(shown.value)")
    }
}
