internal import Foundation
internal import Interceptors

/// One request, with the faults that happen to it.
struct FaultyExchange {
    private static let remark = " The fault is injected."

    private var request: HTTPRequest
    private let next: Next
    private let time: TimeSource
    private var pace: StubPace

    init(_ request: HTTPRequest, _ next: Next, _ time: TimeSource) {
        self.request = request
        self.next = next
        self.time = time
        var limited = request
        limited.context.timeouts = request.context.timeouts ?? Timeouts()
        pace = StubPace(clock: time.clock, request: limited, remark: Self.remark)
    }

    /// Waits as a slow network would, and charges the wait to the request's limit.
    mutating func wait(_ latency: Duration) async throws {
        guard latency > .zero else { return }
        request.note(.fault("waits \(latency.logged) before sending"))
        guard let timeouts = request.context.timeouts else { return try await time.clock.sleep(for: latency) }
        try await pace.wait(latency)
        // `spent` is unknown to transports of other packages.
        request.context.timeouts?.total = timeouts.total.map { max(.zero, $0 - latency) }
    }

    /// - Throws: the fault's error, `CancellationError`, or an error of the rest of the chain.
    mutating func response(with fault: Fault.Kind?) async throws -> HTTPResponse {
        switch fault {
        case .latency, nil: return try await next(request)
        case .answer(let answer):
            request.note(.fault("\(answer.summary) instead of sending"))
            request.body.discard()
            return try await StubExchange.response(of: answer, to: request, clock: time.clock)
        case .failure(let code):
            request.note(.fault("\(code) instead of sending"))
            let error = error(code, "The exchange failed.")
            // A failure that may follow the sending uses up a one-shot body.
            if !error.sentNothing { request.body.discard() }
            throw error
        case .reset:
            try await loseResponse(note: "reset")
            throw error(.connectionLost, "The connection ended before the response began.")
        case .timeout:
            let elapsed = time.startMeasuring()
            try await loseResponse(note: "timeout")
            pace.elapsed += elapsed()
            return try await pace.waitForever()
        case .truncation: return try await truncate(try await next(request))
        }
    }

    private func error(_ code: HTTPErrorCode, _ message: String) -> TransportError {
        TransportError(code, message + Self.remark, request: request)
    }

    /// Sends the request, and drops the response at its head, before its content arrives.
    private func loseResponse(note: String) async throws {
        let notes = request.notes
        var request = request
        request.context.responseBody = .streamed
        request.context.downloadProgress = nil
        request.context.interim = nil
        try await next(request).body.discard()
        try Task.checkCancellation()
        notes.add(.fault("\(note): the response is lost"))
    }

    private func truncate(_ response: HTTPResponse) async throws -> HTTPResponse {
        guard !response.body.isEmpty else { return response }
        var response = response
        let (notes, error) = (request.notes, error(.truncated, "The response ended before its content was complete."))
        if response.body.isUnreadStream {
            response.body = response.body.truncated(to: time.random.unit(), throwing: error) { count in
                notes.add(.fault("truncation: the content ends after \(count) bytes"))
            }
            return response
        }
        try Task.checkCancellation()
        notes.add(.fault("truncation: a part of the content is lost"))
        // As a transport treats broken content: an error, or a redirect to be followed whose content can't be read.
        let answer = StubAnswer(response.status, response.headerFields, .chunks([], thenFailing: error))
        response.body = try await StubExchange.response(of: answer, to: request, clock: time.clock).body
        response.context.trailers = .pending()
        return response
    }
}

extension HTTPBody {
    /// The first bytes of a stream, and then an error.
    ///
    /// - Parameters:
    ///   - part: the part of the content before the error, from 0 up to, but not including, 1. If the length of the content is
    ///     unknown, the part of the first chunk.
    ///   - onCut: gets the number of bytes when the content breaks off.
    fileprivate func truncated(
        to part: Double,
        throwing error: TransportError,
        onCut: @escaping @Sendable (_ count: Int) -> Void
    ) -> HTTPBody {
        wrapped(length: length) { body in
            let end = body.length.map { Int(Double($0) * part) }
            return UnfoldingSequence(from: { (chunks: body.makeAsyncIterator(), end: end, count: 0) }) { state in
                if state.count != state.end {
                    guard let chunk = try await state.chunks.next() else { return Data?.none }
                    let end = state.end ?? Int(Double(chunk.count) * part)
                    let kept = Data(chunk.prefix(end - state.count))
                    (state.end, state.count) = (end, state.count + kept.count)
                    if !kept.isEmpty { return kept }
                }
                body.discard()
                try Task.checkCancellation()
                onCut(state.count)
                throw error
            }
        }
    }
}

extension CallNote {
    fileprivate static func fault(_ text: String) -> Self { Self("fault", text) }
}
