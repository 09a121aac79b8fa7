public import Foundation

/// The content of a message: bytes, a file, or a stream.
///
/// A body is an `AsyncSequence` of chunks. Its kind decides whether it can be read, and so sent, more than once:
///
/// | made by | ``length`` | ``isRestartable`` |
/// | --- | --- | --- |
/// | ``empty``, ``init(_:)-(Data)``, ``init(_:)-(String)`` | known | yes |
/// | ``init(file:)`` | known | yes |
/// | ``seekable(length:_:)`` | as given | yes, from any offset |
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

    /// Creates a body from a file. Each attempt reads the file again, in chunks.
    ///
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/unreadableFile`` if there is no such regular file. If the file
    ///   shrinks or grows after this call, reading it fails, because its length may already have been announced.
    public init(file: URL) throws {
        storage = .file(try FileBody(file))
    }

    /// A stream that is made again for each attempt.
    ///
    /// - Parameters:
    ///   - length: the number of bytes, or `nil` or a negative number if unknown. A stream with another number of bytes fails.
    ///   - make: makes the stream from its start.
    public static func restartable<Chunks: AsyncSequence & Sendable>(
        length: Int64? = nil,
        _ make: @escaping @Sendable () throws -> Chunks
    ) -> Self where Chunks.Element == Data {
        let stream = StreamBody(length: length, isRestartable: true, onDiscard: {}) { StreamReader(try make()) }
        return Self(storage: .stream(stream))
    }

    /// A stream that can be read once. A second read fails with ``HTTPErrorCode/bodyNotReplayable`` before anything is
    /// sent.
    ///
    /// - Parameters:
    ///   - chunks: the stream.
    ///   - length: the number of bytes, or `nil` or a negative number if unknown. A stream with another number of bytes fails.
    ///   - onDiscard: ends the source when the rest of the stream will never be read. Called at most once. A transport that
    ///     stops sending before the stream's end calls it, whatever the reason. It may be called from any thread and must not
    ///     block. If `chunks` is itself a body, that body is discarded too.
    public static func oneShot<Chunks: AsyncSequence & Sendable>(
        _ chunks: Chunks,
        length: Int64? = nil,
        onDiscard: @escaping @Sendable () -> Void = {}
    ) -> Self where Chunks.Element == Data {
        // Otherwise a body around a body would leak the connection when the outer body isn't read to its end.
        let inner = chunks as? HTTPBody
        let onDiscard: @Sendable () -> Void = {
            inner?.discard()
            onDiscard()
        }
        let stream = StreamBody(length: length, isRestartable: false, onDiscard: onDiscard) { StreamReader(chunks) }
        return Self(storage: .stream(stream))
    }

    /// A body that can't be read: each reading throws the error.
    package static func unreadable(_ error: any Error) -> Self {
        .restartable { () throws -> AsyncStream<Data> in throw error }
    }

    init(storage: Storage) { self.storage = storage }
}

extension HTTPBody {
    /// The number of bytes, if known in advance.
    public var length: Int64? {
        switch storage {
        case .bytes(let bytes): Int64(bytes.count)
        case .file(let file): file.length
        case .stream(let stream): stream.length
        }
    }

    /// Whether the body is known to have no bytes.
    public var isEmpty: Bool { length == 0 }

    /// Whether the body is a file or a stream with an announced length of 0.
    var isEmptySource: Bool { isEmpty && !isInMemory }

    /// Makes a one-shot stream that was read to its end, and had no content, readable as empty.
    func noteEmpty() {
        if case .stream(let stream) = storage { stream.noteEmpty() }
    }

    /// Whether the body can be read again from its start. Bytes in memory and files always can.
    public var isRestartable: Bool {
        if case .stream(let stream) = storage { stream.isRestartable } else { true }
    }

    /// Whether the body can be read now. A one-shot body can't once a reader has started, unless it
    /// announced no content and a transport found none.
    public var isReadable: Bool {
        if case .stream(let stream) = storage { stream.isReadable } else { true }
    }

    /// The content if it is in memory, as buffered responses are; `nil` for files and streams.
    public var data: Data? {
        if case .bytes(let bytes) = storage { bytes } else { nil }
    }

    /// Whether ``data`` isn't `nil`. This check retains nothing.
    package var isInMemory: Bool {
        if case .bytes = storage { true } else { false }
    }

    /// The file that holds the content, if the body was made from a file.
    public var file: URL? {
        if case .file(let file) = storage { file.url } else { nil }
    }

    /// Reads the whole content into memory. If the call throws, the rest of the body is discarded as by ``discard()``, unless
    /// another reader is using the body.
    ///
    /// - Parameter limit: the maximum number of bytes. At most one chunk beyond the limit is ever held.
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/bodyTooLarge`` beyond the limit, or with
    ///   ``HTTPErrorCode/bodyNotReplayable`` if a one-shot body was already read. Rethrows errors of the body's source.
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
        if let data { return data }
        var collected = Data()
        // An announced length may be false, so it reserves at most 1 MiB.
        if let length { collected.reserveCapacity(Int(Swift.min(length, 1 << 20))) }
        for try await chunk in self {
            guard chunk.count <= limit - collected.count else { throw TransportError.bodyTooLarge(limit: limit) }
            collected.append(chunk)
        }
        return collected
    }

    /// Gives up the unread content, so that its connection, file or producer is released at once.
    ///
    /// Call it when you drop a response without reading its body. A one-shot body can't be read afterwards.
    public func discard() {
        if case .stream(let stream) = storage { stream.discard() }
    }
}

extension HTTPBody: AsyncSequence {
    /// Reads a body chunk by chunk. No chunk is empty.
    public struct AsyncIterator: AsyncIteratorProtocol {
        enum Source {
            case bytes(Data)
            case reader(any ChunkReader)
            case failure(any Error)
            case end
        }

        var source: Source

        /// The next chunk, or `nil` at the end.
        public mutating func next() async throws -> Data? {
            try await next(isolation: #isolation)
        }

        /// The next chunk, or `nil` at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            switch source {
            case .bytes(let bytes):
                source = .end
                return bytes.isEmpty ? nil : bytes
            case .reader(let reader):
                // Set back to the reader only after a chunk, so that nothing follows an error or the end.
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

    /// Starts reading. If a one-shot body was already read, the first `next()` throws.
    public func makeAsyncIterator() -> AsyncIterator {
        switch storage {
        case .bytes(let bytes): return AsyncIterator(source: .bytes(bytes))
        case .file(let file):
            return AsyncIterator(source: .reader(LengthCheckedReader(FileReader(file), length: file.length)))
        case .stream(let stream):
            do {
                return AsyncIterator(source: .reader(try stream.read()))
            } catch {
                return AsyncIterator(source: .failure(error))
            }
        }
    }
}

extension HTTPBody: ExpressibleByStringLiteral, CustomStringConvertible {
    /// A body of UTF-8 text in memory.
    public init(stringLiteral text: String) { self.init(text) }

    /// The kind and size of the body, never its content.
    public var description: String {
        let size = length.map { "\($0) bytes" } ?? "unknown length"
        return switch storage {
        case .bytes: size
        case .file: "file, \(size)"
        case .stream(let stream): stream.isRestartable ? "stream, \(size)" : "one-shot stream, \(size)"
        }
    }
}
