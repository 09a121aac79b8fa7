#if os(Linux) || os(macOS)
import Foundation
import TestSupport
import Testing

@testable import Interceptors

/// What others make of a journal's files: a JSON schema and another library's parser, and a browser.
///
/// The checks are scripts in Tests/JournalOutput. If a tool is missing, a test is skipped with a message; if CI is set, it fails.
@Suite(.againstHanging, .heavy) struct JournalFilesTests {
    private static let scripts = Repository.root.appending(path: "Tests/JournalOutput")
    /// The screenshots stay here after the test, so that a person can look at them.
    private static let pictures = Repository.root.appending(path: ".build/journal-page")

    private static func python(_ script: String, _ arguments: [String]) async throws -> Command.Result {
        try await Command.run("/usr/bin/env", ["python3", scripts.appending(path: script).path] + arguments)
    }

    private static let isCI = ProcessInfo.processInfo.environment["CI"] != nil

    private static func hasTools() async throws -> Bool { try await python("check_har.py", ["--tools"]).status == 0 }

    private static func hasChromium() async throws -> Bool {
        try await python("chromium.py", ["--installed"]).status == 0
    }

    /// What haralyzer read from an archive.
    private struct Facts: Decodable {
        let pages, entries, headers: Int
        let urls, methods, started: [String]
        let statuses: [Int]
        let time: Double
    }

    private func facts(_ calls: [JournalCall], isRedacted: Bool = true) async throws -> Facts {
        let folder = try TemporaryFolder()
        let file = try folder.write(HARFile(calls: calls, isRedacted: isRedacted).data)
        let result = try await Self.python("check_har.py", [file.path])
        #expect(result.status == 0, "\(result.complaint)")
        return try JSONDecoder().decode(Facts.self, from: result.output)
    }

    @Test(
        .enabled("haralyzer or jsonschema is not installed: Scripts/test installs them") {
            if isCI { return true }
            return try await hasTools()
        }
    )
    func haralyzerReadsWhatTheJournalHeld() async throws {
        let calls = JournalSamples.session(500)
        let facts = try await facts(calls)
        // haralyzer has a page of its own for entries without one; there are none.
        #expect(facts.pages == calls.count)
        let steps = calls.flatMap { call in call.attempts.isEmpty ? [call.root].compactMap(\.self) : call.attempts }
        #expect(facts.entries == steps.count)
        #expect(facts.urls == steps.compactMap(\.request.url))
        #expect(facts.methods == steps.compactMap(\.request.method))
        #expect(facts.statuses == steps.map { $0.response?.status ?? 0 })
        let fields = steps.reduce(0) { $0 + $1.request.fields.count + ($1.response?.fields.count ?? 0) }
        #expect(facts.headers == fields)
        #expect(facts.started.first?.hasPrefix("2026-09-21T14:13:20.13") == true)
    }

    @Test(
        .enabled("haralyzer or jsonschema is not installed: Scripts/test installs them") {
            if isCI { return true }
            return try await hasTools()
        }
    )
    func randomCallsPassTheSchemaOfHAR() async throws {
        var source = RandomCalls(seed: 23)
        let calls = (1...300).map { source.call(id: $0) }
        #expect(try await facts(calls, isRedacted: false).entries >= calls.reduce(0) { $0 + $1.attempts.count })
    }

    private func browse(_ view: String, _ calls: [JournalCall], isRedacted: Bool) async throws {
        let folder = try TemporaryFolder()
        let page = try folder.write(JournalPage(calls: calls, isRedacted: isRedacted).data, to: "page.html")
        let result = try await Self.python("check_page.py", [view, page.path, Self.pictures.path])
        #expect(result.status == 0, "\(result.complaint)")
        print(
            "Journal page, \(view): \(result.text.trimmingCharacters(in: .newlines)) ms; pictures in \(Self.pictures.path)"
        )
    }

    @Test(
        .enabled("Chromium is not installed: Scripts/test installs it if CI is set") {
            if isCI { return true }
            return try await hasChromium()
        }
    )
    func aPageOfFiveThousandCallsWorksByKeyboardAndForScreenReaders() async throws {
        try await browse("session", JournalSamples.session(5_000), isRedacted: true)
    }

    @Test(
        .enabled("Chromium is not installed: Scripts/test installs it if CI is set") {
            if isCI { return true }
            return try await hasChromium()
        }
    )
    func chromiumsDeveloperToolsOpenTheArchive() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(HARFile(calls: JournalSamples.session(200), isRedacted: true).data)
        let result = try await Self.python("check_page.py", ["devtools", file.path])
        #expect(result.status == 0, "\(result.complaint)")
        if result.text.contains("null") {
            print("NOT CHECKED: this Chromium has its importer of HTTP Archives elsewhere")
        }
    }

    @Test(
        .enabled("Chromium is not installed: Scripts/test installs it if CI is set") {
            if isCI { return true }
            return try await hasChromium()
        }
    )
    func nothingOfAHostileCallRuns() async throws {
        try await browse("hostile", JournalSamples.hostile, isRedacted: false)
    }
}
#endif
