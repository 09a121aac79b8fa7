internal import Foundation
internal import Synchronization

/// A body that records how it is read.
final class ScriptedStream: Sendable {
    private struct State {
        var pulls = 0
        var isClosed = false
        var isMade = false
        var holders = 0
    }

    typealias Wait = @Sendable (_ index: Int) async throws -> Void

    private let chunks: [Data]
    private let length: Int64?
    private let wait: Wait
    private let state = Mutex(State())

    /// - Parameters:
    ///   - length: the length that the body announces.
    ///   - wait: called before each chunk, and before the end. Its error ends the stream.
    init(_ chunks: [Data], length: Int64? = nil, before wait: @escaping Wait = { _ in }) {
        self.chunks = chunks
        self.length = length
        self.wait = wait
    }

    /// A stream of content in a number of parts that are nearly equally long.
    convenience init(_ content: Data, in count: Int, before wait: @escaping Wait = { _ in }) {
        self.init(Self.parts(of: content, count), length: Int64(content.count), before: wait)
    }

    /// A stream whose chunks wait at a gate, from one of them on.
    convenience init(_ content: Data, in count: Int, gate: Gate, from index: Int = 0) {
        self.init(content, in: count) { if $0 >= index { try await gate.pass() } }
    }

    /// A stream of unknown length that ends with an error.
    convenience init(_ content: Data, in count: Int, failingWith error: any Error) {
        self.init(Self.parts(of: content, count)) { if $0 == count { throw error } }
    }

    private static func parts(of content: Data, _ count: Int) -> [Data] {
        (0..<count).map { Data(content[content.count * $0 / count..<content.count * ($0 + 1) / count]) }
    }

    /// The number of chunks that were asked for.
    var pulls: Int { state.withLock(\.pulls) }
    /// Whether the stream was read to its end or discarded, or its reader was cancelled.
    var isClosed: Bool { state.withLock(\.isClosed) }

    /// Whether there was a body of the stream.
    var isMade: Bool { state.withLock(\.isMade) }
    /// Whether a body of the stream, or its reader, is still in memory.
    var isHeld: Bool { state.withLock { $0.holders > 0 } }

    func body() -> HTTPBody {
        let holder = Holder(self)
        let content = UnfoldingSequence(from: { holder }) { try await $0.stream.next() }
        return .oneShot(content, length: length, onDiscard: { [self] in close() })
    }

    /// Lives as long as a body of the stream or its reader.
    private final class Holder: Sendable {
        let stream: ScriptedStream

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
            try await wait(index)
            try Task.checkCancellation()
        } catch {
            close()
            throw error
        }
        if index < chunks.count { return chunks[index] }
        close()
        return nil
    }
}
