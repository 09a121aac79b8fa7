import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsMiddlewares

/// Requests that are under way while the store is cleared, for example at sign-out.
@Suite(.againstHanging) struct CacheClearingTests {
    enum Kind: String, CaseIterable, Sendable { case memory, disk }

    private let directory = TemporaryDirectory()

    private func world(_ kind: Kind) -> CacheWorld {
        CacheWorld(store: kind == .memory ? MemoryCacheStore() : DiskCacheStore(at: directory.url))
    }

    private let late = StubAnswer.stream([Data("late".utf8)], headers: [.cacheControl: "max-age=60"])
        .delayed(by: .seconds(5))

    @Test(arguments: Kind.allCases, [false, true])
    func whatIsAnsweredAfterAClearingIsNotStored(kind: Kind, isStreamed: Bool) async throws {
        let world = world(kind)
        world.stub.enqueue(late)
        let get = try world.request(partition: "ada", streamed: isStreamed)
        async let response = world.chain.send(get)
        await world.clock.sleepers(1)
        try await world.store.removeAll(partition: "ada")
        world.advance(5)
        #expect(try await response.body.collect(upTo: 100) == Data("late".utf8))
        #expect(try await response.context.cacheOutcome?.storing == .refused)
        #expect(try await world.store.listing().isEmpty)
        world.answer(["Cache-Control: max-age=60"], "new")
        #expect(try await world.send(partition: "ada") == "200 miss new")
        #expect(try await world.send(partition: "ada") == "200 hit new age 0")
    }

    @Test(arguments: Kind.allCases)
    func aValidationInTheBackgroundStoresNothingAfterAClearing(kind: Kind) async throws {
        let world = world(kind)
        world.answer(["Cache-Control: max-age=5, stale-while-revalidate=60"], "one")
        _ = try await world.send(partition: "ada")
        world.advance(10)
        world.stub.enqueue(late)
        #expect(try await world.send(partition: "ada") == "200 stale one age 10")
        await world.clock.sleepers(1)
        try await world.store.removeAll(partition: "ada")
        world.advance(5)
        await world.cache.backgroundValidations.end()
        #expect(world.stub.requests.count == 2)
        #expect(try await world.store.listing().isEmpty)
    }

    // The validation's look-up finds the response, but the clear has already raised the generation.
    @Test func aValidationIsGivenUpIfAClearingBeganAfterTheStaleResponseWasFound() async throws {
        let store = ClearedAfterLookUp()
        let world = CacheWorld(store: store)
        world.answer(["Cache-Control: max-age=5, stale-while-revalidate=60"], "one")
        _ = try await world.send(partition: "ada")
        world.advance(10)
        world.answer(["Cache-Control: max-age=60"], "late")
        store.isCleared.store(true, ordering: .releasing)
        #expect(try await world.send(partition: "ada") == "200 stale one age 10")
        await world.cache.backgroundValidations.end()
        #expect(world.stub.requests.count == 1)
    }

    @Test(arguments: Kind.allCases)
    func a304AfterAClearingBringsNothingBack(kind: Kind) async throws {
        let world = world(kind)
        world.answer(["Cache-Control: max-age=5", "ETag: \"a\""], "one")
        _ = try await world.send(partition: "ada")
        world.advance(10)
        world.stub.enqueue(.status(304, headers: ["ETag": "\"a\""]).delayed(by: .seconds(5)))
        let get = try world.request(partition: "ada")
        async let response = world.chain.send(get)
        await world.clock.sleepers(1)
        try await world.store.removeAll(partition: "ada")
        world.advance(5)
        #expect(try await response.status == 200)
        #expect(try await world.store.listing().isEmpty)
    }

    @Test(arguments: Kind.allCases, [false, true])
    func anOldResponseDoesNotOutliveOneThatIsNotStoredForAClearing(kind: Kind, isStreamed: Bool) async throws {
        let world = world(kind)
        world.answer(["Cache-Control: max-age=60"], "old")
        _ = try await world.send(partition: "ada")
        world.stub.enqueue(late)
        let get = try world.request(mode: .reload, partition: "ada", streamed: isStreamed)
        async let response = world.chain.send(get)
        await world.clock.sleepers(1)
        try await world.store.removeAll(partition: "bob")
        world.advance(5)
        #expect(try await response.body.collect(upTo: 100) == Data("late".utf8))
        #expect(try await world.store.listing().isEmpty)
    }
}

/// Once `isCleared` is set, a clear begins after each look-up: it raises the generation and hasn't removed anything
/// yet.
private final class ClearedAfterLookUp: ForwardingStore {
    let isCleared = Atomic(false)
    let inner: any CacheStore = MemoryCacheStore()
    private let count = Atomic<UInt64>(0)

    func snapshot(of key: CacheKey) async throws -> (entries: [CacheEntry], generation: UInt64) {
        let generation = count.load(ordering: .acquiring)
        let entries = try await inner.entries(for: key)
        if isCleared.load(ordering: .acquiring) { count.add(1, ordering: .releasing) }
        return (entries, generation)
    }
    func wrap(_ writer: any CacheWriter) async -> any CacheWriter { Writer(store: self, inner: writer) }

    private struct Writer: ForwardingWriter {
        let store: ClearedAfterLookUp
        let inner: any CacheWriter
        func commit(if isWanted: @Sendable (UInt64) -> Bool) async throws -> Bool {
            try await inner.commit { _ in
                isWanted(store.count.load(ordering: .acquiring))
            }
        }
    }
}
