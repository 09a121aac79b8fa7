import Foundation
import InterceptorsTestSupport
import Testing

/// The tests with real servers and the simulation check the HTTP Archives of their calls.
@Suite(.againstHanging) struct ArchiveTests {
    /// The suites without ``ArchiveTrait``, and the reason.
    private static let exempt = [
        "ArchiveTests": "It sends nothing.",
        "LoadTests": "Other processes send; a journal would be part of the memory that they measure.",
        "LookupTests": "Another process sends, with another resolver.",
        "SimulationTests": "It has a journal for each seed, and checks a sample of their archives itself.",
        "TimeLimitTests": "It sends nothing.",
    ]

    /// The suites of this folder, each with the attributes before its name.
    private static func suites() throws -> [(name: String, attributes: String)] {
        let folder = Repository.root.appending(path: "Tests/IntegrationTests")
        let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        let sources = files?.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" } ?? []
        // In two parts, so that this line is no suite.
        let suite = try Regex("(?m)^@Su" + #"ite(\(.*\))?\s+(?:\w+ )*(?:struct|class|actor|enum) (\w+)"#)
        return try sources.flatMap { file in
            try String(contentsOf: file, encoding: .utf8).matches(of: suite).map { match in
                (String(match.output[2].substring ?? ""), String(match.output[1].substring ?? ""))
            }
        }
    }

    @Test func everySuiteChecksTheArchiveOfItsCallsOrSaysWhyNot() throws {
        let suites = try Self.suites()
        #expect(suites.count >= 9)
        for (name, attributes) in suites where Self.exempt[name] == nil {
            #expect(attributes.contains(".checksArchive"), "\(name)")
        }
        for name in Self.exempt.keys {
            let suite = suites.first { $0.name == name }
            #expect(suite?.attributes.contains(".checksArchive") == false, "\(name) is no exemption.")
        }
    }
}
