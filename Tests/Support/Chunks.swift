public import Foundation

/// Chunks of text, followed by the end or an error. `reads` counts the calls of `next()`.
public struct Chunks: AsyncSequence, Sendable {
    /// The chunks, as text.
    public let chunks: [String]
    let failure: (any Error)?
    /// Counts the calls of `next()`.
    public let reads: Tally

    /// Creates a sequence that ends, or fails, after the chunks.
    public init(_ chunks: [String], failure: (any Error)? = nil, reads: Tally = Tally()) {
        self.chunks = chunks
        self.failure = failure
        self.reads = reads
    }

    /// Reads the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<String>
        let failure: (any Error)?
        let reads: Tally

        /// The next chunk.
        public mutating func next() async throws -> Data? {
            reads.count()
            if let chunk = rest.popFirst() { return Data(chunk.utf8) }
            if let failure { throw failure }
            return nil
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator { Iterator(rest: chunks[...], failure: failure, reads: reads) }
}

/// A body that never sends a chunk: the reader waits until it is cancelled.
public struct NoChunks: AsyncSequence, Sendable {
    /// Counts the calls of `next()`.
    public let reads: Tally
    let began: AsyncStream<Void>.Continuation?

    /// Creates a sequence. `began` gets a value with each read.
    public init(reads: Tally = Tally(), began: AsyncStream<Void>.Continuation? = nil) {
        self.reads = reads
        self.began = began
    }

    /// Reads the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        let reads: Tally
        let began: AsyncStream<Void>.Continuation?

        /// The next chunk.
        public mutating func next() async throws -> Data? {
            reads.count()
            let (never, continuation) = AsyncStream<Void>.makeStream()
            defer { continuation.finish() }
            began?.yield()
            for await _ in never {}
            try Task.checkCancellation()
            return nil
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator { Iterator(reads: reads, began: began) }
}
