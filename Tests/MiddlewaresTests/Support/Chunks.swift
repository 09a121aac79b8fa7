import Foundation
import Synchronization
import TestSupport

/// Chunks of text, followed by the end or an error. `reads` counts the calls of `next()`.
struct Chunks: AsyncSequence, Sendable {
    let chunks: [String]
    let failure: (any Error)?
    let reads: Tally

    init(_ chunks: [String], failure: (any Error)? = nil, reads: Tally = Tally()) {
        self.chunks = chunks
        self.failure = failure
        self.reads = reads
    }

    struct Iterator: AsyncIteratorProtocol {
        var rest: ArraySlice<String>
        let failure: (any Error)?
        let reads: Tally

        mutating func next() async throws -> Data? {
            reads.count()
            if let chunk = rest.popFirst() { return Data(chunk.utf8) }
            if let failure { throw failure }
            return nil
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(rest: chunks[...], failure: failure, reads: reads) }
}

/// A body that never sends a chunk: the reader waits until it is cancelled.
struct NoChunks: AsyncSequence, Sendable {
    let reads: Tally
    let began: AsyncStream<Void>.Continuation?

    init(reads: Tally = Tally(), began: AsyncStream<Void>.Continuation? = nil) {
        self.reads = reads
        self.began = began
    }

    struct Iterator: AsyncIteratorProtocol {
        let reads: Tally
        let began: AsyncStream<Void>.Continuation?

        mutating func next() async throws -> Data? {
            reads.count()
            let (never, continuation) = AsyncStream<Void>.makeStream()
            defer { continuation.finish() }
            began?.yield()
            for await _ in never {}
            try Task.checkCancellation()
            return nil
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(reads: reads, began: began) }
}
