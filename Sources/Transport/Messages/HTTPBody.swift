public import Foundation
internal import Synchronization

/// The content of a message: bytes, a file, or a stream.
///
/// A body is an `AsyncSequence` of chunks. Whether it can be read, and so sent, more than once is part of its type:
///
/// | made by | ``length`` | ``isRestartable`` |
/// | --- | --- | --- |
/// | ``empty``, ``init(_:)-(Data)``, ``init(_:)-(String)`` | known | yes |
/// | ``init(file:)`` | known | yes |
/// | ``restartable(length:_:)`` | as given | yes |
/// | ``oneShot(_:length:onDiscard:)`` | as given | no |
///
/// ```swift
/// request.body = HTTPBody(#"{"name":"Ada"}"#)
/// for try await chunk in response.body { hasher.update(chunk) }
/// let text = try await response.body.collect(upTo: 1 << 20)
/// try await response.body.write(to: file, upTo: 4 << 30)
/// ```
public struct HTTPBody: Sendable {
    enum Storage: Sendable {
        case bytes(Data)
        case file(FileBody)
        case stream(StreamBody)
    }

    let storage: Storage

    /// A body without content.
    public static var empty: Self { Self(Data()) }

    /// A body of bytes in memory.
    public init(_ bytes: Data) { storage = .bytes(bytes) }

    /// A body of UTF-8 text in memory.
    public init(_ text: String) { storage = .bytes(Data(text.utf8)) }

    /// The content of a file, read in chunks when it is needed, anew for each attempt.
    ///
    /// - Throws: ``TransportError`` with ``TransportError/Code/unreadableFile`` if there is no such regular file. A file that
    ///   shrinks or grows after this call fails the reading, since its length may have been announced.
    public init(file: URL) throws {
        storage = .file(try FileBody(file))
    }

    /// A stream that can be made anew for each attempt.
    ///
    /// - Parameters:
    ///   - length: the count of its bytes where it is known, `nil` or negative where it isn't; a stream that gives
    ///     another count fails.
    ///   - make: makes the stream from its start.
    public static func restartable<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil,
        _ make: @escaping @Sendable () throws -> Chunks
    ) -> Self where Chunks.Element == Data {
        let stream = StreamBody(length: length, isRestartable: true, onDiscard: {}) { StreamReader(try make()) }
        return Self(storage: .stream(stream))
    }

    /// A stream that can be read once. A second reading fails with ``TransportError/Code/bodyNotReplayable``, before
    /// anything is sent.
    ///
    /// - Parameters:
    ///   - chunks: the stream.
    ///   - length: the count of its bytes where it is known, `nil` or negative where it isn't; a stream that gives
    ///     another count fails.
    ///   - onDiscard: ends the source when nobody is going to read (the rest of) the stream; called at most once. A
    ///     transport that has begun to send the stream and doesn't come to its end calls it, whatever the reason; from any
    ///     thread, so it must not block.
    public static func oneShot<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        onDiscard: @escaping @Sendable () -> Void = {}
    ) -> Self where Chunks.Element == Data {
        let stream = StreamBody(length: length, isRestartable: false, onDiscard: onDiscard) { StreamReader(chunks) }
        return Self(storage: .stream(stream))
    }

    private init(storage: Storage) { self.storage = storage }
}

extension HTTPBody {
    /// The count of bytes, where it is known beforehand.
    public var length: Int64? {
        switch storage {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let file): file.length
        case .stream(let stream): stream.length
        }
    }

    /// Whether there is certainly nothing to read.
    public var isEmpty: Bool { length == 0 }

    /// Whether it is a file or a stream of which it is said that there is nothing to read.
    var isEmptySource: Bool {
        switch storage {
        case .bytes: false
        case .file(let file): file.length == 0
        case .stream(let stream): stream.length == 0
        }
    }

    /// Whether it can be read again from the start. What is in memory or in a file can.
    public var isRestartable: Bool {
        if case .stream(let stream) = storage { stream.isRestartable } else { true }
    }

    /// Whether it can be read now: a one-shot body that was read, or is being read, can't.
    public var isReadable: Bool {
        if case .stream(let stream) = storage { stream.isReadable } else { true }
    }

    /// The content if it is in memory, as buffered responses are; `nil` for files and streams.
    public var bytes: Data? {
        if case .bytes(let bytes) = storage { bytes } else { nil }
    }

    /// Whether ``bytes`` has it: asked so, nothing is retained.
    package var isInMemory: Bool {
        if case .bytes = storage { true } else { false }
    }

    /// The file that holds the content, for a body made of one.
    public var file: URL? {
        if case .file(let file) = storage { file.url } else { nil }
    }

    /// All of the content, in memory. If it throws, what has not been read is given up, as by ``discard()``; a body that
    /// somebody else is reading stays theirs.
    ///
    /// - Parameter limit: the most bytes to accept. Never more than a chunk beyond it is held.
    /// - Throws: ``TransportError`` with ``TransportError/Code/bodyTooLarge`` beyond the limit, with
    ///   ``TransportError/Code/bodyNotReplayable`` if it was read before and can't be again, or what reading throws.
    public func collect(upTo limit: Int) async throws -> Data {
        guard isReadable else { throw TransportError.bodyNotReplayable() }
        do {
            return try await collected(upTo: limit)
        } catch let error as TransportError where error.code == .bodyNotReplayable {
            throw error
        } catch {
            discard()
            throw error
        }
    }

    private func collected(upTo limit: Int) async throws -> Data {
        if let length, length > Int64(limit) { throw TransportError.bodyTooLarge(limit: limit) }
        if let bytes { return bytes }
        var collected = Data()
        // An announced length may be a lie: what it costs is bounded.
        if let length { collected.reserveCapacity(Int(Swift.min(length, 1 << 20))) }
        for try await chunk in self {
            guard chunk.count <= limit - collected.count else { throw TransportError.bodyTooLarge(limit: limit) }
            collected.append(chunk)
        }
        return collected
    }

    /// Gives up what has not been read, so that its connection, file or producer is let go at once.
    ///
    /// Whoever drops a response without reading it calls this; a later reading of a one-shot body fails.
    public func discard() {
        if case .stream(let stream) = storage { stream.discard() }
    }
}

extension HTTPBody: AsyncSequence {
    /// Reads a body chunk by chunk; no chunk is empty.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate enum Source {
            case bytes(Data)
            case reader(any ChunkReader)
            case failure(any Error)
            case end
        }

        fileprivate var source: Source

        /// The next chunk, `nil` at the end.
        public mutating func next() async throws -> Data? {
            try await next(isolation: #isolation)
        }

        /// The next chunk, `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            switch source {
            case .bytes(let bytes):
                source = .end
                return bytes.isEmpty ? nil : bytes
            case .reader(let reader):
                // Only a chunk goes on: after an error, as after the end, there is nothing.
                source = .end
                while let chunk = try await reader.next(isolation: actor) {
                    if !chunk.isEmpty {
                        source = .reader(reader)
                        return chunk
                    }
                    try Task.checkCancellation()
                }
                return nil
            case .failure(let error):
                source = .end
                throw error
            case .end:
                return nil
            }
        }
    }

    /// Starts a reading. That of a one-shot body which was read before throws at its first chunk.
    public func makeAsyncIterator() -> AsyncIterator {
        switch storage {
        case .bytes(let bytes): return AsyncIterator(source: .bytes(bytes))
        case .file(let file): return AsyncIterator(source: .reader(FileReader(file)))
        case .stream(let stream):
            do {
                return AsyncIterator(source: .reader(try stream.read()))
            } catch {
                return AsyncIterator(source: .failure(error))
            }
        }
    }
}

extension HTTPBody {
    /// Reads the content to its end. What isn't read, because of an error or because the task is cancelled, is given up at
    /// once, as by ``discard()``; a body that somebody else reads, or has read, stays theirs. One of known length is read when
    /// that many bytes have come.
    func forEachChunk(_ use: (Data) async throws -> Void) async throws {
        var iterator = makeAsyncIterator()
        if case .failure(let error) = iterator.source { throw error }
        let length = length
        let isRead = Atomic(false)
        var count: Int64 = 0
        try await withTaskCancellationHandler {
            do {
                while let chunk = try await iterator.next() {
                    count += Int64(chunk.count)
                    // Who sends it may have its answer, and end the reading, before the source says that this was all.
                    if count == length { isRead.store(true, ordering: .releasing) }
                    try await use(chunk)
                }
            } catch {
                guard Task.isCancelled else {
                    discard()
                    throw error
                }
                // What a source throws when it is given up is no news.
                if !isRead.load(ordering: .acquiring) { discard() }
                throw CancellationError()
            }
        } onCancel: {
            // The source may not notice by itself.
            if !isRead.load(ordering: .acquiring) { discard() }
        }
    }
}

extension HTTPBody: ExpressibleByStringLiteral, CustomStringConvertible, CustomDebugStringConvertible {
    /// A body of UTF-8 text in memory.
    public init(stringLiteral text: String) { self.init(text) }

    /// What kind of body it is, never its content.
    public var description: String {
        let size = length.map { "\($0) bytes" } ?? "unknown length"
        return switch storage {
        case .bytes: size
        case .file: "file, \(size)"
        case .stream(let stream): stream.isRestartable ? "stream, \(size)" : "one-shot stream, \(size)"
        }
    }

    /// The same as ``description``: content is not printed by accident.
    public var debugDescription: String { description }
}
