internal import Foundation
internal import InterceptorsTransport
internal import Synchronization

/// Makes a ``RecordedExchange`` of an exchange that passes, without holding up the response.
///
/// A response in memory is captured when it arrives. A stream is captured chunk by chunk while its reader reads it. A reader that
/// discards the stream, or is cancelled, ends the capture there: a redirect whose content nobody wants is part of the recording.
struct ExchangeCapture: Sendable {
    /// Keeps what was captured, and then calls `done`. Called once for each call, from any thread; it must not block. There is no exchange
    /// if the call was cancelled, or failed before it had anything to do with a server.
    typealias Sink = @Sendable (_ exchange: RecordedExchange?, _ done: @escaping @Sendable () -> Void) -> Void

    /// The request, as it is to be recorded.
    let request: RecordedExchange.Request
    /// The maximum number of bytes of a response's content that are kept. The content of a response to a request whose content is
    /// left out is left out, too.
    let limit: Int
    let time: TimeSource
    let sink: Sink

    /// Without a bound, a server that sends single bytes would cost a hundred times the memory of its content. Later chunks are joined.
    static let maxChunks = 10_000

    /// Sends a request, and captures the exchange.
    ///
    /// A response in memory is returned after `sink` has kept it, and the end of a stream is reported after that, too.
    func capture(_ send: () async throws -> HTTPResponse) async throws -> HTTPResponse {
        let (startedAt, stopwatch) = (time.now(), time.stopwatch())
        var exchange = RecordedExchange(startedAt: startedAt, request: request)
        var response: HTTPResponse
        do {
            response = try await send()
        } catch {
            exchange.wait = stopwatch.elapsed()
            exchange.failure = RecordedExchange.Failure(error)
            await keep(exchange.failure == nil ? nil : exchange)
            throw error
        }
        exchange.wait = stopwatch.elapsed()
        exchange.response = RecordedExchange.Response(status: response.status, headerFields: response.headerFields)
        guard !response.body.isInMemory, !response.body.isEmpty else {
            let bytes = response.body.bytes ?? Data()
            exchange.response?.omission = request.omission ?? Self.omission(bytes.count, limit: limit)
            let isKept = !bytes.isEmpty && exchange.response?.omission == nil
            exchange.response?.chunks = isKept ? [StubAnswer.Chunk(bytes)] : []
            exchange.response?.trailers = response.context.trailers?.fields
            await keep(exchange)
            return response
        }
        exchange.response?.isStream = true
        exchange.response?.omission = request.omission
        let body = response.body
        let capture = StreamCapture(exchange, response.context.trailers, limit: limit, sink)
        let chunks = UnfoldingSequence(from: { body.makeAsyncIterator() }) { chunks in
            try await capture.next(of: &chunks, time)
        }
        response.body = .oneShot(chunks, length: body.length) {
            body.discard()
            capture.end(.discarded)
        }
        return response
    }

    /// The reason to leave out a content; `nil` if its length is within the limit.
    static func omission(_ count: Int, limit: Int) -> String? {
        if count <= limit { return nil }
        return
            "The content is longer than the limit of \(limit) bytes. Raise the recording's contentLimit, and record again."
    }

    private func keep(_ exchange: RecordedExchange?) async {
        await StartedWork.elsewhere {
            await withCheckedContinuation { continuation in sink(exchange) { continuation.resume() } }
        }
    }
}

extension RecordedExchange.Failure {
    /// The code of a content that its reader didn't read to the end, so that the rest isn't known.
    static let discardedCode = "notRecorded"

    /// The end of a content whose reader discarded the rest.
    static let discarded = Self(
        code: discardedCode,
        message: "The recording of the content ends here, because its reader discarded the rest when it was recorded."
    )

    /// Codes of errors about the call itself, with which a server has nothing to do.
    private static let codesOfCallers: Set<HTTPErrorCode> = [
        .invalidRequest, .unsupportedURL, .unsupported, .sendingForbidden, .bodyNotReplayable, .bodyLengthMismatch,
        .bodySourceFailed, .unreadableFile, .unwritableFile, .readerTooSlow, .noStub, .notRecorded, .invalidLaunchStubs,
    ]

    /// Whether the content ended because its reader discarded the rest.
    var isOfReader: Bool { code == Self.discardedCode }

    /// A failure as it is recorded; `nil` for one that isn't: a cancellation, or an error about the call itself.
    init?(_ error: any Error) {
        guard !(error is CancellationError), !Task.isCancelled else { return nil }
        guard let error = error as? any HTTPError else {
            self.init(code: HTTPErrorCode.transportFailed.rawValue, message: ErrorText.line(error))
            return
        }
        guard !Self.codesOfCallers.contains(error.code) else { return nil }
        self.init(code: error.code.rawValue, message: error.message)
    }
}

/// The capture of one streamed response. It ends once: at the stream's end, by its failure, or when its reader gives it up.
private final class StreamCapture: Sendable {
    private struct State {
        var exchange: RecordedExchange
        var chunks: [StubAnswer.Chunk] = []
        var count = 0
        var isOpen = true
    }

    private let state: Mutex<State>
    private let trailers: HTTPTrailers?
    private let limit: Int
    private let sink: ExchangeCapture.Sink

    init(
        _ exchange: RecordedExchange,
        _ trailers: HTTPTrailers?,
        limit: Int,
        _ sink: @escaping ExchangeCapture.Sink
    ) {
        state = Mutex(State(exchange: exchange))
        self.trailers = trailers
        self.limit = limit
        self.sink = sink
    }

    // The reader dropped the response.
    deinit { end(.discarded) }

    func append(_ chunk: Data, after pause: Duration) {
        state.withLock { state in
            guard state.exchange.response?.omission == nil else { return }
            state.count += chunk.count
            if let omission = ExchangeCapture.omission(state.count, limit: limit) {
                state.exchange.response?.omission = omission
                state.chunks = []
            } else if state.chunks.count == ExchangeCapture.maxChunks {
                state.chunks[ExchangeCapture.maxChunks - 1].join(chunk, after: pause)
            } else {
                state.chunks.append(StubAnswer.Chunk(chunk, after: pause))
            }
        }
    }

    /// Ends the capture with a failure, or at the content's end.
    func end(_ failure: RecordedExchange.Failure?, done: @escaping @Sendable () -> Void = {}) {
        guard let exchange = close(failure) else { return done() }
        sink(exchange, done)
    }

    /// Reads and captures the next chunk of the content.
    func next(of chunks: inout HTTPBody.AsyncIterator, _ time: TimeSource) async throws -> Data? {
        // Measures the wait for the chunk, without the time that the reader takes for the one before.
        let stopwatch = time.stopwatch()
        do {
            if let chunk = try await chunks.next() {
                append(chunk, after: stopwatch.elapsed())
                return chunk
            }
        } catch {
            await endAndWait(RecordedExchange.Failure(error) ?? .discarded)
            throw error
        }
        await endAndWait(nil)
        return nil
    }

    private func endAndWait(_ failure: RecordedExchange.Failure?) async {
        await StartedWork.elsewhere {
            await withCheckedContinuation { continuation in end(failure) { continuation.resume() } }
        }
    }

    private func close(_ failure: RecordedExchange.Failure?) -> RecordedExchange? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            state.isOpen = false
            state.exchange.failure = failure
            state.exchange.response?.chunks = state.chunks
            if failure == nil { state.exchange.response?.trailers = trailers?.fields }
            state.chunks = []
            return state.exchange
        }
    }
}

extension StubAnswer.Chunk {
    fileprivate mutating func join(_ more: Data, after pause: Duration) {
        bytes += more
        self.pause += pause
    }
}
