public import Foundation

/// A chunk that comes many times, as a body's chunks do.
public struct Repeated: AsyncSequence, Sendable {
    let chunk: Data
    let count: Int

    /// Creates a sequence of one chunk, many times.
    public init(_ chunk: Data, times count: Int) {
        self.chunk = chunk
        self.count = count
    }

    /// An iterator of the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        let chunk: Data
        var rest: Int

        /// Returns the chunk, or `nil` at the end.
        public mutating func next() async throws -> Data? {
            guard rest > 0 else { return nil }
            rest -= 1
            return chunk
        }
    }

    /// Creates an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(chunk: chunk, rest: count) }
}
