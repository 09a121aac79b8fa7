internal import Foundation
internal import Interceptors

/// One request, with the faults that happen to it.
struct FaultyExchange {
    var request: HTTPRequest
    let next: Next
    let time: TimeSource
    /// The limits of the request before any wait.
    let timeouts: Timeouts?
    let elapsed: @Sendable () -> Duration

    init(_ request: HTTPRequest, _ next: Next, _ time: TimeSource) {
        self.request = request
        self.next = next
        self.time = time
        timeouts = request.context.timeouts
        elapsed = time.startMeasuring()
    }

    /// Waits as a slow network would, and charges the wait to the request's limit.
    mutating func wait(_ latency: Duration) async throws {
        guard latency > .zero else { return }
        request.note(.fault("waits \(latency.logged) before sending"))
        if let timeouts, let limit = limit(of: timeouts), limit.remaining < latency { try await pass(limit) }
        try await time.clock.sleep(for: latency)
        // `spent` is unknown to transports of other packages.
        let remaining = timeouts?.total.map { max(.zero, $0 - elapsed()) }
        if let remaining { request.context.timeouts?.total = remaining }
    }

    /// - Throws: the fault's error, `CancellationError`, or an error of the rest of the chain.
    func response(with fault: Fault.Kind) async throws -> HTTPResponse {
        switch fault {
        case .latency: return try await next(request)
        case .status(let status):
            // RFC 9110 §8.6: a 204 has no Content-Length, and that of a 304 is the length of another response's content.
            var fields: HTTPFields = status == 204 || status == 304 ? [:] : [.contentLength: "0"]
            if status == 401 { fields[.wwwAuthenticate] = #"Bearer error="invalid_token""# }
            return try await answer(.status(status, headers: fields), note: "status \(status.code)")
        case .captivePortal:
            let length = "\(Self.portalPage.utf8.count)"
            let type = "text/html; charset=utf-8"
            let fields: HTTPFields = [.contentLength: length, .contentType: type, .cacheControl: "no-store"]
            return try await answer(.text(Self.portalPage, headers: fields), note: "captive portal")
        case .failure(let code):
            request.note(.fault("\(code) instead of sending"))
            let error = error(code, "The exchange failed")
            // A failure that may follow the sending uses up a one-shot body.
            if !error.sentNothing { request.body.discard() }
            throw error
        case .reset:
            try await loseResponse(note: "reset")
            throw error(.connectionLost, "The connection ended before the response began")
        case .timeout:
            try await loseResponse(note: "timeout")
            if let limit = limit(of: timeouts ?? Timeouts()) { try await pass(limit) }
            try await time.clock.sleep(for: Stopwatch.farthest)
            throw error(.timedOut, "There was no response")
        case .truncation: return try await truncate(try await next(request))
        }
    }

    private func error(_ code: HTTPErrorCode, _ message: String) -> TransportError {
        TransportError(code, message + " (an injected fault).", request: request)
    }

    /// The limit that passes first if no response comes.
    private func limit(of timeouts: Timeouts) -> (remaining: Duration, text: String)? {
        let idle = timeouts.idle.map { ($0, "\($0), the limit of timeouts.idle") }
        let total = timeouts.total.map { ($0 - timeouts.spent - elapsed(), "\($0), the limit of timeouts.total") }
        return [idle, total].compactMap(\.self).min { $0.0 < $1.0 }
    }

    private func pass(_ limit: (remaining: Duration, text: String)) async throws -> Never {
        try await time.clock.sleep(for: max(.zero, limit.remaining))
        throw error(.timedOut, "There was no response within \(limit.text)")
    }
}

extension FaultyExchange {
    private func answer(_ answer: StubAnswer, note: String) async throws -> HTTPResponse {
        request.note(.fault("\(note) instead of sending"))
        request.body.discard()
        return try await StubExchange.response(of: answer, to: request, clock: time.clock)
    }

    private static let portalPage = """
        <!DOCTYPE html>
        <html><head><title>Welcome to Guest Wi-Fi</title></head>
        <body><form action="https://portal.example/login" method="post">
        <h1>Sign in to use this network</h1><input name="room"><button>Connect</button>
        </form></body></html>

        """

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
        let (notes, error) = (request.notes, error(.truncated, "The response ended before its content was complete"))
        if response.body.isUnreadStream {
            let part = time.random.unit()
            response.body = response.body.wrapped(length: response.body.length) { body in
                TruncatedChunks(body: body, part: part, error: error) { count in
                    notes.add(.fault("truncation: the content ends after \(count) bytes"))
                }
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

extension CallNote {
    fileprivate static func fault(_ text: String) -> Self { Self("fault", text) }
}
