internal import Foundation
internal import Interceptors

/// The first bytes of a stream, and then an error.
struct TruncatedChunks: AsyncSequence, Sendable {
    let body: HTTPBody
    /// The part of the content before the error, from 0 up to, but not including, 1. If the length of the content is unknown, the
    /// part of the first chunk.
    let part: Double
    let error: TransportError
    /// Gets the number of bytes when the content breaks off.
    let onCut: @Sendable (_ count: Int64) -> Void

    func makeAsyncIterator() -> Iterator {
        Iterator(
            chunks: self,
            source: body.makeAsyncIterator(),
            remaining: body.length.map { Int64(Double($0) * part) }
        )
    }

    struct Iterator: AsyncIteratorProtocol {
        let chunks: TruncatedChunks
        var source: HTTPBody.AsyncIterator
        /// `nil` until the first chunk of a content of unknown length.
        var remaining: Int64?
        var count: Int64 = 0

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            if remaining != 0 {
                guard let chunk = try await source.next(isolation: actor) else { return nil }
                let left = remaining ?? Int64(Double(chunk.count) * chunks.part)
                let kept = chunk.prefix(Int(clamping: left))
                remaining = left - Int64(kept.count)
                count += Int64(kept.count)
                if !kept.isEmpty { return Data(kept) }
            }
            chunks.body.discard()
            try Task.checkCancellation()
            chunks.onCut(count)
            throw chunks.error
        }
    }
}
