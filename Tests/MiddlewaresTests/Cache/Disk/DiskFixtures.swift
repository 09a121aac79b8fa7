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

/// A directory for a disk cache, which creates it. It is removed with this object.
final class TemporaryDirectory: Sendable {
    private let folder = TemporaryFolder.absent()

    var url: URL { folder.url }

    /// The directory in which a store keeps its files.
    var cache: URL { url.appending(path: DiskDirectory.name) }

    /// The files of entries and bodies, as paths below the cache's directory.
    func files() -> [String] {
        let all = (try? FileManager.default.subpathsOfDirectory(atPath: cache.path)) ?? []
        return all.filter { $0.contains("/") && !$0.hasSuffix(".new") }.sorted()
    }

    func path(_ file: String) -> String { cache.appending(path: file).path }

    /// The bytes of the files of entries and bodies, in whole blocks of the file system.
    func byteCount() -> Int {
        var system = statvfs()
        guard statvfs(cache.path, &system) == 0 else { return 0 }
        let block = Int(system.f_frsize)
        return files().reduce(0) { sum, file in
            let attributes = try? FileManager.default.attributesOfItem(atPath: path(file))
            return sum + (((attributes?[.size] as? Int) ?? 0) + block - 1) / block * block
        }
    }
}

func diskKey(_ name: String, partition: String = "p") throws -> CacheKey {
    let target = try #require(URL(string: "https://a.example/\(name)"))
    return try #require(CacheKey(url: target, partition: partition))
}

extension CacheStore {
    /// Stores a body.
    func put(_ body: Data, _ key: CacheKey, _ fields: HTTPFields = [:], selecting: HTTPFields = [:]) async throws {
        let response = CachedResponse(status: 200, headers: fields, selectingFields: selecting, responseTime: 1)
        let writer = try await write(response, for: key, replacing: [], length: nil)
        try await writer.append(body)
        try await writer.commit()
    }

    /// The body of the only entry of a key.
    func get(_ key: CacheKey) async throws -> Data? {
        let entries = try await entries(for: key)
        return entries.count == 1 ? try await entries[0].body().collect(upTo: 1 << 30) : nil
    }
}

extension CacheWriter {
    /// Stores the body, even if the key's generation has changed.
    @discardableResult
    func commit() async throws -> Bool { try await commit { _ in true } }
}

#if os(Linux) || os(macOS)
/// A process that runs `CacheProcess` on a directory.
struct CacheChild {
    private let process: ChildProcess

    static var program: String? { Program.path(of: "InterceptorsCacheProcess") }

    init(_ arguments: [String]) throws { process = try ChildProcess(try #require(Self.program), arguments) }

    /// Waits for the process to end.
    @discardableResult
    func ends() async -> ChildProcess.Ending { await process.ended() }
}
#endif

extension DiskIncoming {
    /// Waits until all discarded files are removed.
    func removeDiscarded() async { await withCheckedContinuation { done in queue.async { done.resume() } } }
}
