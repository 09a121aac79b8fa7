internal import Foundation

/// The received, unread chunks of a streamed response: first in, first out.
struct ChunkBuffer {
    typealias Reader = CheckedContinuation<Data?, any Error>

    private var chunks = ChunkQueue()
    /// The end of the content, which the reader gets after the last chunk.
    private var end: Result<Void, any Error>?
    private var reader: Reader?

    /// The number of slots, of unread and used chunks. For tests.
    var places: Int { chunks.places }
    /// The number of unread bytes.
    var count: Int { chunks.count }
    /// Whether there are no unread bytes.
    var isEmpty: Bool { count == 0 }

    /// Adds a chunk, or returns its delivery to the waiting reader.
    mutating func append(_ chunk: Data) -> Delivery? {
        if let delivery = deliver(.success(chunk)) { return delivery }
        chunks.append(chunk)
        return nil
    }

    /// Registers a reader. Returns the delivery of the next chunk or of the end, if there is one already.
    mutating func read(_ reader: Reader) -> Delivery? {
        guard self.reader == nil else { return Delivery(reader: reader, result: .failure(Self.readTwice)) }
        self.reader = reader
        if let chunk = chunks.take() { return deliver(.success(chunk)) }
        return end.flatMap { deliver($0.map { nil }) }
    }

    /// Ends the content. Only the first end counts.
    mutating func finish(_ result: Result<Void, any Error>) -> Delivery? {
        guard end == nil else { return nil }
        end = result
        return isEmpty ? deliver(result.map { nil }) : nil
    }

    /// Drops the unread chunks and ends the content with an error, even if the content has ended already.
    mutating func abandon(_ error: any Error) -> Delivery? {
        chunks = ChunkQueue()
        end = .failure(error)
        return deliver(.failure(error))
    }

    private mutating func deliver(_ result: Result<Data?, any Error>) -> Delivery? {
        guard let reader else { return nil }
        self.reader = nil
        return Delivery(reader: reader, result: result)
    }

    private static var readTwice: TransportError {
        TransportError(.transportFailed, "A streamed response is read by one task at a time.")
    }
}

extension ChunkBuffer {
    /// A reader and its result, to resume outside the lock.
    struct Delivery {
        let reader: Reader
        let result: Result<Data?, any Error>

        func perform() { reader.resume(with: result) }
    }
}
