import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// A cleaner removes single files that the stores over a directory share, while a store holds them open.
@Suite(.againstHanging) struct DiskSharedFileTests {
    private let directory = TemporaryDirectory()
    private let response = CachedResponse(status: 200, headers: [:], responseTime: 0)

    private func remove(_ file: String) throws { try FileManager.default.removeItem(atPath: directory.path(file)) }

    // The writer's store has the removed file open; the store that invalidates has another one, of the same name.
    @Test(arguments: [10, 200_000])
    func commitIsRefusedAfterTheGenerationsWereLostAndAnotherStoreInvalidated(count: Int) async throws {
        let (store, key) = (DiskCacheStore(at: directory.url), try diskKey("a"))
        let generation = try await store.snapshot(of: key).generation
        let writer = try await store.write(response, for: key, replacing: [], length: nil)
        try await writer.append(Data(repeating: 7, count: count))
        try remove("generations")
        let other = DiskCacheStore(at: directory.url)
        try await other.removeAll(of: key)
        let isStored = (try? await writer.commit { $0 == generation }) ?? false
        #expect(!isStored)
        for store in [store, other] { #expect(try await store.entries(for: key).isEmpty) }
        // The next request stores again.
        let next = try await store.snapshot(of: key).generation
        let again = try await store.write(response, for: key, replacing: [], length: nil)
        #expect(try await again.commit { $0 == next })
    }

    @Test func invalidationAfterTheGenerationsWereLostIsSeenByEveryStore() async throws {
        let (store, key) = (DiskCacheStore(at: directory.url), try diskKey("a"))
        _ = try await store.snapshot(of: key)
        try remove("generations")
        let other = DiskCacheStore(at: directory.url)
        let generation = try await other.snapshot(of: key).generation
        let writer = try await other.write(response, for: key, replacing: [], length: nil)
        try await store.removeAll(of: key)
        #expect(try await !writer.commit { $0 == generation })
        #expect(try await other.entries(for: key).isEmpty)
    }

    @Test func lostUsageIsUnknownAlsoIfTheProcessThatRecreatedItEndedBeforeItCounted() async throws {
        let store = DiskCacheStore(at: directory.url)
        for number in 0..<20 { try await store.put(Data(repeating: 1, count: 9_000), try diskKey("\(number)")) }
        let usage = try await store.usage()
        try remove("usage")
        _ = try DiskDirectory(in: directory.url)
        #expect(try await DiskCacheStore(at: directory.url).usage() == usage)
    }

    @Test func storeThatHeldALostUsageOpenCountsInTheNewOne() async throws {
        let store = DiskCacheStore(at: directory.url)
        try await store.put(Data("x".utf8), try diskKey("a"))
        try remove("usage")
        let other = DiskCacheStore(at: directory.url)
        #expect(try await other.usage().entries == 1)
        for name in ["b", "c"] { try? await store.put(Data("x".utf8), try diskKey(name)) }
        for store in [store, other] {
            let usage = try await store.usage()
            #expect(usage.entries == 3 && usage.bytes == Int64(directory.byteCount()))
        }
    }

    #if os(Linux)
    @Test func entryOfALongRecordKeepsNoDescriptorOpen() async throws {
        let (store, key) = (DiskCacheStore(at: directory.url), try diskKey("a"))
        let bodies = (0..<4).map { Data(repeating: UInt8($0), count: 60_000) }
        for (number, body) in bodies.enumerated() { try await store.put(body, key, selecting: ["N": "\(number)"]) }
        let entries = try await store.entries(for: key)
        let open = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").filter { descriptor in
            let path = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + descriptor)
            return path?.hasPrefix(directory.path(DiskName(key).path)) ?? false
        }
        #expect(open == [])
        for (entry, body) in zip(entries, bodies) {
            #expect(try await entry.body().collect(upTo: 1 << 20) == body)
        }
        // A body that was moved by a change of its record is found, and a replaced one too.
        try await store.remove([entries[0].id], of: key)
        try await store.put(bodies[0], key, selecting: ["N": "3"])
        #expect(try await entries[3].body().collect(upTo: 1 << 20) == bodies[3])
    }
    #endif
}
