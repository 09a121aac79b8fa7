internal import Foundation
internal import Synchronization

/// The state of one pass over a body. Only one task uses a reader at a time.
protocol ChunkReader: AnyObject {
    func next(isolation actor: isolated (any Actor)?) async throws -> Data?
}

/// A file as content, with its length at the time the body was made.
final class FileBody: Sendable {
    let number = BodyNumber.next()
    let url: URL
    let length: Int64

    init(_ url: URL) throws {
        // Symbolic links are resolved, and cached sizes are dropped, because the URL may remember an old size.
        var target = url.resolvingSymlinksInPath()
        target.removeAllCachedResourceValues()
        let values = try? target.resourceValues(forKeys: [.fileSizeKey, .isRegularFileKey])
        guard url.isFileURL, let values, values.isRegularFile == true, let size = values.fileSize else {
            throw Self.unreadable(url)
        }
        self.url = url
        self.length = Int64(size)
    }

    static func unreadable(_ url: URL, underlying: (any Error)? = nil) -> TransportError {
        let path = url.isFileURL ? url.path : "A URL that isn't a file URL"
        return TransportError(
            .unreadableFile,
            "\(path) is not a regular file that can be read.",
            underlying: underlying
        )
    }
}

final class FileReader: ChunkReader {
    private static let chunkSize = 64 * 1024
    private let file: FileBody
    private let offset: Int64
    private var handle: FileHandle?

    init(_ file: FileBody, from offset: Int64 = 0) {
        self.file = file
        self.offset = offset
    }

    func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
        try Task.checkCancellation()
        let (handle, chunk) = try await Self.read(file, handle, offset)
        self.handle = handle
        if chunk == nil { try handle.close() }
        return chunk
    }

    // Disks may be slow, so reading runs off the caller's actor.
    @concurrent
    private static func read(
        _ file: FileBody,
        _ opened: FileHandle?,
        _ offset: Int64
    ) async throws -> (FileHandle, Data?) {
        do {
            let handle = try opened ?? RegularFile.open(file.url)
            if opened == nil, offset > 0 { try handle.seek(toOffset: UInt64(offset)) }
            let chunk = try handle.read(upToCount: chunkSize)
            return (handle, chunk?.isEmpty == true ? nil : chunk)
        } catch {
            throw FileBody.unreadable(file.url, underlying: error)
        }
    }
}

/// A stream as content: makes readers, and allows a second one only if the stream is restartable.
final class StreamBody: Sendable {
    let number = BodyNumber.next()
    let length: Int64?
    let isRestartable: Bool
    /// Makes the content from an offset; `nil` if the stream can only be read from its start.
    let seek: (@Sendable (Int64) -> HTTPBody)?
    private let onDiscard: @Sendable () -> Void
    private let makeReader: @Sendable () throws -> any ChunkReader
    /// Set by the first reader and by `discard()`. Only the caller that changes it from `false` may read a one-shot stream.
    private let isSpent = Atomic<Bool>(false)
    /// Whether a reader has found the stream empty, so that another one needs no source.
    private let isFoundEmpty = Atomic<Bool>(false)
    /// Set by the first `discard()`, so that `onDiscard` runs at most once.
    private let isDiscarded = Atomic<Bool>(false)

    init(
        length: Int64?,
        isRestartable: Bool,
        seek: (@Sendable (Int64) -> HTTPBody)? = nil,
        onDiscard: @escaping @Sendable () -> Void,
        makeReader: @escaping @Sendable () throws -> any ChunkReader
    ) {
        // Frameworks report an unknown length as a negative number.
        self.length = length.flatMap { $0 < 0 ? nil : $0 }
        self.isRestartable = isRestartable
        self.seek = seek
        self.onDiscard = onDiscard
        self.makeReader = makeReader
    }

    package var isReadable: Bool {
        isRestartable || !isSpent.load(ordering: .acquiring) || isFoundEmpty.load(ordering: .acquiring)
    }

    /// Makes a one-shot stream that was read to its end, and had no content, readable as empty.
    func noteEmpty() { isFoundEmpty.store(true, ordering: .releasing) }

    func read() throws -> any ChunkReader {
        if !isRestartable, isFoundEmpty.load(ordering: .acquiring) {
            return StreamReader(AsyncStream<Data> { $0.finish() })
        }
        if !isRestartable, isSpent.exchange(true, ordering: .acquiringAndReleasing) {
            throw TransportError.bodyNotReplayable()
        }
        let reader = try makeReader()
        return length.map { LengthCheckedReader(reader, length: $0) } ?? reader
    }

    func discard() {
        isSpent.store(true, ordering: .releasing)
        if !isDiscarded.exchange(true, ordering: .acquiringAndReleasing) { onDiscard() }
    }
}

final class StreamReader<Chunks: AsyncSequence>: ChunkReader where Chunks.Element == Data {
    private var iterator: Chunks.AsyncIterator

    init(_ chunks: Chunks) { iterator = chunks.makeAsyncIterator() }

    func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
        if let chunk = try await iterator.next(isolation: actor) { return chunk }
        // Some streams, such as `AsyncStream`, simply end in a cancelled task. Their end is then not the end of the content.
        try Task.checkCancellation()
        return nil
    }
}

/// Checks that a file or stream has the announced number of bytes. On the wire, a wrong length would corrupt the connection.
final class LengthCheckedReader: ChunkReader {
    private let reader: any ChunkReader
    private let length: Int64
    private var count: Int64 = 0

    init(_ reader: any ChunkReader, length: Int64) {
        self.reader = reader
        self.length = length
    }

    func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
        let chunk = try await reader.next(isolation: actor)
        count += Int64(chunk?.count ?? 0)
        guard count == length || (chunk != nil && count < length) else {
            throw TransportError.lengthMismatch(announced: length, got: count)
        }
        return chunk
    }
}
