internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// A body that records how it is read.
final class ScriptedStream: Sendable {
    private struct State {
        var pulls = 0
        var isClosed = false
        var isMade = false
        var holders = 0
    }

    private let chunks: [Data]
    private let gate: Gate?
    private let gatedFrom: Int
    private let error: (any Error)?
    private let state = Mutex(State())

    /// - Parameters:
    ///   - gate: must be open for the chunks from `gatedFrom` on, and for the end.
    ///   - error: the end of the stream.
    init(_ chunks: [Data], gate: Gate? = nil, gatedFrom: Int = 0, error: (any Error)? = nil) {
        self.chunks = chunks
        self.gate = gate
        self.gatedFrom = gatedFrom
        self.error = error
    }

    /// The number of chunks that were asked for.
    var pulls: Int { state.withLock(\.pulls) }
    /// Whether the stream was read to its end or discarded, or its reader was cancelled.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Whether there was a body of the stream.
    var isMade: Bool { state.withLock(\.isMade) }
    /// Whether a body of the stream, or its reader, is still in memory.
    var isHeld: Bool { state.withLock { $0.holders > 0 } }

    func body(length: Int64? = nil) -> HTTPBody {
        .oneShot(Chunks(stream: self, holder: Holder(self)), length: length, onDiscard: { [self] in close() })
    }

    /// Lives as long as a body of the stream or its reader.
    private final class Holder: Sendable {
        private let stream: ScriptedStream

        init(_ stream: ScriptedStream) {
            self.stream = stream
            stream.state.withLock { state in
                state.isMade = true
                state.holders += 1
            }
        }

        deinit { stream.state.withLock { $0.holders -= 1 } }
    }

    private func close() { state.withLock { $0.isClosed = true } }

    private func next() async throws -> Data? {
        let index = state.withLock { state in
            state.pulls += 1
            return state.pulls - 1
        }
        do {
            if index >= gatedFrom { try await gate?.pass() }
            try Task.checkCancellation()
        } catch {
            close()
            throw error
        }
        if index < chunks.count { return chunks[index] }
        close()
        if let error { throw error }
        return nil
    }

    /// Content in a number of parts that are nearly equally long.
    static func parts(of content: Data, count: Int) -> [Data] {
        (0..<count).map { content[content.count * $0 / count..<content.count * ($0 + 1) / count] }.map { Data($0) }
    }

    private struct Chunks: AsyncSequence, Sendable {
        let stream: ScriptedStream
        let holder: Holder
        func makeAsyncIterator() -> Iterator { Iterator(stream: stream, holder: holder) }

        struct Iterator: AsyncIteratorProtocol {
            let stream: ScriptedStream
            let holder: Holder
            mutating func next() async throws -> Data? { try await stream.next() }
        }
    }
}
