import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct DiskFaultTests {
    private let directory = TemporaryDirectory()

    private func damage(_ file: String, _ change: (inout Data) -> Void) throws {
        let url = directory.cache.appending(path: file)
        var data = try Data(contentsOf: url)
        change(&data)
        try data.write(to: url)
    }

    /// The body that a look-up finds, or `nil`. The only error that a look-up may throw here is `damaged`; then
    /// `isReported` is true.
    private func read(_ store: DiskCacheStore, _ key: CacheKey) async throws -> (body: Data?, isReported: Bool) {
        do {
            guard let entry = try await store.entries(for: key).first else { return (nil, false) }
            return (try await entry.body().collect(upTo: 1 << 20), false)
        } catch let error as CacheStoreError where error.code == .entryDamaged {
            return (nil, true)
        }
    }

    @Test(arguments: [100, 200_000])
    func aFlippedBitOrALostEndIsAMissAndReported(count: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(count))
        let store = DiskCacheStore(at: directory.url)
        let key = try diskKey("a")
        let body = Data((0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) })
        for round in 0..<150 {
            try await store.put(body, key, ["ETag": "\"x\"", "Cache-Control": "max-age=60"])
            let file = generator.oneOf(directory.files())
            try damage(file) { data in
                let place = Int.random(in: 0..<data.count, using: &generator)
                switch round % 3 {
                case 0: data[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
                case 1: data = data.prefix(place)
                default: data.append(0)
                }
            }
            let (found, isReported) = try await read(store, key)
            #expect(found == nil && isReported, "round \(round)")
            try await store.removeAll(of: key)
        }
        #expect(try await store.usage() == (0, 0))
    }

    @Test func aDamagedRecordIsRemovedAndTheRequestGoesOn() async throws {
        for count in [100, 200_000] {
            let world = CacheWorld(store: DiskCacheStore(at: directory.url))
            world.answer(["Cache-Control: max-age=60"], String(repeating: "x", count: count), times: 2)
            _ = try await world.send()
            let file = try #require(directory.files().max { directory.path($0).count < directory.path($1).count })
            try damage(file) { $0[$0.count / 2] ^= 4 }
            #expect(try await world.send().hasPrefix("200 miss xxx"))
            #expect(world.reported.count == 1 && world.reported[0].contains("damaged"))
            #expect(try await world.send().hasPrefix("200 hit xxx"))
            try await world.store.removeAll()
        }
    }

    @Test func aRecordUnderTheNameOfAnotherKeyIsNotItsAnswer() async throws {
        let store = DiskCacheStore(at: directory.url)
        try await store.put(Data("a".utf8), try diskKey("a"))
        let (mine, other) = (DiskName(try diskKey("a")), DiskName(try diskKey("b")))
        try? FileManager.default.createDirectory(
            atPath: directory.path(DiskName.directory(other.shard)),
            withIntermediateDirectories: true
        )
        try FileManager.default.copyItem(atPath: directory.path(mine.path), toPath: directory.path(other.path))
        #expect(try await store.entries(for: try diskKey("b")).isEmpty)
        try await store.put(Data("b".utf8), try diskKey("b"))
        #expect(try await store.get(try diskKey("b")) == Data("b".utf8))
    }

    @Test func aVanishedDirectoryIsMadeAgain() async throws {
        let world = CacheWorld(store: DiskCacheStore(at: directory.url))
        world.answer(["Cache-Control: max-age=60"], "one", times: 2)
        _ = try await world.send()
        try FileManager.default.removeItem(at: directory.url)
        #expect(try await world.send() == "200 miss one")
        #expect(try await world.send() == "200 hit one age 0")
    }

    @Test func aDirectoryThatVanishesUnderABodyOnItsWayIsReported() async throws {
        let world = CacheWorld(store: DiskCacheStore(at: directory.url))
        let chunk = Data(repeating: 7, count: 100_000)
        world.stub.enqueue(.stream([chunk, chunk], headers: fields(["Cache-Control: max-age=60"])))
        let response = try await world.chain.send(try world.request(streamed: true))
        var count = 0
        for try await part in response.body {
            if count == 0 { try FileManager.default.removeItem(at: directory.url) }
            count += part.count
        }
        #expect(count == 200_000 && world.reported.count == 1)
    }

    @Test func aDirectoryThatCantBeMadeFailsNoRequest() async throws {
        try Data("a file".utf8).write(to: directory.url)
        let world = CacheWorld(store: DiskCacheStore(at: directory.url))
        world.answer(["Cache-Control: max-age=60"], "one", times: 3)
        for _ in 0..<3 { #expect(try await world.send() == "200 miss one") }
        #expect(world.reported.allSatisfy { $0.contains("storeUnavailable") } && world.reported.count >= 3)
    }

    @Test func aLinkIsNeverFollowed() async throws {
        let files = FileManager.default
        let elsewhere = TemporaryDirectory()
        try files.createDirectory(at: elsewhere.url, withIntermediateDirectories: true)
        try files.createDirectory(at: directory.url, withIntermediateDirectories: true)
        // A link in place of the cache's directory.
        try files.createSymbolicLink(at: directory.cache, withDestinationURL: elsewhere.url)
        let world = CacheWorld(store: DiskCacheStore(at: directory.url))
        world.answer(["Cache-Control: max-age=60"], "one", times: 4)
        #expect(try await world.send() == "200 miss one")
        #expect(world.reported.allSatisfy { $0.contains("storeUnavailable") } && !world.reported.isEmpty)
        // A link in place of a record.
        try files.removeItem(at: directory.cache)
        #expect(try await world.send() == "200 miss one")
        let record = directory.cache.appending(path: try #require(directory.files().first))
        let secret = elsewhere.url.appending(path: "secret")
        try files.moveItem(at: record, to: secret)
        try files.createSymbolicLink(at: record, withDestinationURL: secret)
        let before = try Data(contentsOf: secret)
        #expect(try await world.send() == "200 miss one")
        #expect(try await world.send() == "200 hit one age 0")
        // A link in place of a shard.
        let shard = record.deletingLastPathComponent()
        try files.removeItem(at: shard)
        try files.createSymbolicLink(at: shard, withDestinationURL: elsewhere.url)
        #expect(try await world.send() == "200 miss one")
        #expect(try files.contentsOfDirectory(atPath: elsewhere.url.path) == ["secret"])
        #expect(try Data(contentsOf: secret) == before)
    }

    @Test func aDirectoryThatOthersCouldReadIsClosedToThem() async throws {
        try FileManager.default.createDirectory(
            at: directory.cache,
            withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755]
        )
        try await DiskCacheStore(at: directory.url).put(Data(), try diskKey("a"))
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.cache.path)
        #expect(attributes[.posixPermissions] as? Int == 0o700)
    }

    @Test func nobodyElseCanReadAndNoNameTellsAnything() async throws {
        let store = DiskCacheStore(at: directory.url)
        try await store.put(
            Data(repeating: 1, count: 200_000),
            try diskKey("../../../secret?token=abc", partition: "../ada")
        )
        let all = try FileManager.default.subpathsOfDirectory(atPath: directory.url.path) + [""]
        for path in all {
            let attributes = try FileManager.default.attributesOfItem(atPath: directory.url.appending(path: path).path)
            let isDirectory = attributes[.type] as? FileAttributeType == .typeDirectory
            #expect(attributes[.posixPermissions] as? Int == (isDirectory ? 0o700 : 0o600), "\(path)")
            #expect(!path.contains("secret") && !path.contains("ada") && !path.contains("token"))
        }
        #expect(directory.files().count == 2)
    }

    @Test func alienFilesAreLeftAloneAndOrphansRemoved() async throws {
        let store = DiskCacheStore(at: directory.url, entryLimit: 1)
        try await store.put(Data(repeating: 1, count: 100_000), try diskKey("a"))
        let body = try #require(directory.files().first { $0.contains(".") })
        let name = DiskName(try diskKey("a"))
        let orphan = DiskName.directory(name.shard) + "/" + name.body(1)
        let alien = DiskName.directory(name.shard) + "/README"
        for file in [orphan, alien, "incoming/dead"] {
            try FileManager.default.copyItem(atPath: directory.path(body), toPath: directory.path(file))
        }
        let next = DiskCacheStore(at: directory.url, entryLimit: 1)
        try await next.put(Data(), try diskKey("b"))
        #expect(directory.files() == [alien, DiskName(try diskKey("b")).path].sorted())
    }

    @Test func aLostUsageIsCountedAnew() async throws {
        let store = DiskCacheStore(at: directory.url)
        for number in 0..<20 {
            try await store.put(Data(repeating: 1, count: 5_000 * number), try diskKey("\(number)"))
        }
        let usage = try await store.usage()
        try FileManager.default.removeItem(atPath: directory.path("usage"))
        #expect(try await DiskCacheStore(at: directory.url).usage() == usage)
        try Data(repeating: 9, count: 6_144).write(to: directory.cache.appending(path: "usage"))
        let small = DiskCacheStore(at: directory.url, entryLimit: 10)
        for number in 0..<300 { try await small.put(Data(), try diskKey("n\(number)")) }
        #expect(directory.files().count <= 10)
        // An empty file says nothing about any shard; a shard is counted when it changes.
        try Data().write(to: directory.cache.appending(path: "usage"))
        let key = try diskKey("again")
        for _ in 0..<2 { try await small.put(Data(repeating: 1, count: 100), key) }
        #expect(try await small.usage().entries >= 1)
    }

    @Test func whoHoldsAShardForTooLongCostsAnEntryAndNoRequest() async throws {
        let world = CacheWorld(store: DiskCacheStore(at: directory.url))
        world.answer(["Cache-Control: max-age=60"], "one", times: 2)
        _ = try await world.send()
        let name = DiskName(try diskKey("y", partition: ""))
        let root = try OpenedFile.openDirectory(directory.cache.path)
        try OpenedFile.makeDirectory(DiskName.directory(name.shard), in: root)
        let shard = try OpenedFile.openDirectory(DiskName.directory(name.shard), in: root)
        #expect(shard.tryLock() == .locked)
        #expect(try await world.send(path: "y") == "200 miss one")
        #expect(world.reported.count == 1 && world.reported[0].contains("storeBusy"))
    }

    @Test(arguments: [false, true])
    func aShardThatIsHeldKeepsNoOtherFromBeingCleared(isWhole: Bool) async throws {
        let store = DiskCacheStore(at: directory.url)
        let keys = try (0..<10).map { try diskKey("\($0)") }.sorted { DiskName($0).shard < DiskName($1).shard }
        for key in keys { try await store.put(Data("one".utf8), key) }
        let held = DiskName(keys[0]).shard
        let root = try OpenedFile.openDirectory(directory.cache.path)
        let shard = try OpenedFile.openDirectory(DiskName.directory(held), in: root)
        #expect(shard.tryLock() == .locked)
        let error = await #expect(throws: CacheStoreError.self) {
            if isWhole { try await store.removeAll() } else { try await store.removeAll(partition: "p") }
        }
        #expect(error?.code == .storeBusy)
        #expect(try await store.listing().allSatisfy { DiskName($0.key).shard == held })
    }
}
