public import Foundation
internal import Synchronization

/// The same chunk again and again, always at once, until the main actor has time. Then comes the last chunk.
///
/// The first read starts a task of the main actor that ends the flood. So a reader on the main actor that never lets other work
/// run uses up the flood.
public final class Flood: AsyncSequence, Sendable {
    private let chunk: Data
    private let last: Data
    private let state = Mutex((isEnding: false, count: 0))

    /// The number of chunks after which the flood ends by itself, so that a test fails instead of hanging.
    private static let most = 100_000

    /// Creates a flood of a text, which ends with another one.
    public init(_ chunk: String, then last: String) {
        self.chunk = Data(chunk.utf8)
        self.last = Data(last.utf8)
    }

    /// Whether the flood ended by itself.
    public var isUsedUp: Bool { state.withLock { $0.count >= Self.most } }

    private func next() -> (chunk: Data, isLast: Bool) {
        let isFirst = state.withLock { $0.count == 0 }
        if isFirst { Task { @MainActor in state.withLock { $0.isEnding = true } } }
        return state.withLock { state in
            state.count += 1
            let isLast = state.isEnding || state.count >= Self.most
            return (isLast ? last : chunk, isLast)
        }
    }

    /// Reads the chunks.
    public struct Iterator: AsyncIteratorProtocol {
        let flood: Flood
        var hasEnded = false

        /// The next chunk.
        public mutating func next() async throws -> Data? { try await next(isolation: #isolation) }

        /// The next chunk, without leaving the actor.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Data? {
            guard !hasEnded else { return nil }
            let (chunk, isLast) = flood.next()
            hasEnded = isLast
            return chunk
        }
    }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator { Iterator(flood: self) }
}
