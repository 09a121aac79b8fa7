#if os(Linux) || os(macOS)
import Interceptors
import TestSupport
import Testing

/// Gives the tests of a suite one journal. At the end its HTTP Archive must pass the schema, and haralyzer must read all of it.
struct ArchiveTrait: SuiteTrait, TestScoping {
    /// The journal for the clients of a suite's tests.
    @TaskLocal static var journal = Journal()

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let journal = Journal(limit: 10_000, byteLimit: 64 << 20)
        try await Self.$journal.withValue(journal) { try await function() }
        let attempts = journal.calls.reduce(0) { $0 + $1.attempts.count }
        // A filter may have left out all tests that send something.
        guard attempts > 0, try await JournalOutput.mustCheckHAR() else { return }
        let result = try await JournalOutput.check(har: journal.har())
        #expect(result.status == 0, "\(result.complaint)")
    }
}

extension Trait where Self == ArchiveTrait {
    /// Checks the HTTP Archive of all calls of a suite's tests that use ``ArchiveTrait/journal``.
    static var checksArchive: Self { ArchiveTrait() }
}
#endif
