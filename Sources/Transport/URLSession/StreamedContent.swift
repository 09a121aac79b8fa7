internal import Foundation

/// Retained by the content of a streamed response and its iterators. The transfer ends when nothing can read the content any more.
final class StreamedContent: Sendable {
    private let transfer: SessionTransfer

    init(_ transfer: SessionTransfer) { self.transfer = transfer }

    deinit { transfer.discard() }

    func nextChunk() async throws -> Data? { try await transfer.nextChunk() }
}
