#if os(Linux)
import Foundation
import Glibc
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsMiddlewares

/// Leaks of a process. Each test runs in a separate process, because other tests have descriptors and memory, too.
@Suite(.againstHanging, .heavy) struct DiskLeakTests {
    @Test(.againstHanging)
    func aCrowdInOneProcessReadsOnlyWhatWasWrittenAndLeavesNoDescriptorOpen() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            try await DiskCrowd.play(in: directory.url)
            // The first run opens descriptors that the system's libraries keep.
            let before = OwnProcess.descriptors
            let usage = try await DiskCrowd.play(in: directory.url)
            #expect(OwnProcess.descriptors == before)
            #expect(usage.bytes == Int64(directory.byteCount()), "no count is lost")
            #expect(!directory.files().contains { $0.hasPrefix("incoming/") })
        }
    }

    @Test(.againstHanging)
    func aLongBodyIsStoredAndServedInConstantMemory() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let chain = InterceptorChain(
                [.cache(.disk(at: directory.url))],
                transport: Recorder { _ in
                    HTTPResponse(status: 200, headers: [.cacheControl: "max-age=60"], body: .oneShot(LongChunks()))
                }
            )
            var request = HTTPRequest(url: try url("https://a.example/long"))
            request.context.responseBody = .streamed
            OwnProcess.forgetPeak()
            let before = OwnProcess.memory
            for result in [CacheOutcome.Result.miss, .hit, .hit] {
                let response = try await chain.send(request)
                var (count, sum) = (0, 0)
                for try await chunk in response.body {
                    count += chunk.count
                    sum += Int(chunk.first ?? 0)
                }
                #expect(response.context.cacheOutcome?.result == result && count == 1_000 * 65_536 && sum > 0)
            }
            #expect(OwnProcess.peakMemory - before < 8 << 20)
        }
    }

    @Test func aReadOnlyDirectoryFailsNoRequest() async {
        await #expect(processExitsWith: .success) {
            // Root can write anywhere, so the test gives up root.
            #expect(ProcessLimits.giveUpRoot())
            let directory = TemporaryDirectory()
            let world = CacheWorld(store: DiskCacheStore(at: directory.url))
            world.answer(["Cache-Control: max-age=60"], "one", times: 5)
            for path in ["x", "z"] { _ = try await world.send(path: path) }
            let shard = DiskName.directory(DiskName(try diskKey("x", partition: "")).shard)
            for path in ["", shard, "incoming"] { #expect(chmod(directory.path(path), 0o500) == 0) }
            #expect(try await world.send() == "200 hit one age 0")
            #expect(world.reported.isEmpty)
            #expect(try await world.send(path: "y") == "200 miss one")
            #expect(try await world.send([], .delete) == "200 miss one")
            #expect(!world.reported.isEmpty && world.reported.allSatisfy { $0.contains("storeUnavailable") })
            let other = CacheWorld(store: DiskCacheStore(at: directory.url))
            let hit = try await other.send(path: "z")
            #expect(hit == "200 hit one age 0", "what can be read is served by a new store, too")
            for path in ["", shard, "incoming"] { chmod(directory.path(path), 0o700) }
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a directory away"))
    func aDirectoryOfAnotherAccountIsNotUsed() async throws {
        let directory = TemporaryDirectory()
        try FileManager.default.createDirectory(at: directory.cache, withIntermediateDirectories: true)
        #expect(chown(directory.cache.path, 65_534, 65_534) == 0)
        let world = CacheWorld(store: DiskCacheStore(at: directory.url))
        world.answer(["Cache-Control: max-age=60"], "one", times: 2)
        for _ in 0..<2 { #expect(try await world.send() == "200 miss one") }
        #expect(world.reported.allSatisfy { $0.contains("another account") } && !world.reported.isEmpty)
        #expect(directory.files().isEmpty)
    }
}

/// Chunks of 64 KiB, 1,000 of them.
private struct LongChunks: AsyncSequence, AsyncIteratorProtocol, Sendable {
    var rest = 1_000

    mutating func next() async throws -> Data? {
        guard rest > 0 else { return nil }
        rest -= 1
        return Data(repeating: UInt8(1 + rest % 251), count: 65_536)
    }

    func makeAsyncIterator() -> Self { self }
}

/// Two stores share a directory; tasks write, read, update, remove, clear, and cause evictions.
enum DiskCrowd {
    @discardableResult
    static func play(in directory: URL) async throws -> (entries: Int, bytes: Int64) {
        let stores = (0..<2).map { _ in DiskCacheStore(at: directory, byteLimit: 4 << 20, entryLimit: 25) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                let store = stores[task % 2]
                group.addTask {
                    var generator = SeededGenerator(seed: UInt64(task))
                    for _ in 0..<120 { try await step(store, &generator) }
                }
            }
            try await group.waitForAll()
        }
        return try await stores[0].usage()
    }

    private static func step(_ store: DiskCacheStore, _ generator: inout SeededGenerator) async throws {
        let number = Int.random(in: 0..<40, using: &generator)
        let key = try diskKey("\(number)")
        switch Int.random(in: 0..<100, using: &generator) {
        case 0: try await store.removeAll()
        case 1: try await store.removeAll { $0.length > 100_000 }
        case 2...9: try await store.removeAll(of: key)
        case 10...19: _ = try await store.listing()
        case 20...49:
            let version = UInt64.random(in: 0..<1_000, using: &generator)
            do {
                try await store.put(
                    CacheFill.body(number, version),
                    key,
                    ["X-Version": "\(version)"],
                    selecting: version % 3 == 0 ? ["A": "\(version % 5)"] : [:]
                )
            } catch let error as CacheStoreError where error.code == .storeFull {
                // Other bodies left no space.
            }
        default:
            for entry in try await store.entries(for: key) {
                try await check(entry, number)
                var response = entry.response
                response.responseTime += 1
                if Bool.random(using: &generator) { try await store.update(entry.id, of: key, to: response) }
            }
        }
    }

    private static func check(_ entry: CacheEntry, _ number: Int) async throws {
        let version = entry.response.headers["X-Version"].flatMap { UInt64($0) }
        do {
            let body = try await entry.body().collect(upTo: 1 << 20)
            #expect(version.map { CacheFill.body(number, $0) } == body)
        } catch let error as CacheStoreError where error.code == .entryGone {
            // Another task replaced the entry between the two calls: a miss.
        }
    }
}
#endif
