#if os(Linux)
internal import Foundation
internal import Synchronization

/// Passes a streamed request body from the task that reads it to the loop's thread, which sends it. A mutex guards all state.
final class CurlUpload: Sendable {
    enum Piece {
        case bytes(Int)
        case wait
        case end
        case failed
    }

    private struct State {
        var pending = ChunkQueue()
        var sent: Int64 = 0
        var isEnded = false
        var failure: (any Error)?
        var isLoopWaiting = false
        var space: CheckedContinuation<Bool, Never>?
        var isClosed = false
        var source: Task<Void, Never>?
        var hasStarted = false
        var start: CheckedContinuation<Void, Never>?
    }

    private static let highMark = 256 * 1024

    let length: Int64?
    private let onProgress: (@Sendable (TransferProgress) -> Void)?
    private let state = Mutex(State())

    init(length: Int64?, onProgress: (@Sendable (TransferProgress) -> Void)?) {
        self.length = length
        self.onProgress = onProgress
    }

    /// The error that reading the body ended with, if any.
    var failure: (any Error)? { state.withLock(\.failure) }

    /// Whether libcurl has taken no byte yet.
    var hasSentNothing: Bool { state.withLock { $0.sent == 0 } }

    /// Whether the source waits until some of its bytes are sent. For tests.
    var isSourceHeld: Bool { state.withLock { $0.space != nil } }

    /// Starts a task that reads the body. The task inherits the caller's priority and task-local values, waits for
    /// ``start()``, and ends with the transfer at the latest.
    ///
    /// - Parameter wake: called when the loop, which waited for bytes, may continue.
    func begin(_ body: HTTPBody, wake: @escaping @Sendable () -> Void) {
        let source = Task {
            await waitForStart()
            if state.withLock({ !$0.isClosed }) { await pump(body, wake: wake) }
        }
        let isClosed = state.withLock { state in
            state.source = source
            return state.isClosed
        }
        if isClosed { source.cancel() }
    }

    /// Called by the loop when a connection for the body is established. Until then a one-shot body isn't touched, so that
    /// another attempt can still send it.
    func start() {
        let start = state.withLock { state in
            state.hasStarted = true
            defer { state.start = nil }
            return state.start
        }
        start?.resume()
    }

    private func waitForStart() async {
        await withCheckedContinuation { continuation in
            let hasStarted = state.withLock { state in
                if !state.hasStarted { state.start = continuation }
                return state.hasStarted
            }
            if hasStarted { continuation.resume() }
        }
    }

    /// Reads the whole body into the queue, no faster than it is sent. If the transfer ends first, the rest of the body isn't
    /// read.
    private func pump(_ body: HTTPBody, wake: @Sendable () -> Void) async {
        do {
            try await body.forEachSentChunk { chunk in
                let (mustWait, mustWake) = state.withLock { state in
                    state.pending.append(chunk)
                    defer { state.isLoopWaiting = false }
                    return (state.pending.count >= Self.highMark, state.isLoopWaiting)
                }
                if mustWake { wake() }
                if mustWait, await waitForSpace() == false { throw CancellationError() }
            }
            finish(nil, wake: wake)
        } catch {
            finish(error, wake: wake)
        }
    }

    /// Called by the loop: copies the next bytes to send.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Piece {
        let (piece, space, sent): (Piece, CheckedContinuation<Bool, Never>?, Int64) = state.withLock { state in
            if state.failure != nil { return (.failed, nil, 0) }
            let count = state.pending.take(into: buffer)
            guard count > 0 else {
                state.isLoopWaiting = !state.isEnded
                return (state.isEnded ? .end : .wait, nil, 0)
            }
            state.sent += Int64(count)
            guard state.pending.count < Self.highMark else { return (.bytes(count), nil, state.sent) }
            defer { state.space = nil }
            return (.bytes(count), state.space, state.sent)
        }
        space?.resume(returning: true)
        if case .bytes = piece { onProgress?(TransferProgress(completed: sent, total: length)) }
        return piece
    }

    /// Called by the loop when the transfer has ended: stops the source.
    func close() {
        let (space, source) = state.withLock { state in
            state.isEnded = true
            state.isClosed = true
            state.pending = ChunkQueue()
            defer {
                state.space = nil
                state.source = nil
            }
            return (state.space, state.source)
        }
        start()
        space?.resume(returning: false)
        source?.cancel()
    }

    private func finish(_ failure: (any Error)?, wake: @Sendable () -> Void) {
        let mustWake = state.withLock { state in
            guard !state.isClosed else { return false }
            state.isEnded = true
            state.failure = failure
            defer { state.isLoopWaiting = false }
            return state.isLoopWaiting
        }
        if mustWake { wake() }
    }

    private func waitForSpace() async -> Bool {
        await withCheckedContinuation { continuation in
            let hasSpace: Bool? = state.withLock { state in
                if state.isEnded { return false }
                if state.pending.count < Self.highMark { return true }
                state.space = continuation
                return nil
            }
            if let hasSpace { continuation.resume(returning: hasSpace) }
        }
    }
}
#endif
