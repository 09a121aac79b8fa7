import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// Counts that were lost, and the directories of older layouts.
@Suite(.againstHanging) struct DiskRemainsTests {
    private let directory = TemporaryDirectory()

    @Test func aStoreWhoseCountsAreZeroedStaysWithinItsLimit() async throws {
        let store = DiskCacheStore(at: directory.url, byteLimit: 2 << 20)
        let body = Data(repeating: 1, count: 100_000)
        for number in 0..<18 { try await store.put(body, try diskKey("a\(number)")) }
        let usage = try FileHandle(forWritingTo: directory.cache.appending(path: "usage"))
        try usage.write(contentsOf: Data(count: 256 * 24))
        try usage.close()
        #expect(try await store.usage().entries == 18)
        try FileHandle(forWritingTo: directory.cache.appending(path: "usage")).write(contentsOf: Data(count: 256 * 24))
        for number in 0..<18 {
            try await store.put(body, try diskKey("b\(number)"))
            #expect(directory.byteCount() <= 2 << 20)
        }
    }

    @Test func theDirectoriesOfOlderLayoutsAreRemoved() async throws {
        func make(_ name: String) throws -> URL {
            let folder = directory.url.appending(path: name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("secret".utf8).write(to: folder.appending(path: "entry"))
            return folder
        }
        let (older, newer, own) = (try make("http-cache-2"), try make("http-cache-99"), try make("http-cache-notes"))
        let others = [try make("http-cache-+1"), try make("http-cache-02")]
        let store = DiskCacheStore(at: directory.url)
        try await store.put(Data("a".utf8), try diskKey("a"))
        #expect(!FileManager.default.fileExists(atPath: older.path))
        let late = try make("http-cache-1")
        try await store.removeAll()
        #expect(!FileManager.default.fileExists(atPath: late.path))
        for folder in [newer, own] + others { #expect(FileManager.default.fileExists(atPath: folder.path)) }
    }

    @Test func theEntriesOfTwoAccountsArePrintedApart() async throws {
        let store = MemoryCacheStore()
        for partition in ["", "ada@example.com", "bob@example.com"] {
            try await store.put(Data("a".utf8), try diskKey("a", partition: partition))
        }
        let texts = try await store.listing().map(\.description)
        #expect(Set(texts).count == 3)
        #expect(texts.allSatisfy { $0.hasPrefix("200, 1 bytes, https://a.example") && !$0.contains("ada") })
    }
}
