import Foundation
import Interceptors
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct DiskCacheStoreTests {
    private let directory = TemporaryDirectory()

    private var store: DiskCacheStore { DiskCacheStore(at: directory.url) }

    private func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
        var generator = SeededGenerator(seed: seed)
        return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: generator.next()) })
    }

    // MARK: What is kept

    @Test(arguments: [0, 1, 2_000, 65_535, 65_536, 65_537, 131_072, 131_073, 1_000_000])
    func aBodyOfAnyLengthIsGivenBackWhollyAndInParts(count: Int) async throws {
        let body = bytes(count)
        try await store.put(body, try diskKey("a"))
        // Another store, so that nothing depends on the first one's memory.
        #expect(try await store.get(try diskKey("a")) == body)
        let entry = try #require(try await store.entries(for: try diskKey("a")).first)
        #expect(entry.length == Int64(count))
        for (from, to) in [
            (0, 1), (1, count), (count / 2, count), (65_535, 65_537), (65_536, 131_072), (1, 131_072), (0, count),
        ]
        where from <= to && to <= count {
            let part = try await entry.body(Int64(from)..<Int64(to)).collect(upTo: 1 << 30)
            #expect(part == body[from..<to])
            let inMemory = try await entry.collected(Int64(from)..<Int64(to), upTo: count)
            #expect(inMemory.data == body[from..<to])
        }
    }

    @Test func everyPartOfAResponseIsGivenBack() async throws {
        let response = CachedResponse(
            status: try #require(HTTPResponse.Status(code: 299, reasonPhrase: "Odd")),
            headers: ["Set-Cookie": "a", "set-cookie": "b", "X-Empty": "", "X-Text": "é\u{1F600}"],
            selectingFields: ["Accept": "x"],
            initialAge: 7,
            responseTime: -5,
            needsValidation: true
        )
        let writer = try await store.write(response, for: try diskKey("a"), replacing: [], length: 0)
        try await writer.commit()
        let read = try #require(try await store.entries(for: try diskKey("a")).first).response
        #expect(read == response && read.status.reasonPhrase == "Odd")
        #expect(read.headers.map(\.name.rawName) == ["Set-Cookie", "set-cookie", "X-Empty", "X-Text"])
    }

    @Test func variantsOfAKeyAreKeptSideBySide() async throws {
        let key = try diskKey("a")
        for number in 0..<20 {
            try await store.put(bytes(number * 20_000), key, ["N": "\(number)"], selecting: ["N": "\(number)"])
        }
        let entries = try await store.entries(for: key)
        #expect(entries.map { $0.response.headers["N"] } == (4..<20).map { "\($0)" }, "the 16 youngest")
        for (entry, number) in zip(entries, 4...) {
            #expect(try await entry.body().collect(upTo: 1 << 20) == bytes(number * 20_000))
        }
        try await store.put(bytes(5), key, ["N": "new"], selecting: ["N": "7"])
        #expect(try await store.entries(for: key).filter { $0.response.headers["N"] == "7" }.isEmpty)
        try await store.remove([entries[0].id, entries[19 - 4].id], of: key)
        #expect(try await store.entries(for: key).count == 14)
        #expect(try await store.usage().bytes == Int64(directory.byteCount()))
        try await store.removeAll(of: key)
        #expect(directory.files().isEmpty)
        #expect(try await store.usage() == (0, 0))
    }

    @Test(arguments: [100, 300_000])
    func anUpdateGivesNewMetadataToTheSameBody(count: Int) async throws {
        let key = try diskKey("a")
        try await store.put(bytes(count), key)
        let entry = try #require(try await store.entries(for: key).first)
        var response = entry.response
        response.headers["X"] = "new"
        try await store.update(entry.id, of: key, to: response)
        try await store.update(entry.id &+ 1, of: key, to: entry.response)
        let new = try #require(try await store.entries(for: key).first)
        #expect(new.response == response && new.id == entry.id)
        #expect(try await new.body().collect(upTo: 1 << 20) == bytes(count))
        try await store.removeAll(of: key)
        try await store.update(entry.id, of: key, to: response)
        #expect(try await store.entries(for: key).isEmpty, "an update brings nothing back")
    }

    @Test func nothingIsSeenBeforeTheCommitAndNothingRemainsOfAnAbandonedBody() async throws {
        for count in [10, 200_000] {
            let store = store
            let writer = try await store.write(
                CachedResponse(status: 200, headers: [:], responseTime: 0),
                for: try diskKey("a"),
                replacing: [],
                length: nil
            )
            try await writer.append(bytes(count))
            #expect(try await store.entries(for: try diskKey("a")).isEmpty)
            writer.abandon()
            try await writer.commit()
            await store.room.incoming.removeDiscarded()
            #expect(directory.files().isEmpty)
        }
    }

    @Test func anEntryThatIsReadWhileItIsRemovedIsReadToItsEnd() async throws {
        let key = try diskKey("a")
        try await store.put(bytes(500_000), key)
        let entry = try #require(try await store.entries(for: key).first)
        let body = try await entry.body()
        try await store.removeAll()
        #expect(try await body.collect(upTo: 1 << 20) == bytes(500_000))
    }

    @Test func whatIsBeingStoredWhileTheStoreIsClearedIsNotKept() async throws {
        for store in [store as any CacheStore, MemoryCacheStore()] {
            let response = CachedResponse(status: 200, headers: [:], responseTime: 0)
            let generation = try await store.snapshot(of: try diskKey("a")).generation
            let writer = try await store.write(response, for: try diskKey("a"), replacing: [], length: nil)
            try await store.removeAll(partition: "somebody")
            #expect(try await !writer.commit { $0 == generation })
            #expect(try await store.listing().isEmpty)
        }
    }

    // The writer checked before the clear and writes after it. Its lock on the shard makes the clear wait.
    @Test func clearingWaitsForWhoIsWriting() async throws {
        let keys = try (0..<50).map { try diskKey("\($0)") }.sorted { DiskName($0).shard < DiskName($1).shard }
        let (early, late) = (keys[0], keys[49])
        let name = DiskName(late)
        try #require(DiskName(early).shard < name.shard)
        for key in [early, late] { try await store.put(Data("old".utf8), key) }
        let root = try DiskDirectory(in: directory.url)
        var shard: OpenedFile? = try OpenedFile.openDirectory(DiskName.directory(name.shard), in: root.root)
        #expect(shard?.tryLock() == .locked)
        let (began, continuation) = AsyncStream<Void>.makeStream()
        let clearing = Task { [store] in
            try await store.removeAll { _ in
                continuation.yield()
                return true
            }
        }
        for await _ in began { break }
        let response = CachedResponse(status: 200, headers: [:], responseTime: 2)
        if let shard {
            let locked = LockedShard(shard: name.shard, files: shard, directory: root)
            let content = DiskRecord.Variant.Content.inline(Array("new".utf8)[...])
            let new = DiskRecord.Variant(id: 9, response: response, length: 3, content: content)
            let record = DiskRecord(key: late, variants: [new])
            try locked.change(try locked.old(name), name, to: record, stamp: 0)
        }
        shard = nil
        try await clearing.value
        #expect(try await store.listing().isEmpty)
    }

    @Test func clearingByURLPrefixPartitionAndWholly() async throws {
        for store in [store as any CacheStore, MemoryCacheStore()] {
            for (name, partition) in [("a", "1"), ("a", "2"), ("a/b", "1"), ("c", "1"), ("d", "2")] {
                try await store.put(Data("x".utf8), try diskKey(name, partition: partition))
            }
            func rest() async throws -> [String] {
                try await store.listing().map { "\($0.key.partition)\($0.key.url.dropFirst(21))" }.sorted()
            }
            #expect(try await rest() == ["1/a", "1/a/b", "1/c", "2/a", "2/d"])
            try await store.removeAll(url: try url("https://a.example/a"), partition: "1")
            #expect(try await rest() == ["1/a/b", "1/c", "2/a", "2/d"])
            try await store.removeAll(prefix: try url("https://a.example/a"))
            #expect(try await rest() == ["1/c", "2/d"])
            try await store.removeAll(partition: "2")
            #expect(try await rest() == ["1/c"])
            try await store.removeAll { $0.response.status == 404 }
            #expect(try await rest() == ["1/c"])
            try await store.removeAll()
            #expect(try await rest().isEmpty)
        }
    }

    // MARK: Limits

    @Test func theLeastRecentlyUsedGoesFirstAlsoAfterARestart() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 1_000))
        func open() -> DiskCacheStore {
            DiskCacheStore(at: directory.url, entryLimit: 3, time: TimeSource(now: { time.withLock { $0 } }))
        }
        let first = open()
        for name in ["a", "b", "c"] { try await first.put(Data(), try diskKey(name)) }
        _ = try await first.entries(for: try diskKey("a"))
        try await first.put(Data(), try diskKey("d"))
        #expect(try await first.entries(for: try diskKey("b")).isEmpty, "in the same moment, by the order of use")
        #expect(try await first.usage().entries == 3)
        // In order of use: c, a, d. The next use of c comes so much later that the store must update the file's time.
        time.withLock { $0 += 100 }
        _ = try await first.entries(for: try diskKey("c"))
        let second = open()
        try await second.put(Data(), try diskKey("e"))
        #expect(try await second.entries(for: try diskKey("a")).isEmpty)
        #expect(try await second.entries(for: try diskKey("c")).count == 1)
    }

    @Test func filesOfARunWithTheClockAheadGoFirst() async throws {
        let time = Mutex(Date(timeIntervalSince1970: 1_000_000))
        func open() -> DiskCacheStore {
            DiskCacheStore(at: directory.url, entryLimit: 40, time: TimeSource(now: { time.withLock { $0 } }))
        }
        let ahead = open()
        for number in 0..<40 { try await ahead.put(Data(), try diskKey("ahead\(number)")) }
        time.withLock { $0 -= 500_000 }
        let store = open()
        for number in 0..<30 {
            try await store.put(Data(), try diskKey("\(number)"))
            #expect(try await store.entries(for: try diskKey("\(number)")).count == 1, "entry \(number)")
        }
        for number in 0..<30 { #expect(try await store.entries(for: try diskKey("\(number)")).count == 1) }
        // Within one process the order of use decides, whatever the clock does.
        time.withLock { $0 -= 100_000 }
        for number in 0..<10 { try await store.put(Data(), try diskKey("later\(number)")) }
        for number in 0..<10 { #expect(try await store.entries(for: try diskKey("later\(number)")).count == 1) }
    }

    @Test func theSizeStaysWithinItsLimit() async throws {
        let store = DiskCacheStore(at: directory.url, byteLimit: 1_000_000)
        var generator = SeededGenerator(seed: 5)
        for number in 0..<200 {
            try await store.put(bytes(Int.random(in: 0..<200_000, using: &generator)), try diskKey("\(number % 90)"))
            let usage = try await store.usage()
            #expect(usage.bytes <= 1_000_000)
            if number % 20 == 0 { #expect(usage.bytes == Int64(directory.byteCount())) }
        }
        #expect(try await store.usage().bytes > 500_000)
    }

    @Test func aBodyBeyondTheLimitOfAnEntryIsRefused() async throws {
        let store = DiskCacheStore(at: directory.url, entryByteLimit: 100_000)
        let response = CachedResponse(status: 200, headers: [:], responseTime: 0)
        await #expect(throws: CacheStoreError.self) {
            _ = try await store.write(response, for: try diskKey("a"), replacing: [], length: 100_001)
        }
        let writer = try await store.write(response, for: try diskKey("a"), replacing: [], length: nil)
        try await writer.append(bytes(100_000))
        await #expect(throws: CacheStoreError.self) { try await writer.append(bytes(1)) }
        try await writer.commit()
        #expect(directory.files().isEmpty)
    }

    // With many entries, eviction looks only at samples.
    @Test func amongManyEntriesTheOldGo() async throws {
        let store = DiskCacheStore(at: directory.url, entryLimit: 9_000)
        for number in 0..<9_300 { try await store.put(Data(), try diskKey("\(number)")) }
        let numbers = Set(try await store.listing().compactMap { Int($0.key.url.dropFirst(22)) })
        #expect(numbers.count <= 9_000 && numbers.count > 8_200)
        #expect(numbers.isSuperset(of: 1_000..<9_300), "none but of the oldest tenth has gone")
    }
}
