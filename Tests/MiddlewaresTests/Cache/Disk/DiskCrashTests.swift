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

@Suite(.againstHanging, .heavy) struct DiskCrashTests {
    private let directory = TemporaryDirectory()

    /// Reads every key that a child process may have stored, checks each body, and returns the number of entries.
    private func readAll(_ store: DiskCacheStore) async throws -> Int {
        var count = 0
        for number in 0..<40 {
            for entry in try await store.entries(for: try diskKey("\(number)")) {
                let version = try #require(entry.response.headers["X-Version"].flatMap { UInt64($0) })
                #expect(try await entry.body().collect(upTo: 1 << 20) == CacheFill.body(number, version))
                count += 1
            }
        }
        return count
    }

    @Test(.againstHanging)
    func aProcessKilledAtAnyMomentLeavesTheOldEntryTheNewOneOrNone() async throws {
        // The system's timer ends each child at some instruction of its work. Nothing in the child could choose that moment
        // as freely, so real time is necessary here. The times themselves are the same in each run.
        var generator = SeededGenerator(seed: 1)
        var found = 0
        // Three children run at once, so that some die while others wait for them.
        for round in 0..<70 {
            let children = try (0..<3).map { index in
                let time = Int.random(in: 1_000..<40_000, using: &generator)
                return try CacheChild(["write", directory.url.path, "\(3 * round + index)", "\(time)"])
            }
            for child in children { #expect(await child.ends() == .signal(SIGPROF)) }
            // A damaged entry throws here. A killed process must leave none.
            found += try await readAll(DiskCacheStore(at: directory.url, byteLimit: 4 << 20, entryLimit: 30))
        }
        #expect(found > 100, "the killed processes had stored something")
        #expect(!directory.files().contains { $0.hasPrefix("incoming/") }, "leftovers are removed")
        let store = DiskCacheStore(at: directory.url, byteLimit: 4 << 20, entryLimit: 30)
        for number in 0..<40 { try await store.put(Data(repeating: 1, count: 100), try diskKey("new\(number)")) }
        let usage = try await store.usage()
        #expect(usage.entries <= 30 && usage.bytes <= 4 << 20)
        try await store.removeAll()
        #expect(directory.files().isEmpty)
        #expect(try await store.usage() == (0, 0))
    }

    @Test(.againstHanging)
    func processesThatShareADirectoryReadOnlyWhatWasWritten() async throws {
        let children = try (0..<3).map { try CacheChild(["hammer", directory.url.path, "\($0)", "600"]) }
        for child in children { #expect(await child.ends() == .exit(0)) }
        let store = DiskCacheStore(at: directory.url, byteLimit: 4 << 20, entryLimit: 30)
        #expect(try await readAll(store) > 0)
        let usage = try await store.usage()
        #expect(usage.bytes == Int64(directory.byteCount()), "the usage is exact when nobody was killed")
    }

    @Test func aDiskThatTakesNoLongFileFailsNoRequestAndIsReported() async throws {
        let program = try #require(CacheChild.program)
        let result = try await Command.run(program, ["full", directory.url.path])
        #expect(result.status == 0)
        let lines = result.text.split(separator: "\n")
        #expect(lines.filter { $0 == "300000 not stored: refused" }.count == 2)
        #expect(lines.filter { $0.contains("write failed") }.count == 2)
        #expect(directory.files().isEmpty)
    }

    // The variant that couldn't be replaced must not outlive the newer response.
    @Test func recordThatCantBeRewrittenIsRemoved() async throws {
        let program = try #require(CacheChild.program)
        let result = try await Command.run(program, ["variants", directory.url.path])
        #expect(result.status == 0)
        let lines = result.text.split(separator: "\n").filter { !$0.contains("Error") }.map(String.init)
        #expect(
            lines.dropFirst(3) == ["two miss 9000", "one miss 5000", "two miss 5000", "three miss 5000"],
            "\(result.text)"
        )
    }

    #if os(Linux)
    // The sizes range from one page to slightly more than the body, so that each write of the store fails in some case.
    @Test(
        .enabled("Only root may mount a small disk, and not in every container.") { try await SmallDisk.mustRun() },
        arguments: [4, 8, 12, 16, 64, 280, 300]
    )
    func aFullDiskFailsNoRequestAndIsReported(kilobytes: Int) async throws {
        let program = try #require(CacheChild.program)
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        let mount = try await SmallDisk.mount(kilobytes: kilobytes, at: directory.url)
        try #require(mount.status == 0, "\(mount.complaint)")
        let result = try await Command.run(program, ["small", directory.url.path])
        let left = directory.files()
        #expect(try await SmallDisk.unmount(at: directory.url) == 0)
        #expect(result.status == 0)
        let lines = result.text.split(separator: "\n")
        #expect(lines.filter { $0 == "300000 not stored: refused" }.count == 2)
        #expect(lines.contains { $0.contains("No space left") }, "\(result.text)")
        #expect(left.isEmpty)
    }
    #endif
}

#endif
