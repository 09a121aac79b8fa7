import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsCore

/// The article *Checking a chain* has a table of all rules. `Scripts/chain-rules --update` writes the table.
@Suite(.againstHanging) struct ChainRulesArticleTests {
    private static let begin = "<!-- The rules: written by Scripts/chain-rules --update. -->\n"
    private static let end = "<!-- End of the rules. -->"
    private static let isUpdate = ProcessInfo.processInfo.environment["CHAIN_RULES_UPDATE"] != nil

    private static let table: String = ChainFinding.Severity.allCases.map { severity in
        let rows = ChainRuleDefinition.all.filter { $0.severity == severity }.map { rule in
            "| `\(rule.rule)` | \(code(rule.wrong)) | \(rule.harm) | \(code(rule.right)) |\n"
        }
        let head =
            "### \(severity.rawValue.capitalized)\n\n| rule | wrong | what goes wrong | right |\n| --- | --- | --- | --- |\n"
        return head + rows.joined() + "\n"
    }.joined()

    /// The code in the example's brackets; words after it stay text.
    private static func code(_ example: String) -> String {
        guard let end = example.range(of: "], ")?.lowerBound else { return "`\(example)`" }
        return "`\(example[..<end])]`" + example[end...].dropFirst().replacing(#/\[.*\]/#) { "`\($0.output)`" }
    }

    @Test func theArticleListsTheRules() throws {
        let file = Repository.root.appending(path: "Sources/Middlewares/Middlewares.docc/CheckingAChain.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: Self.begin)).upperBound
        let end = try #require(text.range(of: Self.end)).lowerBound
        if Self.isUpdate {
            try (text[..<start] + "\n" + Self.table + text[end...]).write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(String(text[start..<end]) == "\n" + Self.table, "Run Scripts/chain-rules --update.")
        }
    }
}
