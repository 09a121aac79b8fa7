import Foundation
import Interceptors
import Testing

@testable import InterceptorsMiddlewares

/// Bodies that are still being received.
@Suite(.againstHanging) struct DiskIncomingTests {
    private let directory = TemporaryDirectory()
    private let response = CachedResponse(status: 200, headers: [:], responseTime: 1)
    private let limit: Int64 = 4 << 20

    private func begin(_ store: DiskCacheStore, _ name: String) async throws -> any CacheWriter {
        try await store.write(response, for: try diskKey(name), replacing: [], length: nil)
    }

    /// Appends until `count` bytes are written or the store refuses more, and returns the number of bytes written.
    private func fill(_ writer: any CacheWriter, _ count: Int) async throws -> Int {
        for done in stride(from: 0, to: count, by: 100_000) {
            do { try await writer.append(Data(repeating: 7, count: 100_000)) } catch let error as CacheStoreError {
                #expect(error.code == .storeFull)
                return done
            }
            #expect(directory.byteCount() <= limit)
        }
        return count
    }

    @Test func bodiesUnderWayCountTowardsTheLimitAndWhatIsStoredMakesRoomForThem() async throws {
        let store = DiskCacheStore(at: directory.url, byteLimit: limit)
        for number in 0..<40 { try await store.put(Data(repeating: 1, count: 100_000), try diskKey("old\(number)")) }
        var (writers, full): ([any CacheWriter], Int) = ([], 0)
        for number in 0..<8 {
            let writer = try await begin(store, "\(number)")
            writers.append(writer)
            if try await fill(writer, 700_000) < 700_000 { full += 1 }
        }
        #expect(full > 0 && full < 8)
        #expect(try await store.usage().bytes > 0, "bodies that may never end don't drive everything out")
        for writer in writers { try await writer.commit() }
        #expect(directory.byteCount() <= limit && store.room.incoming.bytes == 0)
        #expect(try await store.listing().filter { $0.length == 700_000 }.count == 8 - full)
        // Bodies that were refused or stored no longer count as incoming.
        #expect(try await fill(try await begin(store, "again"), 700_000) == 700_000)
    }

    @Test func bodiesThatAnotherStoreReceivesCountToo() async throws {
        let stores = (0..<2).map { _ in DiskCacheStore(at: directory.url, byteLimit: limit) }
        let other = try await begin(stores[1], "other")
        #expect(try await fill(other, 1_000_000) == 1_000_000)
        let writers = [try await begin(stores[0], "a"), try await begin(stores[0], "b")]
        #expect(try await fill(writers[0], 800_000) == 800_000)
        #expect(try await fill(writers[1], 800_000) < 800_000)
        other.abandon()
        await stores[1].room.incoming.removeDiscarded()
        #expect(try await fill(try await begin(stores[0], "c"), 800_000) == 800_000)
    }

    @Test func abandonedFileIsRemovedInTheBackgroundAndCountsUntilThen() async throws {
        let store = DiskCacheStore(at: directory.url)
        let writer = try await begin(store, "a")
        try await writer.append(Data(repeating: 7, count: 200_000))
        let incoming = store.room.incoming
        incoming.queue.suspend()
        writer.abandon()
        #expect(directory.files().count == 1 && incoming.bytes >= 200_000)
        incoming.queue.resume()
        await incoming.removeDiscarded()
        #expect(directory.files().isEmpty && incoming.bytes == 0)
    }

    @Test func refusedBodyReachesItsReaderAndLeavesNothing() async throws {
        let store = DiskCacheStore(at: directory.url, byteLimit: limit)
        let hog = try await begin(store, "hog")
        let second = try await begin(store, "second")
        #expect(try await fill(hog, 1_000_000) + fill(second, 1_000_000) >= 1_800_000)
        let world = CacheWorld(store: store)
        world.answer(["Cache-Control: max-age=60"], String(repeating: "x", count: 500_000))
        #expect(try await world.send().utf8.count > 500_000)
        #expect(world.reported.count == 1 && world.reported[0].contains("storeFull"))
        #expect(try await world.store.listing().isEmpty)
    }

    @Test func limitIsInBlocksOfTheFileSystem() async throws {
        let store = DiskCacheStore(at: directory.url)
        for number in 0..<20 { try await store.put(Data("x".utf8), try diskKey("\(number)")) }
        let block = try DiskDirectory(in: directory.url).allocated(1)
        #expect(block >= 512)
        #expect(try await store.usage() == (20, 20 * block))
        let small = DiskCacheStore(at: directory.url, byteLimit: 10 * block)
        try await small.put(Data("x".utf8), try diskKey("more"))
        #expect(try await small.usage().entries <= 10)
    }
}
