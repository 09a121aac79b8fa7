import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

extension MemoryCacheStore {
    /// Stores a body, even if the key's generation has changed.
    fileprivate func store(
        _ body: Data,
        of response: CachedResponse,
        for key: CacheKey,
        replacing entries: [CacheEntry.ID] = []
    ) async throws {
        #expect(try await store(body, of: response, for: key, replacing: entries) { _ in true })
    }
}

@Suite(.againstHanging) struct MemoryCacheStoreTests {
    private func key(_ path: String, _ partition: String = "") throws -> CacheKey {
        try #require(CacheKey(url: try url("https://a.example/\(path)"), partition: partition))
    }

    private func response(_ variant: String = "") -> CachedResponse {
        CachedResponse(status: 200, headers: [:], selectingFields: ["A": variant], responseTime: start)
    }

    private func put(
        _ store: MemoryCacheStore,
        _ key: CacheKey,
        _ body: String = "x",
        _ variant: String = ""
    ) async throws {
        let writer = try await store.write(response(variant), for: key, replacing: [], length: nil)
        try await writer.append(Data(body.utf8))
        try await writer.commit()
    }

    @Test func whenMemoryIsShortWhatWasUsedTheLongestAgoGoesFirstAndThenAll() async throws {
        let store = MemoryCacheStore()
        for name in ["a", "b", "c", "d"] { try await put(store, try key(name), String(repeating: "x", count: 10_000)) }
        _ = try await store.entries(for: try key("a"))
        let (generation, bytes) = (try await store.snapshot(of: try key("x")).generation, store.byteCount)
        store.yield(isCritical: false)
        #expect(store.count == 2 && store.byteCount <= bytes / 2)
        #expect(try await !store.entries(for: try key("a")).isEmpty)
        #expect(try await !store.entries(for: try key("d")).isEmpty)
        store.trim(toByteCount: 15_000)
        #expect(store.count == 1)
        store.yield(isCritical: true)
        #expect(store.count == 0 && store.byteCount == 0)
        #expect(try await store.snapshot(of: try key("x")).generation == generation, "What is under way may be stored.")
        try await put(store, try key("a"))
        #expect(store.count == 1)
    }

    @Test func nothingIsSeenBeforeTheCommitAndNothingAfterAnAbandon() async throws {
        let store = MemoryCacheStore()
        let first = try await store.write(response(), for: try key("a"), replacing: [], length: nil)
        try await first.append(Data("abc".utf8))
        #expect(try await store.entries(for: try key("a")).isEmpty)
        first.abandon()
        try await first.commit()
        #expect(store.count == 0 && store.byteCount == 0)
        try await put(store, try key("a"), "abc")
        let entry = try #require(try await store.entries(for: try key("a")).first)
        #expect(try await entry.body().data == Data("abc".utf8))
        #expect(try await entry.body(1..<2).data == Data("b".utf8))
        #expect(try await entry.body(2..<99).data == Data("c".utf8))
    }

    @Test func aWholeBodyIsStoredAsOneThatIsWritten() async throws {
        let store = MemoryCacheStore(entryByteLimit: 10)
        let key = try key("a")
        let body = Data("0123456789".utf8)
        try await store.store(body.dropFirst(2), of: response(), for: key)
        let first = try #require(try await store.entries(for: key).first)
        #expect(try await first.body().data == body[2...])
        try await store.store(body, of: response(), for: key)
        try await store.store(body, of: response("b"), for: key, replacing: [first.id])
        #expect(try await store.entries(for: key).map(\.length) == [10, 10])
        try await store.store(body, of: response("c"), for: key, replacing: store.entries(for: key).map(\.id))
        #expect(store.count == 1)
        await #expect(throws: CacheStoreError.self) { try await store.store(body + body, of: response(), for: key) }
    }

    // A validation in between may have changed the fields that select the entry.
    @Test func whatIsReplacedGoesWhateverItIsSelectedByMeanwhile() async throws {
        let store = MemoryCacheStore()
        let key = try key("a")
        try await store.store(Data("old".utf8), of: response("1"), for: key)
        let old = try #require(try await store.entries(for: key).first)
        try await store.update(old.id, of: key, to: response("2"))
        try await store.store(Data("new".utf8), of: response("1"), for: key, replacing: [old.id])
        #expect(try await store.get(key) == Data("new".utf8))
        #expect(store.count == 1)
    }

    @Test func keysOfTextsThatLookAlikeHaveHashesOfTheirOwn() throws {
        let (composed, decomposed) = (try key("a", "\u{E9}"), try key("a", "e\u{301}"))
        #expect(composed != decomposed)
        #expect(composed.hash != decomposed.hash)
        #expect(composed.hash == (try key("a", "\u{E9}")).hash)
    }

    @Test func aBodyIsKeptAsItWasOnlyIfEveryByteIsTheSame() async throws {
        let store = MemoryCacheStore()
        let key = try key("a")
        var bodies = ["0123456789", "0123456789", "0123456788", "012345678", "01234567890", ""].map { Data($0.utf8) }
        // A slice must not keep the whole buffer.
        bodies.append(Data("x0123456789y".utf8)[1..<11])
        var entries: [CacheEntry] = []
        for body in bodies {
            try await store.store(body, of: response(), for: key, replacing: entries.map(\.id))
            entries = try await store.entries(for: key)
            let found = try await entries[0].body().data
            #expect(entries.count == 1 && found == body && found?.startIndex == 0)
        }
    }

    /// Since the look-up, the entry may have been replaced or removed, or another variant added.
    @Test func anEntryThatIsNoLongerThereIsNotReplaced() async throws {
        let store = MemoryCacheStore()
        let (a, b) = (try key("a"), try key("b"))
        func bodies(_ key: CacheKey) async throws -> [String] {
            var bodies: [String] = []
            for entry in try await store.entries(for: key) {
                bodies.append(String(decoding: try await entry.body().data ?? Data(), as: UTF8.self))
            }
            return bodies
        }
        func put(_ body: String, _ key: CacheKey, after old: [CacheEntry] = [], _ variant: String = "") async throws {
            try await store.store(Data(body.utf8), of: response(variant), for: key, replacing: old.map(\.id))
        }
        try await put("1", a)
        let old = try await store.entries(for: a)
        try await store.remove(old.map(\.id), of: a)
        try await put("2", b)
        try await put("3", a, after: old)
        #expect(try await bodies(a) == ["3"])
        #expect(try await bodies(b) == ["2"])
        let only = try await store.entries(for: a)
        try await put("4", a, after: [], "x")
        try await put("5", a, after: only)
        #expect(try await bodies(a) == ["4", "5"])
        try await put("6", b, after: store.entries(for: b))
        #expect(try await bodies(b) == ["6"])
        #expect(store.count == 3)
    }

    @Test func ofManyVariantsOfAKeyTheOldestGo() async throws {
        let store = MemoryCacheStore()
        for index in 0..<40 { try await put(store, try key("a"), "x", "\(index)") }
        let kept = try await store.entries(for: try key("a")).compactMap { $0.response.selectingFields["A"] }
        #expect(kept == (24..<40).map { "\($0)" })
        try await put(store, try key("a"), "y", "30")
        let again = try await store.entries(for: try key("a")).compactMap { $0.response.selectingFields["A"] }
        #expect(again == kept.filter { $0 != "30" } + ["30"])
        try await store.remove(store.entries(for: try key("a")).prefix(15).map(\.id), of: try key("a"))
        #expect(store.count == 1)
        try await store.removeAll(of: try key("a"))
        #expect(store.count == 0 && store.byteCount == 0)
    }

    @Test func theLeastRecentlyUsedGoesFirst() async throws {
        let store = MemoryCacheStore(entryLimit: 2)
        try await put(store, try key("a"))
        try await put(store, try key("b"))
        _ = try await store.entries(for: try key("a"))
        try await put(store, try key("c"))
        #expect(try await Set(store.listing().map(\.key)) == [try key("a"), try key("c")])
    }

    @Test func theBytesAndEachEntryHaveALimit() async throws {
        let store = MemoryCacheStore(byteLimit: 10_000, entryByteLimit: 4_000)
        for index in 0..<20 { try await put(store, try key("\(index)"), String(repeating: "x", count: 3_000)) }
        #expect(store.byteCount <= 10_000 && store.count >= 2)
        await #expect(throws: CacheStoreError.self) {
            try await put(store, try key("long"), String(repeating: "x", count: 4_001))
        }
        await #expect(throws: CacheStoreError.self) {
            _ = try await store.write(response(), for: try key("long"), replacing: [], length: 4_001)
        }
        #expect(try await store.entries(for: try key("long")).isEmpty)
        try await store.removeAll()
        #expect(store.count == 0 && store.byteCount == 0)
    }

    @Test func nothingOfABodyThatWasTooLongIsEverStored() async throws {
        let store = MemoryCacheStore(entryByteLimit: 5)
        let writer = try await store.write(response(), for: try key("a"), replacing: [], length: nil)
        try await writer.append(Data("12345".utf8))
        let error = await #expect(throws: CacheStoreError.self) { try await writer.append(Data("6".utf8)) }
        #expect(error?.code == .bodyTooLarge)
        await #expect(throws: CacheStoreError.self) { try await writer.append(Data()) }
        #expect(try await writer.commit { _ in true } == false)
        #expect(store.count == 0 && store.byteCount == 0)
    }

    @Test func aWriteReplacesTheSameVariantAndThoseNamed() async throws {
        let store = MemoryCacheStore()
        for variant in ["1", "2", "1"] { try await put(store, try key("a"), "x", variant) }
        #expect(try await store.entries(for: try key("a")).count == 2)
        let ids = try await store.entries(for: try key("a")).map(\.id)
        let writer = try await store.write(response("3"), for: try key("a"), replacing: ids, length: nil)
        try await writer.commit()
        #expect(try await store.entries(for: try key("a")).map(\.response.selectingFields) == [["A": "3"]])
        for index in 0..<100 { try await put(store, try key("a"), "x", "v\(index)") }
        #expect(store.count == 16)
    }

    @Test func updatesOfWhatIsGoneChangeNothing() async throws {
        let store = MemoryCacheStore()
        try await put(store, try key("a"))
        let id = try #require(try await store.entries(for: try key("a")).first?.id)
        try await store.update(id, of: try key("b"), to: response("b"))
        try await store.update(id + 1, of: try key("a"), to: response("b"))
        #expect(try await store.entries(for: try key("a")).map(\.response) == [response()])
        try await store.update(id, of: try key("a"), to: response("new"))
        #expect(try await store.entries(for: try key("a")).map(\.response) == [response("new")])
    }

    @Test func removalIsByURLPrefixPartitionPredicateOrAll() async throws {
        let store = MemoryCacheStore()
        func fill() async throws {
            for path in ["a/1", "a/2", "ab", "b?q"] {
                for partition in ["", "u"] { try await put(store, try key(path, partition)) }
            }
        }
        func left() async throws -> [String] {
            try await store.listing().map { $0.key.text.replacingOccurrences(of: "https://a.example:443/", with: "") }
                .sorted()
        }
        try await fill()
        try await store.removeAll(url: try url("https://a.example/b?q"))
        #expect(try await left() == ["0::a/1", "0::a/2", "0::ab", "1:u:a/1", "1:u:a/2", "1:u:ab"])
        try await store.removeAll(prefix: try url("https://a.example/a/"), partition: "u")
        #expect(try await left() == ["0::a/1", "0::a/2", "0::ab", "1:u:ab"])
        try await store.removeAll(partition: "u")
        #expect(try await left() == ["0::a/1", "0::a/2", "0::ab"])
        try await store.removeAll { $0.key.url.hasSuffix("ab") }
        #expect(try await left() == ["0::a/1", "0::a/2"])
        try await store.removeAll()
        #expect(try await left().isEmpty)
    }

    @Test func keysEscapeTheirDelimitersAndHoldTheQuery() throws {
        func text(_ url: String, _ partition: String) throws -> String {
            try #require(CacheKey(url: try address(url), partition: partition)).text
        }
        #expect(try text("https://a.example/x", "1:u:https://") != text("https://a.example/x", "1"))
        #expect(try text("https://a.example/x?a", "") != text("https://a.example/x?b", ""))
        #expect(try text("https://a.example/x?", "") != text("https://a.example/x", ""))
        #expect(try text("https://a.example/x%3Fa", "") != text("https://a.example/x?a", ""))
        #expect(try text("HTTPS://A.example:443#top", "") == text("https://a.example/", ""))
        #expect(try text("http://a.example/", "") != text("https://a.example/", ""))
    }

    private func address(_ text: String) throws -> URL { try url(text) }

    @Test func manyTasksLeaveTheCountsRight() async throws {
        let store = MemoryCacheStore(byteLimit: 100_000, entryLimit: 50)
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<100 {
                group.addTask {
                    for step in 0..<20 {
                        guard let key = try? key("\((task * 7 + step) % 80)") else { continue }
                        try? await put(store, key, String(repeating: "x", count: step * 100))
                        if step % 5 == 0 { try? await store.removeAll(of: key) }
                        _ = try? await store.entries(for: key)
                    }
                }
            }
        }
        #expect(store.count <= 50 && store.byteCount <= 100_000)
        #expect(try await store.listing().count == store.count)
        try await store.removeAll()
        #expect(store.count == 0 && store.byteCount == 0)
    }

    @Test func theOrderOfUseIsThatOfAList() {
        var generator = SeededGenerator(seed: 3)
        var uses = RecentUse()
        var model: [Int] = []
        for _ in 0..<5_000 {
            let id = Int.random(in: 0..<30, using: &generator)
            model.removeAll { $0 == id }
            if Bool.random(using: &generator) {
                uses.use(id)
                model.append(id)
            } else {
                uses.remove(id)
            }
            #expect(uses.leastRecent == model.first && uses.count == model.count)
        }
    }
}
