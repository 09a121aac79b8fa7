public import Foundation

/// A chunk that comes many times, as a body's chunks do.
public struct Repeated: AsyncSequence, Sendable {
    let chunk: Data
    let count: Int

    public init(_ chunk: Data, times count: Int) {
        self.chunk = chunk
        self.count = count
    }

    public struct Iterator: AsyncIteratorProtocol {
        let chunk: Data
        var rest: Int

        public mutating func next() async throws -> Data? {
            guard rest > 0 else { return nil }
            rest -= 1
            return chunk
        }
    }

    public func makeAsyncIterator() -> Iterator { Iterator(chunk: chunk, rest: count) }
}
