internal import Foundation

/// The received and unread chunks of a streamed response: first in, first out.
struct ChunkBuffer {
    typealias Reader = CheckedContinuation<Data?, any Error>

    private var chunks: [Data] = []
    private var first = 0
    /// The bytes held.
    private(set) var count = 0
    /// How the content ended: the reader learns it after the last chunk.
    private var end: Result<Void, any Error>?
    private var reader: Reader?

    /// How many chunks there is a place for, held or taken; for tests.
    var places: Int { chunks.count }

    /// Whether bytes wait for a reader.
    var isEmpty: Bool { count == 0 }

    /// Adds a chunk, or hands it to the reader that waits for one.
    mutating func append(_ chunk: Data) -> Delivery? {
        if let delivery = deliver(.success(chunk)) { return delivery }
        chunks.append(chunk)
        count += chunk.count
        return nil
    }

    /// Gives the next chunk or the end to a reader, now or when there is one.
    mutating func read(_ reader: Reader) -> Delivery? {
        guard self.reader == nil else { return Delivery(reader: reader, result: .failure(Self.readTwice)) }
        self.reader = reader
        if let chunk = take() { return deliver(.success(chunk)) }
        return end.flatMap { deliver($0.map { nil }) }
    }

    /// Ends the content. A later end changes nothing.
    mutating func finish(_ result: Result<Void, any Error>) -> Delivery? {
        guard end == nil else { return nil }
        end = result
        return isEmpty ? deliver(result.map { nil }) : nil
    }

    /// Throws away what is held and ends with an error, whatever the end was before.
    mutating func abandon(_ error: any Error) -> Delivery? {
        chunks = []
        first = 0
        count = 0
        end = .failure(error)
        return deliver(.failure(error))
    }

    private mutating func take() -> Data? {
        guard first < chunks.count else { return nil }
        let chunk = chunks[first]
        chunks[first] = Data()
        first += 1
        count -= chunk.count
        // The places of those that were taken go when they are the most, however long others follow.
        if first * 2 >= chunks.count {
            chunks.removeFirst(first)
            first = 0
        }
        return chunk
    }

    private mutating func deliver(_ result: Result<Data?, any Error>) -> Delivery? {
        guard let reader else { return nil }
        self.reader = nil
        return Delivery(reader: reader, result: result)
    }

    private static var readTwice: TransportError {
        TransportError(.other, "A streamed response is read by one task at a time.")
    }
}

extension ChunkBuffer {
    /// A reader and what it gets, outside of the lock.
    struct Delivery {
        let reader: Reader
        let result: Result<Data?, any Error>

        func perform() { reader.resume(with: result) }
    }
}
