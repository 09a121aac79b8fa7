import Foundation
import Middlewares
import MiddlewaresTesting
import TestSupport
import Testing

@Suite(.againstHanging) struct CacheStoreConformanceTests {
    typealias Rule = CacheStoreConformance.Rule

    @Test(.againstHanging, arguments: CacheStoreConformance.rules)
    func storeInMemoryKeepsItsPromises(rule: Rule) async throws { try await rule.check { MemoryCacheStore() } }

    @Test(.againstHanging, arguments: CacheStoreConformance.rules)
    func storeOnDiskKeepsItsPromises(rule: Rule) async throws {
        let directory = TemporaryDirectory()
        try await rule.check { DiskCacheStore(at: directory.url) }
    }

    /// The store of the example, which users copy.
    @Test(.againstHanging, arguments: CacheStoreConformance.rules)
    func dictionaryStoreKeepsItsPromises(rule: Rule) async throws { try await rule.check { DictionaryStore() } }

    @Test func ruleNamesAreDistinct() {
        #expect(Set(CacheStoreConformance.rules).count == CacheStoreConformance.rules.count)
    }
}

/// The suite detects broken promises: each store here is wrong in one way.
@Suite(.againstHanging) struct CacheStoreConformanceViolationTests {
    private func broken(_ make: @escaping CacheStoreConformance.Factory) async -> Set<String> {
        var broken: Set<String> = []
        for rule in CacheStoreConformance.rules {
            do { try await rule.check(make) } catch { broken.insert(rule.name) }
        }
        return broken
    }

    /// Keeps the generation when a key is invalidated.
    private struct ConstantGeneration: ForwardingStore {
        let inner: any CacheStore = MemoryCacheStore()
        func wrap(_ writer: any CacheWriter) -> any CacheWriter { writer }
        func removeAll(of key: CacheKey) async throws {
            try await inner.remove(inner.snapshot(of: key).entries.map(\.id), of: key)
        }
    }

    @Test func generationThatNeverChangesIsDetected() async {
        #expect(
            await broken { ConstantGeneration() }.isSuperset(of: [
                "invalidationRemovesTheKeysEntriesAndChangesItsGeneration",
                "responseRequestedBeforeAnInvalidationIsNotStoredAfterIt",
            ])
        )
    }

    /// Commits without checking whether the response is still wanted.
    private struct Careless: ForwardingStore {
        struct Writer: ForwardingWriter {
            let inner: any CacheWriter
            func commit(if isWanted: @Sendable (CacheGeneration) -> Bool) async throws -> Bool {
                try await inner.commit { _ in true }
            }
        }

        let inner: any CacheStore = MemoryCacheStore()
        func wrap(_ writer: any CacheWriter) -> any CacheWriter { Writer(inner: writer) }
    }

    @Test func commitThatAsksNobodyIsDetected() async {
        #expect(
            await broken { Careless() }.isSuperset(of: [
                "commitAsksOnceWithTheGenerationOfTheKey", "entriesAreReplacedOnlyByACommit",
                "responseRequestedBeforeAnInvalidationIsNotStoredAfterIt",
            ])
        )
    }

    /// Stores an abandoned body.
    private struct Stubborn: ForwardingStore {
        struct Writer: ForwardingWriter {
            let inner: any CacheWriter
            func abandon() {}
        }

        let inner: any CacheStore = MemoryCacheStore()
        func wrap(_ writer: any CacheWriter) -> any CacheWriter { Writer(inner: writer) }
    }

    @Test func abandonedBodyThatIsStoredIsDetected() async {
        #expect(await broken { Stubborn() } == ["abandonedBodyLeavesNothing"])
    }

    /// Loses the last byte of each chunk.
    private struct Lossy: ForwardingStore {
        struct Writer: ForwardingWriter {
            let inner: any CacheWriter
            func append(_ chunk: Data) async throws { try await inner.append(chunk.dropLast()) }
        }

        let inner: any CacheStore = MemoryCacheStore()
        func wrap(_ writer: any CacheWriter) -> any CacheWriter { Writer(inner: writer) }
    }

    @Test func bodyThatIsNotReturnedInWholeIsDetected() async {
        #expect(
            await broken { Lossy() }.isSuperset(of: [
                "committedEntryIsReturnedAsItWasWritten", "bodyOfAnyLengthIsReturnedInWholeAndInParts",
            ])
        )
    }

    /// Removes all entries when only some should be removed.
    private struct Radical: ForwardingStore {
        let inner: any CacheStore = MemoryCacheStore()
        func wrap(_ writer: any CacheWriter) -> any CacheWriter { writer }
        func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws { try await inner.removeAll(of: key) }
        func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws {
            try await inner.removeAll { _ in true }
        }
    }

    @Test func removalOfTooMuchIsDetected() async {
        #expect(
            await broken { Radical() } == [
                "removeTakesTheNamedEntriesAndKeepsTheGeneration",
                "clearingRemovesWhatThePredicateNamesAndChangesEveryGeneration",
            ]
        )
    }
}
