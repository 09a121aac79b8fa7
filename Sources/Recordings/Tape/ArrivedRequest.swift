internal import Foundation

/// A request whose content has been read, up to a limit, and that can be sent nevertheless.
struct ArrivedRequest: Sendable {
    /// The request as it arrived, with secrets. Its content is unknown if it is longer than the limit.
    var recorded: RecordedExchange.Request
    /// The request for a transport: its content is as replayable as it was, or more.
    var sendable: HTTPRequest

    /// - Throws: `CancellationError`; `HTTPErrorCode.bodyNotReplayable`, if a one-shot content was sent before, and
    ///   `HTTPErrorCode.bodyTooLarge`, if it is longer than the limit; `HTTPErrorCode.timedOut`, if the content takes longer on the clock
    ///   than the request's time limits.
    init(_ request: HTTPRequest, limit: Int, clock: any Clock<Duration>) async throws {
        sendable = request
        recorded = RecordedExchange.Request(request)
        if let bytes = request.body.data {
            recorded.omission = ExchangeCapture.omission(bytes.count, limit: limit)
            if recorded.omission != nil { recorded.body = nil }
            return
        }
        guard request.body.isReadable else { throw TransportError.bodyNotReplayable(request: request) }
        let body = request.body
        let time = ReadingLimit(request, clock: clock)
        let (chunks, failure) = try await time.run { try await Self.chunks(of: body, upTo: limit, $0) }
        // The rest of the call has the rest of the time.
        time.charge(&sendable)
        let isTooLong = chunks.reduce(0) { $0 + $1.count } > limit
        if isTooLong {
            recorded.omission = ExchangeCapture.omission(.max, limit: limit)
        } else if failure == nil {
            recorded.body = chunks.reduce(into: Data()) { $0 += $1 }
        }
        guard !body.isRestartable else { return }
        guard !isTooLong else {
            body.discard()
            let message =
                "The content is a stream that can be read once, of more than \(limit) bytes. Raise the recording's bodyLimit."
            throw TransportError(.bodyTooLarge, message, request: request)
        }
        sendable.body = .restartable(length: body.length) {
            UnfoldingSequence(from: { chunks[...] }) { rest in
                if let chunk = rest.popFirst() { return chunk }
                if let failure { throw failure }
                return nil
            }
        }
    }

    /// Reads a content up to the chunk that exceeds a limit.
    ///
    /// - Parameter arrived: called for each chunk.
    /// - Returns: the chunks, and the error of the source. Sending fails in the same way.
    private static func chunks(
        of body: HTTPBody,
        upTo limit: Int,
        _ arrived: @Sendable () -> Void
    ) async throws -> (chunks: [Data], failure: (any Error)?) {
        // The source may not notice the cancellation by itself.
        try await withTaskCancellationHandler {
            var chunks: [Data] = []
            var room = limit
            do {
                for try await chunk in body {
                    arrived()
                    chunks.append(chunk)
                    room -= chunk.count
                    if room < 0 { break }
                }
            } catch {
                guard !Task.isCancelled else { throw CancellationError() }
                return (chunks, error)
            }
            return (chunks, nil)
        } onCancel: {
            body.discard()
        }
    }
}
