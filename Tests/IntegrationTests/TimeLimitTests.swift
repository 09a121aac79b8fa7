import Foundation
import InterceptorsTestSupport
import Testing

/// Every suite has the time limit of the trait, so that no test fails on a busy machine.
@Suite(.againstHanging) struct TimeLimitTests {
    private static var files: [URL] {
        let folder = Repository.root.appending(path: "Tests")
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        // MainActorTests has no access to the trait, and Traits declares the limit.
        return (all?.compactMap { $0 as? URL } ?? []).filter { file in
            file.pathExtension == "swift" && !["Traits", "MainActorTests"].contains { file.path.contains("/\($0)/") }
                && file.lastPathComponent != "SuiteTraits.swift"
        }
    }

    @Test func everySuiteHasTheOneLimitAgainstHanging() throws {
        let suite = "@Su" + "ite"
        var count = 0
        for file in Self.files {
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                #expect(!line.contains(".time" + "Limit("), "\(file.lastPathComponent): \(line)")
                guard line.hasPrefix(suite) else { continue }
                count += 1
                #expect(line.contains(".againstHanging"), "\(file.lastPathComponent): \(line)")
            }
        }
        #expect(count > 100)
    }
}
