import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// Several caches over one store know of each other's responses, and of removals that failed.
@Suite(.againstHanging) struct CachesOverOneStoreTests {
    private let directory = TemporaryDirectory()

    /// Two caches over one store in memory, and over two stores on disk that share a directory.
    private func pairs() -> [(CacheWorld, CacheWorld)] {
        let memory = MemoryCacheStore()
        return [
            (CacheWorld(store: memory), CacheWorld(store: memory)),
            (
                CacheWorld(store: DiskCacheStore(at: directory.url)),
                CacheWorld(store: DiskCacheStore(at: directory.url.appending(path: ".")))
            ),
        ]
    }

    private func begin(
        _ body: String,
        _ world: CacheWorld,
        _ chunks: AsyncThrowingStream<Data, any Error>
    ) async throws
        -> HTTPResponse
    {
        world.stub.enqueue(.status(200, headers: fields(["Cache-Control: max-age=60"]), body: .oneShot(chunks)))
        return try await world.chain.send(try world.request(mode: .reload, streamed: true))
    }

    @Test func anOlderResponseThatEndsLaterDoesNotReplaceANewerOneOfAnotherCache() async throws {
        for (one, other) in pairs() {
            let (oldChunks, oldFeed) = AsyncThrowingStream.makeStream(of: Data.self)
            let old = try await begin("old", one, oldChunks)
            let (newChunks, newFeed) = AsyncThrowingStream.makeStream(of: Data.self)
            let new = try await begin("new", other, newChunks)
            for (feed, response, body) in [(newFeed, new, "new"), (oldFeed, old, "old")] {
                feed.yield(Data(body.utf8))
                feed.finish()
                #expect(try await response.body.collect(upTo: 10) == Data(body.utf8))
            }
            #expect(try await one.send() == "200 hit new age 0")
            #expect(try await other.send() == "200 hit new age 0")
        }
    }

    /// A store whose removals fail while a test says so.
    private struct StubbornStore: ForwardingStore {
        let inner: any CacheStore = MemoryCacheStore()
        let fails: Shared<Bool>

        func wrap(_ writer: any CacheWriter) async -> any CacheWriter { writer }
        func removeAll(of key: CacheKey) async throws {
            if fails.value { throw Broken() }
            try await inner.removeAll(of: key)
        }
        func remove(_ entries: [CacheEntry.ID], of key: CacheKey) async throws {
            if fails.value { throw Broken() }
            try await inner.remove(entries, of: key)
        }
        func removeAll(where isRemoved: @Sendable (CacheEntrySummary) -> Bool) async throws {
            if fails.value { throw Broken() }
            try await inner.removeAll(where: isRemoved)
        }
        func update(_ entry: CacheEntry.ID, of key: CacheKey, to response: CachedResponse) async throws {
            if fails.value { throw Broken() }
            try await inner.update(entry, of: key, to: response)
        }
    }

    @Test func afterAnUnsafeRequestNoEntryIsServedThatTheStoreFailedToRemove() async throws {
        let store = StubbornStore(fails: Shared(true))
        let (world, other) = (CacheWorld(store: store), CacheWorld(store: store))
        world.answer(["Cache-Control: max-age=60"], "old")
        _ = try await world.send()
        world.answer(204, [])
        _ = try await world.send([], .put)
        #expect(!world.reported.isEmpty)
        for world in [world, other] {
            world.answer(["Cache-Control: no-store"], "new")
            #expect(try await world.send() == "200 miss new")
            #expect(try await world.send(mode: .offline).hasPrefix("504"))
        }
        store.fails.change { $0 = false }
        world.answer(["Cache-Control: max-age=60"], "newest")
        #expect(try await world.send() == "200 miss newest")
        #expect(try await world.send() == "200 hit newest age 0")
    }

    @Test func aResponseThatGaveWayToAnUnstoredOneIsNotServedWhenTheStoreFailedToRemoveIt() async throws {
        for lines in [["Cache-Control: no-store"], ["Cache-Control: max-age=60, no-store", "ETag: \"b\""]] {
            let store = StubbornStore(fails: Shared(true))
            let world = CacheWorld(store: store)
            world.answer(["Cache-Control: max-age=60", "ETag: \"a\""], "old")
            _ = try await world.send()
            world.answer(lines, "new")
            #expect(try await world.send(mode: .reload) == "200 miss new")
            world.answer(lines, "new")
            #expect(try await world.send() == "200 miss new")
        }
    }

    @Test func anEntryThatAHEADContradictsIsNotServedWhenTheStoreFailedToMarkIt() async throws {
        let store = StubbornStore(fails: Shared(true))
        let world = CacheWorld(store: store)
        world.answer(["Cache-Control: max-age=60", "ETag: \"a\""], "old")
        _ = try await world.send()
        world.answer(["ETag: \"b\""])
        _ = try await world.send([], .head, mode: .reload)
        world.answer([], "new")
        #expect(try await world.send() == "200 miss new")
    }

    @Test func manyFailedRemovalsAreOneDebtForAll() async throws {
        let store = StubbornStore(fails: Shared(true))
        let world = CacheWorld(store: store)
        let keys = (0...1_100).map { "k\($0)" }
        for key in ["k0", "k1100", "untouched"] {
            world.answer(["Cache-Control: max-age=60"], "old")
            _ = try await world.send(path: key)
        }
        for key in keys {
            world.answer(204, [])
            _ = try await world.send([], .put, path: key)
        }
        let reports = world.reported.count
        for key in ["k0", "k1100", "untouched"] {
            world.answer([], "new")
            #expect(try await world.send(path: key) == "200 miss new")
        }
        // Not every look-up tries to remove all entries.
        #expect(world.reported.count == reports + 1)
        store.fails.change { $0 = false }
        world.advance(10)
        world.answer(["Cache-Control: max-age=60"], "newest")
        #expect(try await world.send(path: "k0") == "200 miss newest")
        #expect(try await world.send(path: "k0") == "200 hit newest age 0")
    }
}
