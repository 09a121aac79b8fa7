internal import Foundation
internal import Interceptors

/// The bodies of requests in names, and the content of files as bodies of responses.
enum FolderBody {
    private static let matching: RequestMatching = [.body]

    /// Eight hexadecimal digits that tell a request's body from others by its meaning, computed without its secrets; `nil` for an
    /// empty body, and for one that isn't in memory.
    static func digest(of request: HTTPRequest, redaction: ExchangeRedaction) -> String? {
        guard let bytes = request.body.bytes, !bytes.isEmpty else { return nil }
        return FolderName.digest(matching.key(of: request, redaction).bytes, bytes: 4)
    }

    /// The content of an open file, which the body keeps open until it has been read.
    ///
    /// - Parameter limit: the maximum number of bytes to read at once. Longer content is a stream.
    static func body(of file: FileHandle, readingUpTo limit: Int) throws -> HTTPBody {
        let length = try file.seekToEnd()
        try file.seek(toOffset: 0)
        guard length <= limit else {
            return .oneShot(FileChunks(file: file), length: Int64(length)) { try? file.close() }
        }
        defer { try? file.close() }
        return HTTPBody(try file.read(upToCount: limit + 1) ?? Data())
    }
}

/// The content of an open file, chunk by chunk.
///
/// `FileHandle` is `Sendable` on all platforms; only the one reader of the body uses it.
private struct FileChunks: AsyncSequence, Sendable {
    let file: FileHandle

    func makeAsyncIterator() -> Iterator { Iterator(file: file) }

    struct Iterator: AsyncIteratorProtocol {
        let file: FileHandle

        mutating func next() async throws -> Data? { try await Self.read(file) }

        // Disks may be slow, so reading runs off the caller's actor.
        @concurrent
        private static func read(_ file: FileHandle) async throws -> Data? {
            let chunk = try file.read(upToCount: 64 << 10)
            return chunk?.isEmpty == true ? nil : chunk
        }
    }
}
