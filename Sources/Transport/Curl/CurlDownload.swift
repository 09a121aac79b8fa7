#if os(Linux)
internal import Foundation
internal import Synchronization

/// Passes a streamed response body from the loop's thread, which offers bytes, to the body's one reader. A mutex guards all
/// state.
///
/// Waking the reader for each piece would cost more than the piece. The reader therefore sleeps until the held bytes reach a
/// threshold (`wakeThreshold`), or until no more bytes are expected for now.
///
/// - The threshold starts at 128 KB. It doubles, up to 512 KB, each time a reader is already waiting when the threshold is
///   reached. It doesn't double while the transport's streams together use much memory.
/// - At 128 KB above the threshold, the transfer is paused, and the threshold returns to 128 KB.
/// - A paused transfer resumes when the reader has reduced the held bytes to 64 KB.
final class CurlDownload: Sendable {
    enum Offer {
        case accepted
        /// Stored, and a reader waits: the loop calls ``deliverUnlessMoreComes()`` after each iteration until it returns
        /// `true`.
        case awaited
        case full
        case abandoned
    }

    private struct State: ~Copyable {
        var held: ReceivedChunks
        var wakeThreshold = initialThreshold
        var end: Result<Void, any Error>?
        /// Known at the end; `nil` if some fields may be missing.
        var trailers: HTTPFields?
        var isPaused = false
        var isAbandoned = false
        // Resumed exactly once: the code that removes it, under the lock, resumes it outside the lock.
        var reader: UnsafeContinuation<Data?, any Error>?
        /// The loop knows that a reader waits, and calls ``deliverUnlessMoreComes()`` after each iteration.
        var isAwaited = false
        var bytesOfIteration = 0
        var coalescer = WakeupCoalescer()

        /// Removes and returns the waiting reader and its next chunk; `nil` without a reader or without bytes.
        mutating func delivery() -> Delivery? {
            guard let reader, let chunk = held.take() else { return nil }
            self.reader = nil
            return Delivery(reader: reader, chunk: chunk)
        }
    }

    private struct Delivery {
        let reader: UnsafeContinuation<Data?, any Error>
        let chunk: Data

        func make() { reader.resume(returning: chunk) }
    }

    private static let lowMark = 64 * 1024
    private static let initialThreshold = 128 * 1024
    private static let maximumThreshold = 512 * 1024

    /// Whether a reader waits for bytes. For tests.
    var hasReader: Bool { state.withLock { $0.reader != nil } }

    /// Known when the reader has been told the end, not when the loop has seen the end, so that a reader that lags behind finds
    /// no trailers before the content.
    let trailers = HTTPTrailers.pending()

    private let state: Mutex<State>
    private let pool: BlockPool
    private let onDrained: @Sendable () -> Void
    private let onAbandoned: @Sendable () -> Void
    private let onReleased: @Sendable () -> Void

    /// - Parameters:
    ///   - pool: the memory for the held bytes.
    ///   - onDrained: called when a paused transfer may resume.
    ///   - onAbandoned: called when nobody will read the rest.
    ///   - onReleased: called when nothing refers to the stream any more.
    init(
        pool: BlockPool,
        onDrained: @escaping @Sendable () -> Void,
        onAbandoned: @escaping @Sendable () -> Void,
        onReleased: @escaping @Sendable () -> Void
    ) {
        state = Mutex(State(held: ReceivedChunks(pool: pool)))
        self.pool = pool
        self.onDrained = onDrained
        self.onAbandoned = onAbandoned
        self.onReleased = onReleased
    }

    deinit { onReleased() }

    func body(length: Int64?) -> HTTPBody {
        let handle = CurlDownloadHandle(self)
        let chunks = UnfoldingSequence(from: { handle }) { handle in try await handle.download.next() }
        return .oneShot(chunks, length: length) { handle.download.abandon() }
    }

    /// Called by the loop with a piece of the body. `.full` means that the piece wasn't stored, and that libcurl must offer
    /// it again after the pause.
    func offer(_ bytes: UnsafeRawBufferPointer) -> Offer {
        let (offer, delivery): (Offer, Delivery?) = state.withLock { [pool] state in
            if state.isAbandoned { return (.abandoned, nil) }
            guard state.held.count < state.wakeThreshold + Self.initialThreshold else {
                state.isPaused = true
                state.wakeThreshold = Self.initialThreshold
                return (.full, nil)
            }
            state.held.append(bytes)
            state.bytesOfIteration = state.isAwaited ? state.bytesOfIteration + bytes.count : bytes.count
            guard state.reader != nil else { return (.accepted, nil) }
            guard state.held.count < state.wakeThreshold else {
                if pool.isPlentiful { state.wakeThreshold = min(Self.maximumThreshold, state.wakeThreshold * 2) }
                state.coalescer.wasRewarded()
                return (.accepted, state.delivery())
            }
            defer { state.isAwaited = true }
            return (state.isAwaited ? .accepted : .awaited, nil)
        }
        delivery?.make()
        return offer
    }

    /// Called by the loop after an iteration: gives the waiting reader its bytes, unless the next iteration will probably
    /// bring more. Returns `true` when no reader waits any more.
    func deliverUnlessMoreComes() -> Bool {
        let (isDone, delivery): (Bool, Delivery?) = state.withLock { state in
            defer { state.bytesOfIteration = 0 }
            let expectsMore = state.coalescer.expectsMore(afterIterationOf: state.bytesOfIteration)
            if expectsMore, state.reader != nil, state.held.count > 0 { return (false, nil) }
            state.isAwaited = false
            return (true, state.delivery())
        }
        delivery?.make()
        return isDone
    }

    /// Called by the loop when the transfer has ended.
    ///
    /// - Parameters:
    ///   - result: the error that ended the transfer, if any.
    ///   - trailers: the trailer fields; `nil` if some may be missing.
    func end(_ result: Result<Void, any Error>, _ trailers: HTTPFields? = nil) {
        let reader = state.withLock { state in
            if state.end == nil { (state.end, state.trailers) = (result, trailers) }
            // The reader gets the held bytes before the end.
            guard state.held.count == 0 else { return nil as UnsafeContinuation<Data?, any Error>? }
            defer { state.reader = nil }
            return state.reader
        }
        if let reader { reader.resume(with: result.map { nil }) } else { state.withLock { $0.delivery() }?.make() }
    }

    /// Called by the reader: returns the next chunk, or `nil` at the end.
    func next() async throws -> Data? {
        let chunk = try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                let (result, isDrained): (Result<Data?, any Error>?, Bool) = state.withLock { state in
                    if state.isAbandoned { return (.failure(CancellationError()), false) }
                    if let chunk = state.held.take() {
                        let isDrained = state.isPaused && state.held.count <= Self.lowMark
                        if isDrained { state.isPaused = false }
                        return (.success(chunk), isDrained)
                    }
                    if let end = state.end { return (end.map { nil }, false) }
                    state.reader = continuation
                    return (nil, false)
                }
                if isDrained { onDrained() }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            abandon()
        }
        if chunk == nil { trailers.receive(state.withLock { $0.trailers }) }
        return chunk
    }

    /// Called from the reader's side to drop the rest of the body and end the transfer.
    func abandon() {
        let (reader, wasRunning): (UnsafeContinuation<Data?, any Error>?, Bool) = state.withLock { state in
            let wasRunning = !state.isAbandoned && state.end == nil
            state.isAbandoned = true
            state.held.removeAll()
            defer { state.reader = nil }
            return (state.reader, wasRunning)
        }
        reader?.resume(throwing: CancellationError())
        if wasRunning { onAbandoned() }
    }
}

/// Referred to by the body and its iterators. When the last reference goes away, the transfer ends.
private final class CurlDownloadHandle: Sendable {
    let download: CurlDownload
    init(_ download: CurlDownload) { self.download = download }
    deinit { download.abandon() }
}
#endif
