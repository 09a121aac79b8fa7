internal import Foundation
internal import Interceptors

/// Lets one chosen fault happen to one request.
struct FaultInjection {
    /// The result of a fault.
    enum Outcome {
        /// The fault happened.
        case happened(Result<HTTPResponse, TransportError>)
        /// The response has nothing that the fault could harm.
        case unharmed(HTTPResponse)
    }

    let request: HTTPRequest
    let next: Next
    let clock: any Clock<Duration>
    let start: FaultStart
    /// The part of the content that a truncated response has.
    let part: Double
    /// Called if a truncated stream turns out to have no content.
    let onEmpty: @Sendable () -> Void

    /// - Throws: an error that isn't the fault's, such as `CancellationError` or an error of the rest of the chain.
    func outcome(of fault: Fault.Kind) async throws -> Outcome {
        switch fault {
        case .latency: return .unharmed(try await next(request))
        case .status(let status):
            return .happened(try await response(status, note: "status \(status.code)"))
        case .captivePortal:
            return .happened(try await response(200, note: "captive portal", page: Self.portalPage))
        case .failure(let code): return .happened(.failure(failure(code)))
        case .reset:
            try await loseResponse(note: "reset")
            return .happened(.failure(error(.connectionLost, "The connection ended before the response began")))
        case .timeout:
            try await loseResponse(note: "timeout")
            return .happened(.failure(try await timeOut()))
        case .truncation: return try await truncate()
        }
    }

    private func error(_ code: HTTPErrorCode, _ message: String) -> TransportError {
        TransportError(code, message + " (an injected fault).", request: request)
    }
}

// Instead of sending.
extension FaultInjection {
    private func response(
        _ status: HTTPResponse.Status,
        note: String,
        page: String = ""
    ) async throws -> Result<HTTPResponse, TransportError> {
        request.note(.fault("\(note) instead of sending"))
        request.body.discard()
        var fields: HTTPFields = [:]
        // RFC 9110 §8.6: a 204 has no Content-Length, and that of a 304 is the length of another response's content.
        if status != 204, status != 304 { fields[.contentLength] = "\(page.utf8.count)" }
        if status == 401 { fields[.wwwAuthenticate] = #"Bearer error="invalid_token""# }
        if !page.isEmpty {
            fields[.contentType] = "text/html; charset=utf-8"
            fields[.cacheControl] = "no-store"
        }
        let answer = StubAnswer.status(status, headers: fields, body: HTTPBody(page))
        do {
            return .success(try await StubExchange.response(of: answer, to: request, clock: clock))
        } catch let error as TransportError {
            return .failure(error)
        }
    }

    private static let portalPage = """
        <!DOCTYPE html>
        <html><head><title>Welcome to Guest Wi-Fi</title></head>
        <body><form action="https://portal.example/login" method="post">
        <h1>Sign in to use this network</h1><input name="room"><button>Connect</button>
        </form></body></html>

        """

    private func failure(_ code: HTTPErrorCode) -> TransportError {
        request.note(.fault("\(code) instead of sending"))
        let error = error(code, "The exchange failed")
        // A failure that may follow the sending uses up a one-shot body.
        if !error.sentNothing { request.body.discard() }
        return error
    }
}

// After sending.
extension FaultInjection {
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

    private func timeOut() async throws -> TransportError {
        let limit = SilenceLimit(of: start.timeouts ?? Timeouts(), after: start.elapsed())
        try await clock.sleep(for: max(.zero, limit?.remaining ?? Stopwatch.farthest))
        return limit?.error(request) ?? error(.timedOut, "There was no response")
    }

    private func truncate() async throws -> Outcome {
        let notes = request.notes
        var response = try await next(request)
        guard !response.body.isEmpty else { return .unharmed(response) }
        let error = error(.truncated, "The response ended before its content was complete")
        if response.body.isUnreadStream {
            response.body = response.body.wrapped(length: response.body.length) { [part, onEmpty] body in
                TruncatedChunks(
                    body: body,
                    part: part,
                    error: error,
                    onCut: { count in notes.add(.fault("truncation: the content ends after \(count) bytes")) },
                    onEmpty: onEmpty
                )
            }
            return .happened(.success(response))
        }
        try Task.checkCancellation()
        notes.add(.fault("truncation: a part of the content is lost"))
        return .happened(try await failing(response, with: error))
    }

    /// A buffered response whose content breaks off, as a transport treats it: the error, or a redirect to be followed whose
    /// content can't be read.
    private func failing(
        _ response: HTTPResponse,
        with error: TransportError
    ) async throws -> Result<HTTPResponse, TransportError> {
        var response = response
        let answer = StubAnswer(response.status, response.headerFields, .chunks([], thenFailing: error))
        do {
            response.body = try await StubExchange.response(of: answer, to: request, clock: clock).body
            response.context.trailers = .pending()
            return .success(response)
        } catch let error as TransportError {
            return .failure(error)
        }
    }
}

extension CallNote {
    static func fault(_ text: String) -> Self { Self("fault", text) }
}
