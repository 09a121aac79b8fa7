internal import Foundation

/// The content of a streamed response, which can be read once. The transfer ends when nothing can read the content any more.
final class StreamedContent: AsyncSequence, Sendable {
    typealias Element = Data

    private let reading: Reading

    init(_ transfer: SessionTransfer) { reading = Reading(transfer) }

    func makeAsyncIterator() -> Iterator { Iterator(reading: reading) }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let reading: Reading

        func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            try await reading.transfer.nextChunk()
        }

        func next() async throws -> Data? { try await reading.transfer.nextChunk() }
    }

    /// Retained by the content and its iterators. The last release ends the transfer.
    fileprivate final class Reading: Sendable {
        let transfer: SessionTransfer

        init(_ transfer: SessionTransfer) { self.transfer = transfer }

        deinit { transfer.discard() }
    }
}
