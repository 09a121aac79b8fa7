internal import Foundation
internal import Interceptors

/// The first bytes of a stream, and then an error.
struct TruncatedChunks: AsyncSequence, Sendable {
    let body: HTTPBody
    /// The number of bytes before the error. A shorter stream ends with the error too.
    let count: Int64
    let error: TransportError

    func makeAsyncIterator() -> Iterator { Iterator(chunks: self, source: body.makeAsyncIterator(), remaining: count) }

    struct Iterator: AsyncIteratorProtocol {
        let chunks: TruncatedChunks
        var source: HTTPBody.AsyncIterator
        var remaining: Int64

        mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            guard remaining > 0, let chunk = try await source.next(isolation: actor) else {
                chunks.body.discard()
                throw chunks.error
            }
            let part = chunk.prefix(Int(clamping: remaining))
            remaining -= Int64(part.count)
            return Data(part)
        }
    }
}
