#if os(Linux) || os(macOS)
import Foundation
import Testing

/// The example program, as a reader runs it.
@Suite(.timeLimit(.minutes(60))) struct OfflineExampleTests {
    @Test func exampleGivesTheSameAnswersFromEverySource() async throws {
        let program = try #require(Program.path(of: "Offline"))
        let runs = [try await Command.run(program), try await Command.run(program)]
        for run in runs { #expect(run.status == 0 && run.complaint == "", "\(run.complaint)") }
        #expect(runs[0].text == runs[1].text)
        let lines = runs[0].text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(lines.filter { $0.hasSuffix(": the same 3 answers") }.count == 3, "\(runs[0].text)")
        #expect(lines.suffix(2).first == #"GET /users?page=2: 200 [{"id":42,"name":"Ada"}]"#)
        #expect(lines.last == "POST /users: 503")
    }

    @Test func exampleThatCannotReachItsServerEndsWithAnError() async throws {
        let program = try #require(Program.path(of: "Offline"))
        let run = try await Command.run(program, ["http://127.0.0.1:1"])
        #expect(run.status == 1)
        #expect(run.complaint.contains("TransportError.cannotConnect"), "\(run.complaint)")
    }
}
#endif
