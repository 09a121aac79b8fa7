import Interceptors
import InterceptorsTestSupport
import Testing

extension CacheWorld {
    /// The fields of a complete response with ten bytes of content.
    static let whole = ["Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 10"]

    /// A world with a store in memory, and another with a store on disk.
    static func ofEachStore(in directory: TemporaryDirectory) -> [CacheWorld] {
        [CacheWorld(), CacheWorld(store: DiskCacheStore(at: directory.url))]
    }

    /// Stores the first five of ten bytes.
    func storeBeginning(_ more: [String] = []) async throws {
        answer(206, ["Cache-Control: max-age=60", "Content-Range: bytes 0-4/10", "ETag: \"a\""] + more, "01234")
        #expect(try await send(["Range: bytes=0-4"]) == "206 miss 01234")
        #expect(try await entries().count == 1)
    }
}
