import Foundation
import InterceptorsArchives
import Testing

@testable import InterceptorsInsight

@Suite(.againstHanging) struct JournalPageTests {
    private func page(_ calls: [JournalCall]) -> String {
        String(decoding: JournalPage(calls: calls, isRedacted: true).data, as: UTF8.self)
    }

    @Test func hostileTextsNeverBecomeElements() {
        let page = page(JournalSamples.hostile)
        let elements = Set(
            page.split(separator: "<").dropFirst().map { $0.prefix { $0.isLetter || "/!1".contains($0) } }
        )
        let own = ["html", "head", "title", "style", "body", "h1", "details", "summary", "pre"].flatMap {
            [$0, "/\($0)"]
        }
        #expect(elements.subtracting(own.map { $0[...] }) == ["meta"])
        #expect(page.contains("&lt;/script&gt;&lt;script&gt;hostile = 1"))
        #expect(!page.contains { "\u{202E}\u{2066}\u{0}\u{7}\u{2028}\u{2029}".contains($0) })
    }

    @Test func aPageShowsTheStepsAndTheMessagesOfEachCall() {
        let page = page(JournalSamples.session(20))
        #expect(page.components(separatedBy: "<details class=\"call").count == 21)
        #expect(page.contains("<summary>Attempt 2</summary>") && page.contains("↑ 401 Unauthorized"))
        #expect(page.contains("12345678901234567890") && page.contains("\nAuthorization: Bearer &lt;redacted&gt;"))
    }

    @Test func aBodyIsShownOnceForEachCall() {
        let start = String(repeating: "x", count: 200)
        let calls = (1...2).map { id in
            let request = JournalCall.Message(method: "POST", url: "/", body: .init(size: 204, text: start + "SENT"))
            func step(_ name: String, _ status: Int, _ answer: String, isCut: Bool = false) -> JournalCall.Step {
                var step = JournalCall.Step(name: name, isTransport: name == "Wire", start: .zero, request: request)
                let body = JournalCall.Body(size: 204, text: start + answer, isCut: isCut)
                step.response = JournalCall.Message(status: status, body: body)
                return step
            }
            var root = step("retry", 200, "LAST")
            root.steps = [
                step("Wire", 503, "BUSY"), step("Wire", 503, "BUSY"), step("Wire", 503, "BUSY", isCut: true),
                step("Wire", 200, "LAST"),
            ]
            return JournalCall(id: id, startedAt: Date(timeIntervalSince1970: 0), root: root)
        }
        let page = page(calls)
        for (text, count) in [("SENT", 2), ("LAST", 2), ("BUSY", 4)] {
            #expect(page.components(separatedBy: text).count - 1 == count, "\(text)")
        }
        #expect(page.components(separatedBy: "\n\n(shown in “The call”)").count - 1 == 2 * 5)
        #expect(page.components(separatedBy: "\n\n(shown in “Attempt 1”)").count - 1 == 2)
    }

    @Test func thePolicyAllowsOnlyThePagesOwnStyle() {
        let page = page([])
        let policy = page.split(separator: "\n").first { $0.contains("Content-Security-Policy") } ?? ""
        #expect(policy.contains("default-src 'none'; style-src 'sha256-") && !policy.contains("unsafe"))
        for word in ["http://", "https://", "script"] { #expect(!page.contains(word)) }
    }

    @Test(arguments: [("", #""""#), ("a\"\\\n\t\u{0}\u{7f}<ä", #""a\"\\\n\t\u0000"# + "\u{7f}<ä\"")])
    func textsAreEscapedForJSON(_ text: String, _ json: String) {
        #expect(String(decoding: OrderedJSON.string(text).data(), as: UTF8.self) == json)
    }

    @Test(
        arguments: [(0, "0"), (1, "0.001"), (1_500, "1.5"), (12_340, "12.34"), (-1_001, "-1.001"), (3_000, "3")]
            as [(Int64, String)]
    )
    func microsecondsAreWrittenAsExactMilliseconds(_ microseconds: Int64, _ text: String) {
        #expect(String(decoding: OrderedJSON.milliseconds(microseconds: microseconds).data(), as: UTF8.self) == text)
    }
}
