#if os(Linux) || os(macOS)
import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsInsight

/// A JSON schema, another library's parser and a browser read a journal's files.
@Suite(.againstHanging, .heavy) struct JournalFilesTests {
    /// The facts that haralyzer read from an archive.
    private struct Facts: Decodable {
        let pages, entries, headers: Int
        let urls, methods, started: [String]
        let statuses: [Int]
    }

    private func facts(_ calls: [JournalCall], isRedacted: Bool = true) async throws -> Facts {
        let result = try await JournalOutput.check(har: HARFile(calls: calls, isRedacted: isRedacted).data)
        #expect(result.status == 0, "\(result.complaint)")
        return try JSONDecoder().decode(Facts.self, from: result.output)
    }

    @Test(.enabled("\(JournalOutput.noHARTools)", JournalOutput.mustCheckHAR))
    func haralyzerReadsWhatTheJournalHeld() async throws {
        let calls = JournalSamples.session(500)
        let facts = try await facts(calls)
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

    @Test(.enabled("\(JournalOutput.noHARTools)", JournalOutput.mustCheckHAR))
    func randomCallsPassTheSchemaOfHAR() async throws {
        var source = RandomCalls(seed: 23)
        let calls = (1...300).map { source.call(id: $0) }
        #expect(try await facts(calls, isRedacted: false).entries >= calls.reduce(0) { $0 + $1.attempts.count })
    }

    private func open(_ file: Data, as view: String) async throws -> String {
        let result = try await JournalOutput.open(file, as: view)
        #expect(result.status == 0, "\(result.complaint)")
        return result.text.trimmingCharacters(in: .newlines)
    }

    @Test(.enabled("\(JournalOutput.noChromium)", JournalOutput.mustOpenPages))
    func aPageOfFiveThousandCallsWorksByKeyboardAndForScreenReaders() async throws {
        let page = JournalPage(calls: JournalSamples.session(5_000), isRedacted: true)
        let times = try await open(page.data, as: "session")
        print("A page of 5,000 calls, in ms: \(times). Screenshots: .build/journal-page")
    }

    @Test(.enabled("\(JournalOutput.noChromium)", JournalOutput.mustOpenPages))
    func nothingOfAHostileCallRuns() async throws {
        _ = try await open(JournalPage(calls: JournalSamples.hostile, isRedacted: false).data, as: "hostile")
    }

    @Test(.enabled("\(JournalOutput.noChromium)", JournalOutput.mustOpenPages))
    func chromiumsDeveloperToolsOpenTheArchive() async throws {
        let har = HARFile(calls: JournalSamples.session(200), isRedacted: true).data
        if try await open(har, as: "devtools").contains("null") {
            print("NOT CHECKED: this Chromium has its importer of HTTP Archives elsewhere")
        }
    }
}
#endif
