#if os(Linux) || os(macOS)
import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsInsight

/// Gives the tests of a suite one journal. At the end its HTTP Archive must pass the schema, and haralyzer must read all of it.
struct ArchiveTrait: SuiteTrait, TestScoping {
    /// The journal for the clients and chains of a suite's tests.
    @TaskLocal static var journal: Journal?

    private static var isPartial: Bool {
        ProcessInfo.processInfo.environment["CI"] == nil
            || CommandLine.arguments.contains { $0.hasPrefix("--filter") || $0.hasPrefix("--skip") }
    }

    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let journal = Journal(limit: 10_000, byteLimit: 64 << 20)
        try await Self.$journal.withValue(journal) { try await function() }
        let calls = journal.calls
        // A filter may have left out all tests that send something.
        #expect(!calls.isEmpty || Self.isPartial, "No client or chain of \(test.name) uses ArchiveTrait.journal.")
        guard !calls.isEmpty, try await JournalOutput.mustCheckHAR() else { return }
        // In parts, because haralyzer looks for the entries of each page among all entries.
        let parts = stride(from: 0, to: calls.count, by: 500).map { Array(calls[$0...].prefix(500)) }
        let archives = parts.map { (HARFile(calls: $0, isRedacted: true).data, $0.entryCount) }
        let faults = try await JournalOutput.faults(in: archives)
        #expect(faults.isEmpty, "\(faults)")
    }
}

extension Trait where Self == ArchiveTrait {
    /// Checks the HTTP Archive of all calls of a suite's tests, whose clients and chains use ``ArchiveTrait/journal``.
    static var checksArchive: Self { ArchiveTrait() }
}

extension [JournalCall] {
    /// The number of entries in the calls' HTTP Archive: one for an attempt, and one for a call without attempts.
    var entryCount: Int { reduce(0) { $0 + ($1.root == nil ? 0 : Swift.max(1, $1.attempts.count)) } }
}

// The examples of articles are unchanged in these tests, so they name no journal. In this module their clients and chains get
// the suite's: Swift prefers an initializer that needs no default arguments.
extension Client {
    init(baseURL: URL?, interceptors: [any Interceptor], transport: any Transport) {
        self.init(
            baseURL: baseURL,
            interceptors: interceptors,
            transport: transport,
            observer: ArchiveTrait.journal
        )
    }

    init(baseURL: URL?, interceptors: [any Interceptor]) {
        self.init(baseURL: baseURL, interceptors: interceptors, transport: .platform())
    }

    init(interceptors: [any Interceptor], transport: any Transport) {
        self.init(baseURL: nil, interceptors: interceptors, transport: transport)
    }

    init(interceptors: [any Interceptor]) {
        self.init(baseURL: nil, interceptors: interceptors, transport: .platform())
    }

    init(baseURL: URL?, transport: any Transport) {
        self.init(baseURL: baseURL, interceptors: [.followRedirects()], transport: transport)
    }
}

extension InterceptorChain {
    init(_ interceptors: [any Interceptor], transport: any Transport) {
        self.init(interceptors, transport: transport, observer: ArchiveTrait.journal)
    }
}
#endif
