import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// The codes of the sources and their documentation, which is the only list of them.
@Suite(.againstHanging) struct ErrorCodesTests {
    private struct Row {
        let code: String
        let errors: Set<String>
    }

    private static func sources() throws -> [String] {
        let sources = Repository.root.appending(path: "Sources")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        return try files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
            .map { try String(contentsOf: $0, encoding: .utf8) }
    }

    /// The public codes, with the errors that the documentation of each code names before its first colon.
    private static func declared() throws -> [Row] {
        let declaration = /((?: {4}\/\/\/[^\n]*\n)+) {4}public static let (\w+) = Self\(rawValue: "(\w+)"\)/
        var rows: [Row] = []
        for text in try sources() {
            for block in text.matches(of: /extension HTTPErrorCode \{\n(.*?)\n\}/.dotMatchesNewlines()) {
                for match in block.1.matches(of: declaration) {
                    #expect(match.2 == match.3)
                    let errors = match.1.prefix { $0 != ":" }.matches(of: /`(\w+)`/).map { String($0.1) }
                    rows.append(Row(code: String(match.2), errors: Set(errors)))
                }
                let count = block.1.matches(of: /public static let/).count
                #expect(count == block.1.matches(of: declaration).count, "A code without documentation: \(block.1)")
            }
        }
        return rows
    }

    @Test func noTwoCodesHaveOneName() throws {
        let codes = try Self.declared().map(\.code)
        #expect(codes.count > 40)
        #expect(Set(codes).count == codes.count)
    }

    @Test func theDocumentationOfEachCodeNamesItsErrors() throws {
        for row in try Self.declared() {
            #expect(!row.errors.isEmpty, "\(row.code)")
            #expect(row.errors.allSatisfy { $0.hasSuffix("Error") || $0.hasSuffix("Failure") }, "\(row.code)")
        }
    }
}
