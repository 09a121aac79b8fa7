internal import Foundation
internal import InterceptorsTransport

/// A request whose content has been read, up to a limit, and that can be sent nevertheless.
struct ArrivedRequest: Sendable {
    /// The request as it arrived, with secrets. Its content is unknown if it is longer than the limit.
    var recorded: RecordedExchange.Request
    /// The request for a transport: its content is as replayable as it was, or more.
    var sendable: HTTPRequest

    private let clock: any Clock<Duration>

    /// - Throws: `CancellationError`; `HTTPErrorCode.bodyNotReplayable`, if a one-shot content was sent before, and
    ///   `HTTPErrorCode.bodyTooLarge`, if it is longer than the limit; `HTTPErrorCode.timedOut`, if the content takes longer on the clock
    ///   than the request's time limits.
    init(_ request: HTTPRequest, limit: Int, clock: any Clock<Duration>) async throws {
        self.clock = clock
        sendable = request
        recorded = RecordedExchange.Request(request)
        if let bytes = request.body.bytes {
            recorded.omission = ExchangeCapture.omission(bytes.count, limit: limit)
            if recorded.omission != nil { recorded.body = nil }
            return
        }
        guard request.body.isReadable else { throw TransportError.bodyNotReplayable(request: request) }
        let body = request.body
        let time = ReadingLimit(request, clock: clock)
        let content = try await time.run { try await Content(reading: body, upTo: limit, $0) }
        // The rest of the call has the rest of the time.
        time.charge(&sendable)
        if content.isTooLong {
            recorded.omission = ExchangeCapture.omission(.max, limit: limit)
        } else if content.failure == nil {
            recorded.body = content.chunks.reduce(into: Data()) { $0 += $1 }
        }
        guard !body.isRestartable else { return }
        guard !content.isTooLong else {
            body.discard()
            let message =
                "The content is a stream that can be read once, of more than \(limit) bytes. Raise the recording's contentLimit."
            throw TransportError(.bodyTooLarge, message, request: request)
        }
        sendable.body = content.body(length: body.length)
    }

    /// The request with its content in memory, as a transport in memory receives it. Reports the progress of sending.
    func readInMemory() async throws -> HTTPRequest {
        try await StubExchange.receive(sendable, clock: clock).recorded
    }
}

/// The content of a request, up to a limit.
private struct Content: Sendable {
    private(set) var chunks: [Data] = []
    private(set) var isTooLong = false
    /// The error of the source. Sending fails in the same way.
    private(set) var failure: (any Error)?

    /// - Parameter arrived: called for each chunk.
    init(reading body: HTTPBody, upTo limit: Int, _ arrived: @Sendable () -> Void) async throws {
        // The source may not notice the cancellation by itself.
        self = try await withTaskCancellationHandler {
            var content = Content()
            var count = 0
            do {
                for try await chunk in body {
                    arrived()
                    content.chunks.append(chunk)
                    count += chunk.count
                    content.isTooLong = count > limit
                    if content.isTooLong { break }
                }
            } catch {
                guard !Task.isCancelled else { throw CancellationError() }
                content.failure = error
            }
            return content
        } onCancel: {
            body.discard()
        }
    }

    private init() {}

    func body(length: Int64?) -> HTTPBody {
        .restartable(length: length) {
            UnfoldingSequence(from: { chunks[...] }) { rest in
                if let chunk = rest.popFirst() { return chunk }
                if let failure { throw failure }
                return nil
            }
        }
    }
}
