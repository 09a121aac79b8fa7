internal import Foundation
internal import InterceptorsTransport

/// A request whose content has been read, up to a limit, and that can be sent nevertheless.
struct ArrivedRequest: Sendable {
    /// The request as it arrived, with secrets. Its content is unknown if it is longer than the limit.
    var recorded: RecordedExchange.Request
    /// The request for a transport: its content is as replayable as it was, or more.
    var sendable: HTTPRequest
    /// The end of reading the content.
    enum Content: Sendable {
        case complete
        case tooLong
        /// Its source failed. Sending fails in the same way.
        case failed
    }
    let content: Content

    private let clock: any Clock<Duration>

    /// - Throws: `CancellationError`; `HTTPErrorCode.bodyNotReplayable`, if a one-shot content was sent before;
    ///   `HTTPErrorCode.timedOut`, if the content takes longer on the clock than the request's time limits.
    init(_ request: HTTPRequest, limit: Int, clock: any Clock<Duration>) async throws {
        self.clock = clock
        sendable = request
        recorded = RecordedExchange.Request(
            method: request.method,
            url: request.url.absoluteString,
            headerFields: request.headerFields,
            credentialFields: request.context.credentialFields
        )
        if let bytes = request.body.bytes {
            recorded.omission = ExchangeCapture.omission(bytes.count, limit: limit)
            content = recorded.omission == nil ? .complete : .tooLong
            recorded.body = content == .complete ? bytes : nil
            return
        }
        guard request.body.isReadable else { throw TransportError.bodyNotReplayable(request: request) }
        let reading = BodyReading(request.body)
        let time = ReadingLimit(request, clock: clock)
        let end = try await time.run { try await reading.read(upTo: limit, $0) }
        // The rest of the call has the rest of the time.
        time.charge(&sendable)
        if !request.body.isRestartable { sendable.body = reading.rest(end, length: request.body.length) }
        switch end {
        case .end: content = .complete
        case .limit: content = .tooLong
        case .failure: content = .failed
        }
        recorded.body = content == .complete ? reading.chunks.reduce(into: Data()) { $0 += $1 } : nil
        if content == .tooLong { recorded.omission = ExchangeCapture.omission(.max, limit: limit) }
    }

    /// The request with its content in memory, as a transport in memory receives it. Reports the progress of sending.
    func readInMemory() async throws -> HTTPRequest {
        try await StubExchange.receive(sendable, clock: clock).recorded
    }
}

/// The beginning of a body that is being read, and the iterator that goes on with it.
///
/// Unchecked, because the iterator isn't `Sendable`. One task at a time uses it: ``ArrivedRequest`` waits for the beginning, and the
/// one-shot body around the rest has one reader.
private final class BodyReading: @unchecked Sendable {
    enum End: Sendable {
        case end
        /// There is more.
        case limit
        case failure(any Error)
    }

    private let body: HTTPBody
    private var iterator: HTTPBody.AsyncIterator
    private(set) var chunks: [Data] = []

    init(_ body: HTTPBody) {
        self.body = body
        iterator = body.makeAsyncIterator()
    }

    /// Reads until the end, or until more bytes than the limit have been read.
    ///
    /// - Parameter arrived: called for each chunk.
    func read(upTo limit: Int, _ arrived: @Sendable () -> Void) async throws -> End {
        var count = 0
        return try await withTaskCancellationHandler {
            do {
                while count <= limit {
                    guard let chunk = try await iterator.next() else { return .end }
                    arrived()
                    chunks.append(chunk)
                    count += chunk.count
                }
                return .limit
            } catch {
                guard Task.isCancelled else { return .failure(error) }
                body.discard()
                throw CancellationError()
            }
        } onCancel: { [body] in
            // The source may not notice the cancellation by itself.
            body.discard()
        }
    }

    /// A body with the chunks that were read, and then the rest, or the failure.
    func rest(_ end: End, length: Int64?) -> HTTPBody {
        switch end {
        case .end:
            let chunks = chunks { nil }
            return .restartable(length: length) { chunks }
        case .limit:
            return .oneShot(chunks { try await self.iterator.next() }, length: length) { [body] in body.discard() }
        case .failure(let error):
            let chunks = chunks { throw error }
            return .restartable(length: length) { chunks }
        }
    }

    /// The chunks in memory, and then those of a closure.
    private func chunks(
        then rest: @escaping @Sendable () async throws -> Data?
    ) -> UnfoldingSequence<ArraySlice<Data>, Data> {
        UnfoldingSequence(from: { [chunks] in chunks[...] }) { chunks in
            if let chunk = chunks.popFirst() { return chunk }
            return try await rest()
        }
    }
}
