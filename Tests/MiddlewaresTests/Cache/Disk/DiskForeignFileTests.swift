import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

/// FIFOs and directories in place of the store's files, and bodies that are still being received.
@Suite(.againstHanging) struct DiskForeignFileTests {
    private let directory = TemporaryDirectory()
    private let long = Data(repeating: 7, count: 200_000)

    private func put(fifoAt path: String) {
        unlink(directory.path(path))
        #expect(mkfifo(directory.path(path), 0o600) == 0, "\(path)")
    }

    // MARK: FIFOs, directories

    @Test(.againstHanging, arguments: ["record", "body", "usage", "incoming", "new", "shard", "cache"])
    func aFIFOHangsNobodyAndIsReplaced(place: String) async throws {
        let key = try diskKey("x", partition: "")
        let name = DiskName(key)
        let shard = DiskName.directory(name.shard)
        let first = CacheWorld(store: DiskCacheStore(at: directory.url))
        let text = String(repeating: "x", count: 200_000)
        first.answer(["Cache-Control: max-age=60"], text)
        _ = try await first.send()
        switch place {
        case "record": put(fifoAt: name.path)
        case "body": put(fifoAt: try #require(directory.files().first { $0.contains(".") }))
        case "usage": put(fifoAt: "usage")
        case "incoming": put(fifoAt: "incoming/" + IncomingName.make())
        case "new": put(fifoAt: shard + "/.new")
        case "shard":
            try FileManager.default.removeItem(atPath: directory.path(shard))
            put(fifoAt: shard)
        default:
            try FileManager.default.removeItem(at: directory.cache)
            #expect(mkfifo(directory.cache.path, 0o600) == 0)
        }
        for world in [first, CacheWorld(store: DiskCacheStore(at: directory.url))] {
            world.answer(["Cache-Control: max-age=60"], text, times: 3)
            for _ in 0..<2 { #expect(try await world.send().hasPrefix("200 ")) }
            #expect(try await world.send([], .delete).hasPrefix("200 "))
            _ = try? await world.store.listing()
            try? await world.store.removeAll(partition: "ada")
        }
        guard place != "shard", place != "cache" else { return }
        let world = CacheWorld(store: DiskCacheStore(at: directory.url))
        world.answer(["Cache-Control: max-age=60"], text)
        #expect(try await world.send().hasPrefix("200 miss"))
        #expect(try await world.send().hasPrefix("200 hit"))
        #expect(world.reported == [])
    }

    @Test func aCommitThatFailsLeavesNeitherItsBodyNorItsSize() async throws {
        let store = DiskCacheStore(at: directory.url)
        let key = try diskKey("x")
        try await store.put(long, key)
        try await store.removeAll()
        // A record can't replace a directory that has files.
        let place = DiskName(key).path
        let nested = directory.cache.appending(path: place + "/file")
        try FileManager.default.createDirectory(
            at: nested.deletingLastPathComponent(),
            withIntermediateDirectories: true
        )
        try Data().write(to: nested)
        for body in [long, Data("short".utf8)] {
            await #expect(throws: CacheStoreError.self) { try await store.put(body, key) }
            #expect(directory.files() == [place, place + "/file"])
            #expect(try await store.usage() == (0, 0))
        }
    }

    @Test func aNameThatCantBeRemovedStopsNoClearing() async throws {
        let store = DiskCacheStore(at: directory.url)
        let keys = try (0..<300).map { try diskKey("\($0)") }
        for key in keys { try await store.put(Data("one".utf8), key) }
        let shards = Set(keys.map { DiskName($0).shard })
        for shard in shards {
            let path = DiskName.directory(shard) + "/" + String(repeating: "0", count: DiskName.length)
            let nested = directory.cache.appending(path: path + "/file")
            try FileManager.default.createDirectory(
                at: nested.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data().write(to: nested)
        }
        await #expect(throws: CacheStoreError.self) { try await store.removeAll() }
        #expect(directory.files().count == 2 * shards.count)
        #expect(try await store.listing().isEmpty)
        #expect(try await store.usage() == (0, 0))
    }

    @Test func aNameThatCantBeRemovedUndoesNothingThatIsStored() async throws {
        let store = DiskCacheStore(at: directory.url, entryLimit: 16)
        for shard in 0..<256 {
            let path = DiskName.directory(UInt8(shard)) + "/" + String(repeating: "0", count: DiskName.length)
            let nested = directory.cache.appending(path: path + "/file")
            let folder = nested.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data().write(to: nested)
        }
        let world = CacheWorld(store: store)
        for number in 0..<40 {
            world.answer(["Cache-Control: max-age=60"], "one")
            #expect(try await world.send(path: "\(number)") == "200 miss one")
            #expect(try await world.send(path: "\(number)") == "200 hit one age 0")
        }
    }

    @Test func anEmptyDirectoryInThePlaceOfAnEntryIsRemoved() async throws {
        let name = DiskName(try diskKey("x", partition: ""))
        let world = CacheWorld(store: DiskCacheStore(at: directory.url))
        world.answer(["Cache-Control: max-age=60"], "one", times: 2)
        _ = try await world.send()
        unlink(directory.path(name.path))
        try FileManager.default.createDirectory(atPath: directory.path(name.path), withIntermediateDirectories: false)
        #expect(try await world.send() == "200 miss one")
        #expect(try await world.send() == "200 hit one age 0")
    }

    @Test func aUsageOfZerosIsCountedAnew() async throws {
        let store = DiskCacheStore(at: directory.url)
        for number in 0..<20 { try await store.put(long, try diskKey("\(number)")) }
        let usage = try await store.usage()
        try Data(count: 6_144).write(to: directory.cache.appending(path: "usage"))
        #expect(try await DiskCacheStore(at: directory.url).usage() == usage)
    }

    // MARK: Bodies on their way

    @Test func aBodyOnItsWayHoldsNoLock() async throws {
        let store = DiskCacheStore(at: directory.url)
        let response = CachedResponse(status: 200, headers: [:], responseTime: 1)
        let writer = try await store.write(response, for: try diskKey("a"), replacing: [], length: nil)
        try await writer.append(long)
        let path = try #require(directory.files().first { $0.hasPrefix("incoming/") })
        let root = try OpenedFile.openDirectory(directory.cache.path)
        #expect(try OpenedFile.openOwn(path, in: root).tryLock() == .locked)
        // Another store that opens meanwhile doesn't take the body for a leftover.
        _ = try await DiskCacheStore(at: directory.url).usage()
        try await writer.commit()
        #expect(try await store.get(try diskKey("a")) == long)
        #expect(!directory.files().contains { $0.hasPrefix("incoming/") })
    }

    @Test func aBodyThatWasTakenForALeftoverIsNotStoredAndReported() async throws {
        let store = DiskCacheStore(at: directory.url)
        let key = try diskKey("a")
        try await store.put(Data("old".utf8), key)
        let response = CachedResponse(status: 200, headers: [:], responseTime: 1)
        let writer = try await store.write(response, for: key, replacing: [], length: nil)
        try await writer.append(long)
        unlink(directory.path(try #require(directory.files().first { $0.hasPrefix("incoming/") })))
        await #expect(throws: CacheStoreError.self) { try await writer.commit() }
        #expect(try await store.get(key) == Data("old".utf8))
    }

    #if os(Linux) || os(macOS)
    @Test func leftoversAreToldByTheProcessThatWroteThem() throws {
        let mine = IncomingName.make()
        let parts = mine.split(separator: "-").map(String.init)
        let ended = try ChildProcess("/bin/true", [])
        func name(host: String? = nil, process: String? = nil, run: String? = nil) -> String {
            [host ?? parts[0], process ?? parts[1], run ?? parts[2], parts[3]].joined(separator: "-")
        }
        let second: Int64 = 1_000_000_000
        #expect(!IncomingName.isLeftover(mine, age: second))
        #expect(IncomingName.isLeftover(name(run: "0"), age: second), "an earlier process of the same number")
        #expect(!IncomingName.isLeftover(name(process: String(getppid(), radix: 16)), age: second))
        #expect(!IncomingName.isLeftover(name(host: "0", process: "7fffffff"), age: second), "of another machine")
        #expect(IncomingName.isLeftover(name(process: "7ffffff0"), age: second), "no such process")
        for age in [IncomingName.patience + 1, -IncomingName.patience - 1] {
            #expect(IncomingName.isLeftover(mine, age: age))
            #expect(IncomingName.isLeftover(name(host: "0"), age: age))
        }
        for text in ["dead", "", "a-b", "a-x-c-d", "a-0-c-d"] {
            #expect(IncomingName.isLeftover(text, age: second))
        }
        withExtendedLifetime(ended) {}
    }
    #endif
}

#if os(Linux)
/// An entry that can't be opened now, as on a locked device, isn't lost.
@Suite(.againstHanging) struct DiskUnavailableFileTests {
    @Test func anEntryThatCantBeOpenedNowIsKeptWithItsBody() async {
        await #expect(processExitsWith: .success) {
            // Root can open every file, so the test gives up root.
            #expect(ProcessLimits.giveUpRoot())
            let directory = TemporaryDirectory()
            let (key, long) = (try diskKey("x"), Data(repeating: 7, count: 200_000))
            let first = DiskCacheStore(at: directory.url)
            try await first.put(long, key)
            let usage = try await first.usage()
            let record = directory.path(DiskName(key).path)
            #expect(chmod(record, 0) == 0)
            // Without its counts, the store sweeps every shard.
            unlink(directory.path("usage"))
            let store = DiskCacheStore(at: directory.url)
            #expect(try await store.usage() == usage)
            func isUnavailable(_ body: () async throws -> Void) async -> Bool {
                do {
                    try await body()
                    return false
                } catch {
                    return (error as? CacheStoreError)?.code == .storeUnavailable
                }
            }
            #expect(await isUnavailable { _ = try await store.entries(for: key) })
            #expect(await isUnavailable { _ = try await store.listing() })
            #expect(await isUnavailable { try await store.put(Data("new".utf8), key) })
            #expect(chmod(record, 0o600) == 0)
            #expect(try await store.get(key) == long)
            #expect(chmod(record, 0) == 0)
            #expect(
                await isUnavailable { try await store.removeAll(partition: "p") },
                "a sign-out must not be taken for done"
            )
            #expect(chmod(record, 0o600) == 0)
            #expect(try await store.entries(for: key).isEmpty)
            #expect(directory.files().isEmpty)
        }
    }

    @Test func atTheLimitOfOpenFilesNothingIsTakenForLost() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let world = CacheWorld(store: DiskCacheStore(at: directory.url))
            let text = String(repeating: "x", count: 200_000)
            world.answer(["Cache-Control: max-age=60"], text, times: 20)
            _ = try await world.send()
            var taken: [Int32] = []
            while case let descriptor = open("/dev/null", O_RDONLY), descriptor >= 0 { taken.append(descriptor) }
            // With no, one, two, three descriptors left.
            for _ in 0..<4 {
                #expect(try await world.send().hasPrefix("200 "))
                _ = try? await world.store.listing()
                _ = try? await world.store.update(
                    1,
                    of: try diskKey("x"),
                    to: CachedResponse(status: 200, headers: [:], responseTime: 1)
                )
                if let descriptor = taken.popLast() { close(descriptor) }
            }
            for descriptor in taken { close(descriptor) }
            #expect(world.reported.contains { $0.contains("storeUnavailable") })
            #expect(try await world.send().hasPrefix("200 hit"))
        }
    }
}
#endif
