internal import Foundation
internal import InterceptorsCore

/// A streamed response whose chunks take time, and which may stall or break at any of them.
struct SimulatedStream: AsyncSequence, Sendable {
    /// Something that happens before a chunk, or before the end.
    struct Trouble {
        let index: Int
        /// The time until the stream goes on or breaks.
        let stall: Duration
        let error: TransportError?
    }

    let core: SimulationCore
    let id: Int
    let chunks: [Data]
    let trouble: Trouble?

    static let chunkCount = 3

    func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    struct Iterator: AsyncIteratorProtocol {
        let stream: SimulatedStream
        var index = 0

        mutating func next() async throws -> Data? {
            let core = stream.core
            do {
                if core.chance(30) { try await core.clock.sleep(for: .milliseconds(core.number(in: 1...500))) }
                if let trouble = stream.trouble, trouble.index == index {
                    if trouble.stall > .zero { try await core.clock.sleep(for: trouble.stall) }
                    if let error = trouble.error { throw error }
                }
                try Task.checkCancellation()
            } catch {
                core.closed(body: stream.id)
                throw error
            }
            guard index < stream.chunks.count else {
                core.closed(body: stream.id)
                return nil
            }
            index += 1
            return stream.chunks[index - 1]
        }
    }
}
