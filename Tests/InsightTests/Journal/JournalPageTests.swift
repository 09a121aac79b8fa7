import Foundation
import InterceptorsSyntax
import Testing

@testable import InterceptorsInsight

@Suite(.againstHanging) struct JournalPageTests {
    /// The parts of a page between its elements `script`, as a browser would split them.
    private func parts(_ calls: [JournalCall]) -> [String] {
        String(decoding: JournalPage(calls: calls, isRedacted: true).data, as: UTF8.self)
            .components(separatedBy: "<script").flatMap { $0.components(separatedBy: "</script>") }
    }

    private func data(_ calls: [JournalCall]) throws -> [String: Any] {
        let json = try #require(parts(calls)[1].split(separator: ">", maxSplits: 1).last)
        return try #require(JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
    }

    @Test func hostileTextsNeverLeaveTheData() throws {
        // Before the data, the data, between, the script, after.
        #expect(parts(JournalSamples.hostile).count == 5)
        let json = parts(JournalSamples.hostile)[1].drop { $0 != ">" }.dropFirst()
        #expect(!json.contains { "<>&\u{2028}\u{2029}\u{0}".contains($0) })
        let strings = try #require(data(JournalSamples.hostile)["strings"] as? [String])
        #expect(strings.contains(JournalSamples.hostileTexts.joined(separator: " ")))
    }

    @Test func everyTextIsInThePageOnce() throws {
        let strings = try #require(data(JournalSamples.session(200))["strings"] as? [String])
        #expect(Set(strings).count == strings.count && strings.contains("retryOnUnauthorized"))
    }

    @Test func thePolicyAllowsOnlyThePagesOwnScriptAndStyle() {
        let page = String(decoding: JournalPage(calls: [], isRedacted: true).data, as: UTF8.self)
        let policy = page.split(separator: "\n").first { $0.contains("Content-Security-Policy") } ?? ""
        #expect(policy.contains("default-src 'none'; script-src 'sha256-") && !policy.contains("unsafe"))
        for word in ["http://", "https://", "innerHTML", "eval(", "import("] {
            let code = JournalPageTemplate.body + JournalPageTemplate.style + JournalPageTemplate.script
            #expect(!code.replacing("/^https:\\/\\//", with: "").contains(word))
        }
    }

    @Test(arguments: [
        ("", #""""#), ("a\"\\\n\t\u{0}\u{7f}", #""a\"\\\n\t\u0000\u007f""#), ("<&>", #""\u003c\u0026\u003e""#),
        ("\u{2028}\u{2029}\u{2027}ä", #""\u2028\u2029\#u{2027}ä""#),
    ])
    func textsAreEscapedForJSONInsideHTML(_ text: String, _ json: String) {
        #expect(String(decoding: OrderedJSON.string(text).data(isForHTML: true), as: UTF8.self) == json)
    }

    @Test(
        arguments: [(0, "0"), (1, "0.001"), (1_500, "1.5"), (12_340, "12.34"), (-1_001, "-1.001"), (3_000, "3")]
            as [(Int64, String)]
    )
    func microsecondsAreWrittenAsExactMilliseconds(_ microseconds: Int64, _ text: String) {
        #expect(String(decoding: OrderedJSON.milliseconds(microseconds: microseconds).data(), as: UTF8.self) == text)
    }
}
