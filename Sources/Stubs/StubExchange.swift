internal import Foundation

/// One exchange with something that answers in memory, such as ``StubTransport``, as a real transport would make it.
///
/// Everything that answers with a ``StubAnswer`` uses it, so that all behave alike: progress, limits of size and time, responses
/// without content, streams.
package enum StubExchange {
    /// The number of bytes of a request's file or stream that are kept.
    package static let recordedBodyLimit = 16 << 20

    /// Reads a request's body as a transport that sends it would, within the request's time limits.
    ///
    /// - Returns: the request with its body in memory, to which the time of reading is charged, and whether that body is complete.
    /// - Throws: `TransportError` with `HTTPErrorCode.timedOut` if the body takes too long on the clock.
    package static func receive(
        _ request: HTTPRequest,
        clock: any Clock<Duration>
    ) async throws -> (recorded: HTTPRequest, isComplete: Bool) {
        if let bytes = request.body.data {
            var progress = StubProgress(report: request.context.uploadProgress, total: request.body.length)
            progress.add(bytes.count)
            return (request, true)
        }
        let limit = ReadingLimit(request, clock: clock)
        let (bytes, isComplete) = try await limit.run { try await read(request, $0) }
        try Task.checkCancellation()
        var recorded = request
        limit.charge(&recorded)
        recorded.body = HTTPBody(bytes)
        return (recorded, isComplete)
    }

    private static func read(
        _ request: HTTPRequest,
        _ arrived: @Sendable () -> Void
    ) async throws -> (data: Data, isComplete: Bool) {
        var progress = StubProgress(report: request.context.uploadProgress, total: request.body.length)
        var bytes = Data()
        var isComplete = true
        do {
            try await request.body.forEachSentChunk { chunk in
                arrived()
                let room = recordedBodyLimit - bytes.count
                bytes += chunk.prefix(room)
                isComplete = isComplete && chunk.count <= room
                progress.add(chunk.count)
            }
        } catch let error as TransportError where error.code == .bodyNotReplayable {
            throw TransportError.bodyNotReplayable(request: request)
        }
        return (bytes, isComplete)
    }

    /// The response that an answer gives to a request.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - request: the request, with its body in memory.
    ///   - clock: measures delays and time limits.
    ///   - bodyOpened: called before a streamed response is returned.
    ///   - bodyClosed: called when the streamed response was read to its end, failed, or was discarded.
    package static func response(
        of answer: StubAnswer,
        to request: HTTPRequest,
        clock: any Clock<Duration>,
        bodyOpened: () -> Void = {},
        bodyClosed: @escaping @Sendable () -> Void = {}
    ) async throws -> HTTPResponse {
        var pace = StubPace(clock: clock, request: request)
        var response = try await answer.response(to: request, &pace)
        try Task.checkCancellation()
        response.url = response.url ?? request.url
        if !HTTPResponse.hasContent(status: response.status.code, answering: request.method) {
            response.body.discard()
            response.body = .empty
            if response.context.trailers?.fields != nil { response.context.trailers = HTTPTrailers([:]) }
        } else if let limit = request.context.responseBody.bufferLimit {
            response = try await buffered(response, upTo: limit, for: request)
        } else if !response.body.isEmpty {
            bodyOpened()
            response.body = streamed(response.body, takeTrailers(of: &response), for: request, bodyClosed)
        }
        return response
    }

    /// Replaces known trailers by trailers that come with the end of the stream. Returns the action at the end.
    private static func takeTrailers(of response: inout HTTPResponse) -> @Sendable () -> Void {
        guard let fields = response.context.trailers?.fields else { return {} }
        let trailers = HTTPTrailers.pending()
        response.context.trailers = trailers
        return { trailers.receive(fields) }
    }

    private static func buffered(
        _ response: HTTPResponse,
        upTo limit: Int,
        for request: HTTPRequest
    ) async throws -> HTTPResponse {
        var buffered = response
        do {
            let bytes = try await response.body.collect(upTo: limit)
            var progress = StubProgress(report: request.context.downloadProgress, total: response.body.length)
            progress.add(bytes.count)
            buffered.body = HTTPBody(bytes)
        } catch {
            let isTooLarge = (error as? TransportError)?.code == .bodyTooLarge
            let failure = isTooLarge ? TransportError.bodyTooLarge(limit: limit, request: request) : error
            guard isFollowed(response, after: error, of: request) else { throw failure }
            buffered.body = .unreadable(failure)
            if response.context.trailers?.fields != nil { buffered.context.trailers = .pending() }
        }
        return buffered
    }

    /// Whether a response whose content failed is a redirect that is followed.
    private static func isFollowed(_ response: HTTPResponse, after error: any Error, of request: HTTPRequest) -> Bool {
        guard !Task.isCancelled, !(error is CancellationError) else { return false }
        return request.context.followsRedirects && HTTPResponse.isRedirect(response.status, response.headers)
    }

    private static func streamed(
        _ body: HTTPBody,
        _ end: @escaping @Sendable () -> Void,
        for request: HTTPRequest,
        _ close: @escaping @Sendable () -> Void
    ) -> HTTPBody {
        let progress = StubProgress(report: request.context.downloadProgress, total: body.length)
        let chunks = UnfoldingSequence(from: { (body.makeAsyncIterator(), progress) }) { state in
            do {
                try Task.checkCancellation()
                if let chunk = try await state.0.next() {
                    state.1.add(chunk.count)
                    return chunk
                }
            } catch {
                // A cancelled reader discards the rest, as closing a connection would.
                body.discard()
                close()
                throw error
            }
            end()
            close()
            return nil
        }
        return .oneShot(chunks, length: body.length) {
            body.discard()
            close()
        }
    }
}

extension StubAnswer {
    fileprivate func response(to request: HTTPRequest, _ pace: inout StubPace) async throws -> HTTPResponse {
        guard onConnection == nil else {
            let text = "This answer needs the connection of a MockServer."
            throw TransportError(.noStub, text, request: request)
        }
        for head in interims {
            try Task.checkCancellation()
            request.context.interim?(head)
        }
        try await pace.wait(delay)
        switch content {
        case .body(let body):
            return response(body)
        case .file(let url):
            return response(try HTTPBody(file: url))
        case .chunks(let chunks, let failure):
            return response(pace.chunks(chunks, failure))
        case .failure(let error):
            throw error
        case .never:
            return try await pace.waitForever()
        case .closure(let answer):
            return try await pace.limit { try await answer(request) }
        case .choice(let choose):
            let answer = try await pace.limit { try await choose(request) }
            return try await answer.response(to: request, &pace)
        }
    }

    private func response(_ body: HTTPBody) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers, body: body)
        response.context.trailers = trailers.map(HTTPTrailers.init)
        return response
    }
}

/// Reports the progress of a body.
struct StubProgress: Sendable {
    let report: (@Sendable (TransferProgress) -> Void)?
    let total: Int64?
    private(set) var completed: Int64 = 0

    mutating func add(_ count: Int) {
        completed += Int64(count)
        if count > 0 { report?(TransferProgress(completed: completed, total: total)) }
    }
}
