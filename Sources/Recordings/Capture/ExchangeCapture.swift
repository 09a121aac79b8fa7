internal import Foundation
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
        let bytes = response.body.isEmpty ? Data() : response.body.data
        var captured = RecordedExchange.Response(
            status: response.status,
            headers: response.headers,
            isStream: bytes == nil,
            omission: request.omission ?? Self.omission(bytes?.count ?? 0, limit: limit)
        )
        if let bytes {
            if !bytes.isEmpty, captured.omission == nil { captured.chunks = [StubAnswer.Chunk(bytes)] }
            captured.trailers = response.context.trailers?.fields
            exchange.response = captured
            await keep(exchange)
            return response
        }
        exchange.response = captured
        let (body, capture) = (response.body, StreamCapture(exchange, response.context.trailers, self))
        let chunks = UnfoldingSequence(from: { body.makeAsyncIterator() }) { try await capture.next(of: &$0) }
        response.body = .oneShot(chunks, length: body.length) {
            body.discard()
            capture.end(.discarded)
        }
        return response
    }

    /// The reason to leave out a content; `nil` if its length is within the limit.
    static func omission(_ count: Int, limit: Int) -> String? {
        if count <= limit { return nil }
        return "The content is longer than the limit of \(limit) bytes. Raise the limit, and record again."
    }

    fileprivate func keep(_ exchange: RecordedExchange?) async {
        await StartedWork.elsewhere {
            await withCheckedContinuation { continuation in sink(exchange) { continuation.resume() } }
        }
    }
}

extension RecordedExchange.Failure {
    /// The end of a content whose reader discarded the rest, which isn't known.
    static let discarded = Self(
        code: HTTPErrorCode.notRecorded.rawValue,
        message: "The recording of the content ends here, because its reader discarded the rest when it was recorded."
    )

    /// Codes of errors about the call itself, with which a server has nothing to do.
    private static let codesOfCallers: Set<HTTPErrorCode> = [
        .invalidRequest, .unsupportedURL, .unsupported, .sendingForbidden, .bodyNotReplayable, .bodyLengthMismatch,
        .bodySourceFailed, .unreadableFile, .unwritableFile, .readerTooSlow, .noStub, .notRecorded, .invalidLaunchStubs,
    ]

    /// Whether the content ended because its reader discarded the rest.
    var isOfReader: Bool { code == Self.discarded.code }

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
        /// `nil` after the end.
        var exchange: RecordedExchange?
        var count = 0
    }

    private let state: Mutex<State>
    private let trailers: HTTPTrailers?
    private let capture: ExchangeCapture

    init(_ exchange: RecordedExchange, _ trailers: HTTPTrailers?, _ capture: ExchangeCapture) {
        state = Mutex(State(exchange: exchange))
        self.trailers = trailers
        self.capture = capture
    }

    // The reader dropped the response.
    deinit { end(.discarded) }

    /// Ends the capture before the content's end.
    func end(_ failure: RecordedExchange.Failure) {
        if let exchange = close(failure) { capture.sink(exchange) {} }
    }

    /// Reads and captures the next chunk of the content.
    func next(of chunks: inout HTTPBody.AsyncIterator) async throws -> Data? {
        // Measures the wait for the chunk, without the time that the reader takes for the one before.
        let stopwatch = capture.time.stopwatch()
        do {
            if let chunk = try await chunks.next() {
                append(chunk, after: stopwatch.elapsed())
                return chunk
            }
        } catch {
            if let exchange = close(RecordedExchange.Failure(error) ?? .discarded) { await capture.keep(exchange) }
            throw error
        }
        if let exchange = close(nil) { await capture.keep(exchange) }
        return nil
    }

    private func append(_ chunk: Data, after pause: Duration) {
        state.withLock { state in
            guard state.exchange?.response?.omission == nil, var response = state.exchange?.response.take() else {
                return
            }
            state.count += chunk.count
            response.omission = ExchangeCapture.omission(state.count, limit: capture.limit)
            if response.omission != nil {
                response.chunks = []
            } else if response.chunks.count == ExchangeCapture.maxChunks {
                response.chunks[ExchangeCapture.maxChunks - 1].bytes += chunk
                response.chunks[ExchangeCapture.maxChunks - 1].pause += pause
            } else {
                response.chunks.append(StubAnswer.Chunk(chunk, after: pause))
            }
            state.exchange?.response = response
        }
    }

    /// - Parameter failure: the reason of an end before the content's end.
    private func close(_ failure: RecordedExchange.Failure?) -> RecordedExchange? {
        state.withLock { state in
            var exchange = state.exchange.take()
            exchange?.failure = failure
            if failure == nil { exchange?.response?.trailers = trailers?.fields }
            return exchange
        }
    }
}
