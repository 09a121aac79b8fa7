#if os(Linux) || os(macOS)
import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// Removals that fail: nothing that a caller asked to remove is served afterwards (RFC 9111 §4.4).
@Suite(.againstHanging) struct DiskOwedRemovalTests {
    private let directory = TemporaryDirectory()

    /// Acquires the lock of a key's shard, as another process would.
    private func lock(_ name: DiskName) throws -> OpenedFile {
        let root = try OpenedFile.openDirectory(directory.cache.path)
        let shard = try OpenedFile.openDirectory(DiskName.directory(name.shard), in: root)
        #expect(shard.tryLock() == .locked)
        return shard
    }

    /// Looks a key up until its lookup has removed files, and only the given files remain.
    ///
    /// A process that another test starts holds this process's locks until it calls `exec`, so one lookup may not be enough.
    private func lookUp(_ key: CacheKey, in store: any CacheStore, until files: [String]) async throws {
        repeat { #expect(try await store.entries(for: key).isEmpty) } while directory.files() != files
    }

    @Test func entryIsAMissInEveryStoreOfTheProcessUntilItsFailedRemovalSucceeds() async throws {
        let stores = (0..<2).map { _ in DiskCacheStore(at: directory.url) }
        let (key, other) = (try diskKey("a"), try diskKey("b"))
        for key in [key, other] { try await stores[0].put(Data("old".utf8), key) }
        _ = try await stores[1].usage()
        var held: OpenedFile? = try lock(DiskName(key))
        let error = await #expect(throws: CacheStoreError.self) { try await stores[0].removeAll(of: key) }
        #expect(error?.code == .storeBusy)
        for store in stores {
            #expect(try await store.entries(for: key).isEmpty)
            #expect(try await store.get(other) == Data("old".utf8))
            #expect(try await store.listing().map(\.key) == [other])
        }
        #expect(directory.files().count == 2)
        withExtendedLifetime(held) {}
        held = nil
        try await lookUp(key, in: stores[1], until: [DiskName(other).path])
        try await stores[0].put(Data("new".utf8), key)
        for store in stores { #expect(try await store.get(key) == Data("new".utf8)) }
    }

    @Test func getIsAMissAfterADELETEThatCouldNotInvalidate() async throws {
        let world = CacheWorld(store: DiskCacheStore(at: directory.url))
        world.answer(["Cache-Control: max-age=60"], "old")
        _ = try await world.send()
        var held: OpenedFile? = try lock(DiskName(try diskKey("x", partition: "")))
        world.answer([])
        _ = try await world.send([], .delete)
        #expect(world.reported.count == 1 && world.reported[0].contains("storeBusy"))
        withExtendedLifetime(held) {}
        held = nil
        try await lookUp(try diskKey("x", partition: ""), in: world.store, until: [])
        world.answer(["Cache-Control: max-age=60"], "new")
        #expect(try await world.send() == "200 miss new")
        #expect(try await world.send() == "200 hit new age 0")
    }

    @Test func responseRequestedBeforeAFailedRemovalIsNotStored() async throws {
        let store = DiskCacheStore(at: directory.url)
        let key = try diskKey("a")
        try await store.put(Data("old".utf8), key)
        let generation = try await store.snapshot(of: key).generation
        let response = CachedResponse(status: 200, headers: [:], responseTime: 0)
        let writer = try await store.write(response, for: key, replacing: [], length: nil)
        var held: OpenedFile? = try lock(DiskName(key))
        await #expect(throws: CacheStoreError.self) { try await store.removeAll(of: key) }
        withExtendedLifetime(held) {}
        held = nil
        #expect(try await !writer.commit { $0 == generation })
        #expect(directory.files().isEmpty)
    }

    @Test(arguments: [false, true])
    func everyEntryOfAShardIsAMissAfterAClearFailedThere(isWhole: Bool) async throws {
        let store = DiskCacheStore(at: directory.url)
        let key = try diskKey("a")
        try await store.put(Data("old".utf8), key)
        var held: OpenedFile? = try lock(DiskName(key))
        await #expect(throws: CacheStoreError.self) {
            if isWhole { try await store.removeAll() } else { try await store.removeAll(partition: "p") }
        }
        #expect(try await store.entries(for: key).isEmpty)
        withExtendedLifetime(held) {}
        held = nil
        try await lookUp(key, in: store, until: [])
        try await store.put(Data("new".utf8), key)
        #expect(try await store.get(key) == Data("new".utf8))
    }

    @Test func owedRemovalsTakeBoundedMemoryAndNoneIsForgotten() throws {
        let removals = OwedRemovals<DiskName>()
        let names = try (0..<5_000).map { DiskName(try diskKey("\($0)")) }
        for name in names {
            removals.insert(name, in: name.shard)
            #expect(removals.count <= removals.limit)
        }
        #expect(names.allSatisfy { removals.contains($0, in: $0.shard) })
        for shard in UInt8.min...UInt8.max {
            if let debt = removals.debt(in: shard) { removals.settle(debt, in: shard, except: []) }
        }
        #expect(removals.count == 0 && !names.contains { removals.contains($0, in: $0.shard) })
    }

    // A record that can never be removed would otherwise keep every other record of its shard from being stored.
    @Test func aFailureChangesTheGenerationOnce() throws {
        let removals = OwedRemovals<DiskName>()
        let name = DiskName(try diskKey("a"))
        removals.insert(name, in: name.shard)
        for _ in 0..<2 {
            let debt = try #require(removals.debt(in: name.shard))
            #expect(debt.isUnannounced)
            removals.announce(debt, in: name.shard)
            removals.settle(debt, in: name.shard, except: [name])
            let rest = try #require(removals.debt(in: name.shard))
            #expect(!rest.isUnannounced)
            removals.insert(name, in: name.shard)
        }
    }

    @Test func storesOverALinkToADirectoryShareItsDebts() throws {
        let folder = try TemporaryFolder()
        let (real, link) = (folder.file("real"), folder.file("link"))
        try FileManager.default.createDirectory(at: real, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: real)
        let arrivals = DiskAccess.arrivals(in: real)
        #expect(DiskAccess.arrivals(in: link) === arrivals)
        #expect(DiskAccess.arrivals(in: folder.url) !== arrivals)
    }

    @Test func removalOwedSinceItsShardWasReadIsNotSettledWithTheEarlierOnes() throws {
        let removals = OwedRemovals<DiskName>()
        let name = DiskName(try diskKey("a"))
        let other = DiskName(shard: name.shard, file: "other")
        for isWhole in [false, true] {
            for name in [name, other] { removals.insert(name, in: name.shard) }
            let debt = try #require(removals.debt(in: name.shard))
            if isWhole { removals.insert(nil, in: name.shard) } else { removals.insert(name, in: name.shard) }
            removals.settle(debt, in: name.shard, except: [])
            #expect(removals.contains(name, in: name.shard) && removals.contains(other, in: other.shard) == isWhole)
            let rest = try #require(removals.debt(in: name.shard))
            removals.settle(rest, in: name.shard, except: isWhole ? [other] : [])
            #expect(!removals.contains(name, in: name.shard) && removals.contains(other, in: other.shard) == isWhole)
        }
    }

    @Test func variantThatCouldNotBeRemovedIsAMiss() async throws {
        let store = DiskCacheStore(at: directory.url)
        let key = try diskKey("a")
        try await store.put(Data("old".utf8), key)
        let ids = try await store.entries(for: key).map(\.id)
        let held = try lock(DiskName(key))
        await #expect(throws: CacheStoreError.self) { try await store.remove(ids, of: key) }
        #expect(try await store.entries(for: key).isEmpty)
        withExtendedLifetime(held) {}
    }
}

#if os(Linux)
/// Each test has a process for itself, because it takes the process's descriptors or rights away.
@Suite(.againstHanging) struct DiskOwedRemovalInAProcessTests {
    @Test func entryIsAMissAfterItsRemovalFoundNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let store = DiskCacheStore(at: directory.url)
            let key = try diskKey("a")
            try await store.put(Data("old".utf8), key)
            var taken: [Int32] = []
            while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 { taken.append(descriptor) }
            await #expect(throws: CacheStoreError.self) { try await store.removeAll(of: key) }
            for descriptor in taken { close(descriptor) }
            #expect(try await store.entries(for: key).isEmpty)
            #expect(directory.files().isEmpty)
        }
    }

    @Test func entryIsAMissWhileItsDirectoryIsReadOnlyAfterARemoval() async {
        await #expect(processExitsWith: .success) {
            // Nothing is read-only for root.
            #expect(ProcessLimits.giveUpRoot())
            let directory = TemporaryDirectory()
            let store = DiskCacheStore(at: directory.url)
            let key = try diskKey("a")
            try await store.put(Data("old".utf8), key)
            let shard = directory.path(DiskName.directory(DiskName(key).shard))
            for isWhole in [false, true] {
                #expect(chmod(shard, 0o500) == 0)
                await #expect(throws: CacheStoreError.self) {
                    if isWhole { try await store.removeAll() } else { try await store.removeAll(of: key) }
                }
                #expect(try await store.entries(for: key).isEmpty)
                // Nothing is stored beside an entry that can't be removed.
                await #expect(throws: CacheStoreError.self) { try await store.put(Data("new".utf8), key) }
                #expect(chmod(shard, 0o700) == 0)
                #expect(try await store.entries(for: key).isEmpty)
                #expect(directory.files().isEmpty)
                try await store.put(Data("old".utf8), key)
            }
        }
    }
}
#endif
#endif
