internal import Foundation
internal import Transport

/// The events of one response. Releasing the connection discards the rest of the response.
final class EventConnection {
    private let body: HTTPBody
    private let request: HTTPRequest
    private var chunks: HTTPBody.AsyncIterator
    private var parser: EventStreamParser
    /// Whether any byte has arrived.
    private(set) var hasContent = false

    /// - Parameter request: the request, for errors.
    init(_ body: HTTPBody, limit: Int, lastEventID: String, request: HTTPRequest) {
        self.body = body
        self.request = request
        chunks = body.makeAsyncIterator()
        parser = EventStreamParser(limit: limit, lastEventID: lastEventID)
    }

    deinit { body.discard() }

    var lastEventID: String { parser.lastEventID }
    var retry: Duration? { parser.retry }

    /// The next event, or `nil` at the end of the response.
    func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
        do {
            while true {
                if let event = try parser.next() { return event }
                guard let chunk = try await chunks.next(isolation: actor) else { return nil }
                hasContent = true
                parser.append(chunk)
            }
        } catch let error as TransportError where error.request == nil {
            throw error.about(request)
        }
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
