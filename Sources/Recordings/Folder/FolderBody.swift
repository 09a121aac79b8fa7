internal import Foundation
internal import InterceptorsCore
internal import Synchronization

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
            let content = OpenContent {
                try file.read(upToCount: $0)
            } close: {
                try? file.close()
            }
            return .oneShot(FileChunks(file: content), length: Int64(length)) { content.discard() }
        }
        defer { try? file.close() }
        return HTTPBody(try file.read(upToCount: limit + 1) ?? Data())
    }
}

/// An open file that one reader reads, and that any thread may discard: a file that is being read is closed after the read.
final class OpenContent: Sendable {
    private struct State {
        var isReading = false
        var isDiscarded = false
    }

    private let state = Mutex(State())
    private let readFile: @Sendable (_ count: Int) throws -> Data?
    private let closeFile: @Sendable () -> Void

    init(read: @escaping @Sendable (_ count: Int) throws -> Data?, close: @escaping @Sendable () -> Void) {
        readFile = read
        closeFile = close
    }

    /// - Throws: `CancellationError` after ``discard()``. Rethrows the file's error.
    func read(upTo count: Int) throws -> Data? {
        let isOpen = state.withLock { state in
            state.isReading = !state.isDiscarded
            return state.isReading
        }
        guard isOpen else { throw CancellationError() }
        defer {
            let isDiscarded = state.withLock { state in
                state.isReading = false
                return state.isDiscarded
            }
            if isDiscarded { closeFile() }
        }
        return try readFile(count)
    }

    func discard() {
        let isIdle = state.withLock { state in
            defer { state.isDiscarded = true }
            return !state.isDiscarded && !state.isReading
        }
        if isIdle { closeFile() }
    }
}

/// The content of an open file, chunk by chunk.
private struct FileChunks: AsyncSequence, Sendable {
    let file: OpenContent

    func makeAsyncIterator() -> Iterator { Iterator(file: file) }

    struct Iterator: AsyncIteratorProtocol {
        let file: OpenContent

        mutating func next() async throws -> Data? { try await Self.read(file) }

        // Disks may be slow, so reading runs off the caller's actor.
        @concurrent
        private static func read(_ file: OpenContent) async throws -> Data? {
            let chunk = try file.read(upTo: 64 << 10)
            return chunk?.isEmpty == true ? nil : chunk
        }
    }
}
