public import Foundation

// Bodies that can be read from any offset, for uploads that continue.
extension HTTPBody {
    /// A stream that can be made from any offset, so that an upload can continue where it broke off.
    ///
    /// ```swift
    /// let content = Data("a long text".utf8)
    /// request.body = .seekable(length: Int64(content.count)) { offset in
    ///     AsyncStream(Data.self) { continuation in
    ///         continuation.yield(content.dropFirst(Int(offset)))
    ///         continuation.finish()
    ///     }
    /// }
    /// ```
    /// Each attempt reads the body from its start, as it does a ``restartable(length:_:)`` body. ``suffix(from:)`` is the rest
    /// from an offset. Bytes in memory and files are seekable by themselves.
    ///
    /// - Parameters:
    ///   - length: the number of bytes from offset 0. A stream with another number of bytes fails; with a negative length, each
    ///     reading fails.
    ///   - make: makes the stream from an offset, from 0 to the length. It must yield the same bytes each time. Called when the
    ///     first chunk is read.
    public static func seekable<Chunks: AsyncSequence & Sendable>(
        length: Int64,
        _ make: @escaping @Sendable (_ offset: Int64) async throws -> Chunks
    ) -> Self where Chunks.Element == Data {
        guard length >= 0 else { return .unreadable(TransportError.lengthMismatch(announced: length, got: 0)) }
        return seekable(from: 0, to: length) { offset in
            StreamReader(
                UnfoldingSequence(from: { nil as Chunks.AsyncIterator? }) { chunks in
                    if chunks == nil { chunks = try await make(offset).makeAsyncIterator() }
                    return try await chunks?.next(isolation: #isolation)
                }
            )
        }
    }

    /// Whether ``suffix(from:)`` can give a part of the content: bytes in memory, files, and bodies made by
    /// ``seekable(length:_:)``. A body that wraps or maps another isn't seekable.
    public var isSeekable: Bool {
        if case .stream(let stream) = storage { stream.seek != nil } else { true }
    }

    /// The content from an offset to the end, as a seekable body.
    ///
    /// ```swift
    /// if let rest = request.body.suffix(from: 1 << 20) { request.body = rest }    // the server has the first MiB
    /// ```
    /// - Parameter offset: the number of bytes to leave out.
    /// - Returns: the rest; `nil` if the body isn't seekable, or the offset isn't one from 0 to ``length``.
    public func suffix(from offset: Int64) -> HTTPBody? {
        guard let length, 0...length ~= offset else { return nil }
        guard offset > 0 else { return isSeekable ? self : nil }
        switch storage {
        // Copied, because callers expect the indices of `bytes` to begin at zero.
        case .bytes(let bytes): return HTTPBody(Data(bytes.dropFirst(Int(offset))))
        case .file(let file): return .seekable(from: offset, to: length) { FileReader(file, from: $0) }
        case .stream(let stream): return stream.seek?(offset)
        }
    }

    /// The bytes of a range, as a body that can be sent again.
    ///
    /// - Returns: the bytes; `nil` if the body isn't seekable, or the range doesn't lie in it.
    package func content(in range: Range<Int64>) -> HTTPBody? {
        guard let length, range.lowerBound >= 0, range.upperBound <= length else { return nil }
        guard range.upperBound < length else { return suffix(from: range.lowerBound) }
        switch storage {
        case .bytes(let bytes):
            return HTTPBody(Data(bytes.dropFirst(Int(range.lowerBound)).prefix(range.count)))
        case .file, .stream:
            guard let rest = suffix(from: range.lowerBound) else { return nil }
            // `count` would trap where `Int` has 32 bits, as on watches.
            let count = range.upperBound - range.lowerBound
            return .restartable(length: count) {
                UnfoldingSequence(from: { (chunks: rest.makeAsyncIterator(), left: count) }) { state in
                    guard state.left > 0, let chunk = try await state.chunks.next() else { return nil }
                    let bytes = chunk.prefix(Int(Swift.min(state.left, Int64(chunk.count))))
                    state.left -= Int64(bytes.count)
                    return bytes.count == chunk.count ? chunk : Data(bytes)
                }
            }
        }
    }

    /// The content from one offset to another, by a reader that begins at any offset.
    private static func seekable(
        from start: Int64,
        to end: Int64,
        _ read: @escaping @Sendable (_ offset: Int64) -> any ChunkReader
    ) -> Self {
        let seek: @Sendable (Int64) -> HTTPBody = { .seekable(from: start + $0, to: end, read) }
        let stream = StreamBody(length: end - start, isRestartable: true, seek: seek, onDiscard: {}) { read(start) }
        return Self(storage: .stream(stream))
    }
}
