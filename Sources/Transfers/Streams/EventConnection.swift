internal import Foundation
internal import Interceptors

/// The events of one response. Releasing the connection discards the rest of the response.
final class EventConnection {
    private let body: HTTPBody
    private let request: HTTPRequest
    private var chunks: HTTPBody.AsyncIterator
    private var parser: EventStreamParser
    /// The time since the response's head arrived.
    let lifetime: @Sendable () -> Duration
    /// Whether any byte has arrived.
    private(set) var hasContent = false

    /// - Parameters:
    ///   - parser: has the state of earlier connections that still holds.
    ///   - request: the request, for errors.
    init(_ body: HTTPBody, parser: EventStreamParser, request: HTTPRequest, time: TimeSource) {
        self.body = body
        self.request = request
        self.parser = parser
        chunks = body.makeAsyncIterator()
        lifetime = time.startMeasuring()
    }

    deinit { body.discard() }

    var lastEventID: String { parser.lastEventID }
    var retry: Duration? { parser.retry }

    /// The next event, or `nil` at the end of the response.
    func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
        do {
            var hasRead = false
            while true {
                if let event = try parser.next() { return event }
                // A server that sends only comments mustn't hold the caller's actor.
                if hasRead { try await Task.yieldUnlessCancelled() }
                hasRead = true
                guard let chunk = try await chunks.next(isolation: actor) else { return nil }
                hasContent = hasContent || !chunk.isEmpty
                parser.append(chunk)
            }
        } catch let error as TransportError where error.request == nil {
            throw error.about(request)
        }
    }
}

extension Task where Success == Never, Failure == Never {
    /// Lets other work of the actor run.
    static func yieldUnlessCancelled() async throws {
        try checkCancellation()
        await yield()
        try checkCancellation()
    }
}

extension TransportError {
    /// This error about a request, for errors of a body, which doesn't know its request.
    func about(_ request: HTTPRequest) -> TransportError {
        var error = TransportError(code, message, request: request, underlying: underlying)
        error.context = context
        return error
    }
}
