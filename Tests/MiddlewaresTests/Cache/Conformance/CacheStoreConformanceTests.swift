import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging, .heavy) struct CacheStoreConformanceTests {
    typealias Rule = CacheStoreConformance.Rule
    typealias CrashRule = CacheStoreConformance.CrashRule

    @Test(.againstHanging, arguments: CacheStoreConformance.rules)
    func storeInMemoryKeepsItsPromises(rule: Rule) async throws { try await rule.check { MemoryCacheStore() } }

    @Test(.againstHanging, arguments: CacheStoreConformance.rules)
    func storeOnDiskKeepsItsPromises(rule: Rule) async throws {
        let folder = try TemporaryFolder()
        try await rule.check { DiskCacheStore(at: folder.url.appending(path: UUID().uuidString)) }
    }

    @Test(.againstHanging, arguments: CacheStoreConformance.crashRules)
    func storeOnDiskSurvivesACrash(rule: CrashRule) async throws {
        try await rule.check { folder in DiskCacheStore(at: folder) }
    }

    /// The store of the example, which users copy.
    @Test(.againstHanging, arguments: CacheStoreConformance.rules)
    func dictionaryStoreKeepsItsPromises(rule: Rule) async throws { try await rule.check { DictionaryStore() } }
}

/// The kit itself: each broken store is found by its rule, and no check hangs.
@Suite(.againstHanging, .heavy) struct BrokenStoreTests {
    private typealias Failure = RuleFailure

    /// The rules that a store breaks, with what they say.
    ///
    /// - Parameter broken: the rule that may wait for nothing, with a short patience.
    private static func failures(
        _ broken: String? = nil,
        _ make: @escaping CacheStoreConformance.Factory
    ) async throws -> [String: String] {
        var failures: [String: String] = [:]
        for rule in CacheStoreConformance.rules {
            do {
                try await rule.check(patience: .seconds(rule.name == broken ? 1 : 10), make)
            } catch let failure as Failure {
                failures[failure.rule.name] = failure.observed
            }
        }
        return failures
    }

    @Test(.againstHanging, arguments: AdjustableStore.Fault.allCases)
    func brokenStoreIsFoundByTheRuleNamedForItAndByNoOther(fault: AdjustableStore.Fault) async throws {
        let failures = try await Self.failures(fault.rule) { AdjustableStore(fault) }
        #expect(Set(failures.keys) == [fault.rule], "\(failures)")
    }

    @Test func storeWithoutAFaultKeepsEveryRule() async throws {
        #expect(try await Self.failures { AdjustableStore(nil) } == [:])
    }

    @Test func everyRuleHasABrokenStore() {
        let names = CacheStoreConformance.rules.map(\.name)
        #expect(Set(AdjustableStore.Fault.allCases.map(\.rule)) == Set(names))
        #expect(Set(names).count == names.count)
    }

    /// A store on disk that returns the key of the process, as a store without the function does.
    private struct ProcessKeyStore: ForwardingStore {
        static let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        let inner: any CacheStore

        func wrap(_ writer: any CacheWriter) async -> any CacheWriter { writer }
        func digestKey() async throws -> Data { Self.key }
    }

    @Test func aKeyThatEndsWithTheProcessIsFound() async throws {
        let rule = try #require(CacheStoreConformance.crashRules.first { $0.name == "digestKeyOutlivesTheStore" })
        await #expect(throws: Failure.self) {
            try await rule.check { ProcessKeyStore(inner: DiskCacheStore(at: $0)) }
        }
    }

    @Test(.againstHanging, arguments: FolderStore.Fault.allCases)
    func storeThatACrashBreaksIsFoundByTheRuleNamedForItAndByNoOther(fault: FolderStore.Fault) async throws {
        var failures: [String: String] = [:]
        for (number, rule) in CacheStoreConformance.crashRules.enumerated() {
            // Each day checks a fourth of the other rules, because all of them together kill hundreds of processes.
            let isOthersTurn = FullLoad.isOn || number % 4 == Int(DailySeed.value % 4)
            guard isOthersTurn || rule.name == fault.rule else { continue }
            do {
                let patience = Duration.seconds(rule.name == fault.rule ? 2 : 10)
                try await rule.check(patience: patience) { try FolderStore(at: $0, fault) }
            } catch let failure as Failure {
                failures[failure.rule.name] = failure.observed
            }
        }
        #expect(Set(failures.keys) == [fault.rule], "\(failures)")
    }

    @Test(.againstHanging, arguments: CacheStoreConformance.crashRules)
    func folderStoreWithoutAFaultSurvivesACrash(rule: CacheStoreConformance.CrashRule) async throws {
        try await rule.check { try FolderStore(at: $0, nil) }
    }

    @Test(.againstHanging, arguments: CacheStoreConformance.rules)
    func folderStoreWithoutAFaultKeepsEveryRule(rule: CacheStoreConformance.Rule) async throws {
        let folder = try TemporaryFolder()
        try await rule.check { try FolderStore(at: folder.url.appending(path: UUID().uuidString), nil) }
    }

    @Test func everyCrashRuleHasABrokenStore() {
        let names = Set(CacheStoreConformance.crashRules.map(\.name))
        // Two stores that race for a lock do so by chance, so no broken store loses the race in each run.
        #expect(
            names.subtracting(FolderStore.Fault.allCases.map(\.rule)) == [
                "writersOfSeveralStoresLeaveOneWholeEntry"
            ]
        )
    }

    @Test(arguments: CacheStoreConformance.rules.map(\.name) + CacheStoreConformance.crashRules.map(\.name))
    func everyRuleSaysTheRepair(name: String) throws {
        let laws = CacheStoreConformance.rules.map(\.text) + CacheStoreConformance.crashRules.map(\.text)
        let law = try #require(laws.first { $0.name == name })
        let repair = law.repair
        #expect(repair.hasSuffix(".") && repair.count > 20 && !repair.dropLast().contains(". "), "\(repair)")
        let failure = Failure(rule: law, observed: "It did so.")
        #expect("\(failure)" == "\(name): It did so. \(law.repair)")
    }

    // MARK: No check hangs

    @Test func functionThatNeverReturnsIsReported() async throws {
        let rule = try #require(CacheStoreConformance.rules.first { $0.name == "anOpenWriterBlocksNobody" })
        let error = await #expect(throws: Failure.self) {
            try await rule.check(patience: .milliseconds(200)) { AdjustableStore(.anOpenWriterBlocksNobody) }
        }
        #expect(error?.observed == "Nothing goes on. The check waits for: snapshot(of:).")
    }

    private static func wait() async { for await _ in AsyncStream(Never.self, { _ in }) {} }

    @Test func closureThatNeverReturnsIsReported() async throws {
        let rule = try #require(CacheStoreConformance.rules.first { $0.name == "anOpenWriterBlocksNobody" })
        let error = await #expect(throws: Failure.self) {
            try await rule.check(patience: .milliseconds(200)) {
                await Self.wait()
                return MemoryCacheStore()
            }
        }
        #expect(error?.observed == "Nothing goes on. The check waits for: the closure that makes the store.")
        let crashRule = try #require(CacheStoreConformance.crashRules.first)
        let crashError = await #expect(throws: Failure.self) {
            try await crashRule.check(patience: .milliseconds(200)) { _ in
                await Self.wait()
                return MemoryCacheStore()
            }
        }
        #expect(crashError?.observed == "Nothing goes on. The check waits for: the closure that opens the store.")
    }

    @Test func chunkThatNeverComesIsReported() async throws {
        struct Stuck: ForwardingStore {
            let inner: any CacheStore = MemoryCacheStore()
            func wrap(_ writer: any CacheWriter) -> any CacheWriter { writer }
            func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) {
                var snapshot = try await inner.snapshot(of: key)
                snapshot.entries = snapshot.entries.map { entry in
                    CacheEntry(id: entry.id, response: entry.response, length: entry.length) { _ in
                        .oneShot(AsyncStream<Data> { _ in })
                    }
                }
                return snapshot
            }
        }
        let rule = try #require(CacheStoreConformance.rules.first { $0.name == "anOpenWriterBlocksNobody" })
        let error = await #expect(throws: Failure.self) {
            try await rule.check(patience: .milliseconds(200)) { Stuck() }
        }
        #expect(error?.observed == "Nothing goes on. The check waits for: the next chunk of an entry's body.")
    }

    @Test func errorOfTheStoreIsReported() async throws {
        struct Failing: ForwardingStore {
            let inner: any CacheStore = MemoryCacheStore()
            func wrap(_ writer: any CacheWriter) -> any CacheWriter { writer }
            func listing() async throws -> [CacheEntrySummary] { throw CacheStoreError(.storeBusy, "Busy.") }
        }
        let rule = try #require(CacheStoreConformance.rules.first { $0.name == "listingNamesEveryEntry" })
        let error = await #expect(throws: Failure.self) { try await rule.check { Failing() } }
        #expect(error?.observed.hasPrefix("The store threw an error: ") == true)
    }

    @Test func errorOfTheFactoryIsRethrown() async throws {
        struct NoStore: Error {}
        for rule in CacheStoreConformance.rules.suffix(1) {
            await #expect(throws: NoStore.self) { try await rule.check { throw NoStore() } }
        }
        for rule in CacheStoreConformance.crashRules.prefix(1) {
            await #expect(throws: NoStore.self) { try await rule.check { _ in throw NoStore() } }
        }
    }
}
