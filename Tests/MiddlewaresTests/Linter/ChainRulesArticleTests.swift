import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsCore

/// The article *Checking a chain* has a table of all rules, with examples that only the article has. `Scripts/chain-rules --update`
/// writes the rules and their harms.
@Suite(.againstHanging) struct ChainRulesArticleTests {
    private static let begin = "<!-- The rules: written by Scripts/chain-rules --update. -->\n"
    private static let end = "<!-- End of the rules. -->"
    private static let isUpdate = ProcessInfo.processInfo.environment["CHAIN_RULES_UPDATE"] != nil

    /// The table with the examples of an earlier one.
    private static func table(_ examples: [String: (wrong: String, right: String)]) -> String {
        ChainFinding.Severity.allCases.map { severity in
            let rows = ChainRuleDefinition.all.filter { $0.severity == severity }.map { rule in
                let (wrong, right) = examples["`\(rule.rule)`"] ?? ("", "")
                return "| `\(rule.rule)` | \(wrong) | \(rule.harm) | \(right) |\n"
            }
            let head =
                "### \(severity.rawValue.capitalized)\n\n| rule | wrong | what goes wrong | right |\n| --- | --- | --- | --- |\n"
            return head + rows.joined() + "\n"
        }.joined()
    }

    @Test func theArticleListsTheRules() throws {
        let file = Repository.root.appending(path: "Sources/Middlewares/Middlewares.docc/CheckingAChain.md")
        let text = try String(contentsOf: file, encoding: .utf8)
        let start = try #require(text.range(of: Self.begin)).upperBound
        let end = try #require(text.range(of: Self.end)).lowerBound
        let rows = text[start..<end].split(separator: "\n").map { $0.components(separatedBy: " | ") }
        let examples = rows.filter { $0.count == 4 && $0[0].hasPrefix("| `") }.map {
            (String($0[0].dropFirst(2)), (wrong: $0[1], right: String($0[3].dropLast(2))))
        }
        let table = Self.table(Dictionary(examples) { first, _ in first })
        if Self.isUpdate {
            try (text[..<start] + "\n" + table + text[end...]).write(to: file, atomically: true, encoding: .utf8)
        } else {
            #expect(String(text[start..<end]) == "\n" + table, "Run Scripts/chain-rules --update.")
        }
        #expect(examples.count == ChainRuleDefinition.all.count)
        for (rule, example) in examples {
            #expect(example.wrong.hasPrefix("`[") && example.right.hasPrefix("`["), "Write an example for \(rule).")
        }
    }
}
