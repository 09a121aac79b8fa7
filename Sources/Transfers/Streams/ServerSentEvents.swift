internal import Foundation
internal import Interceptors

/// The events of a stream, over as many connections as it takes: see
/// ``InterceptorsCore/Client/events(_:after:upTo:idleLimit:reconnection:query:headers:context:time:)``.
public struct ServerSentEvents: AsyncSequence, Sendable {
    private static let mediaType = "text/event-stream"
    /// Successes that RFC 9110 defines without content, or with a part of it (§15.3.6, §15.3.7).
    private static let withoutStream: Set<HTTPResponse.Status> = [205, 206]
    /// Servers limit the length of a field, often to 8 KiB for all fields of a request.
    private static let longestID = 4 << 10

    let client: Client
    let request: @Sendable () async throws -> HTTPRequest
    let lastEventID: String
    let limit: Int
    let idleLimit: Duration?
    /// `nil` if a stream isn't continued over another connection.
    let reconnection: Reconnection?
    let time: TimeSource

    /// Receives one event after the other. Releasing the iterator closes its connection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: ServerSentEvents
        private var connection: StreamConnection<EventStreamParser>?
        /// The time since the head of the connection's response arrived.
        private var lifetime: @Sendable () -> Duration = { .zero }
        private var plan: ReconnectionPlan?
        private var lastEventID: String
        private var number: CallNumber?
        private var isOver = false

        init(_ source: ServerSentEvents) {
            self.source = source
            plan = source.reconnection.map { ReconnectionPlan($0) }
            lastEventID = source.lastEventID
        }

        /// The next event; `nil` after the stream has ended for good, or after an error.
        public mutating func next() async throws -> ServerSentEvent? { try await next(isolation: #isolation) }

        /// The next event; `nil` after the stream has ended for good, or after an error.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            guard !isOver else { return nil }
            // Set back only after an event, so that nothing follows an error or the end.
            isOver = true
            while true {
                let end: ReconnectionPlan.End
                do {
                    // The parser may hold further events, which need no waiting.
                    try Task.checkCancellation()
                    if connection == nil {
                        let number = self.number ?? .next()
                        self.number = number
                        connection = try await source.connect(after: lastEventID, retry: plan?.retry, number)
                        lifetime = source.time.startMeasuring()
                    }
                    guard let connection else { return nil }
                    if let event = try await connection.next(isolation: actor) {
                        isOver = false
                        return event
                    }
                    end = .ended
                } catch {
                    guard let found = self.end(after: error) else {
                        connection = nil
                        throw Task.isCancelled ? CancellationError() : error
                    }
                    end = found
                }
                guard let wait = try closeAndPlan(after: end) else { return nil }
                try await source.time.clock.sleep(for: wait)
            }
        }

        /// Closes the connection. Returns the wait before the next one, or `nil` at the end of the sequence.
        private mutating func closeAndPlan(after end: ReconnectionPlan.End) throws -> Duration? {
            if let connection {
                lastEventID = connection.reader.lastEventID
                plan?.retry = connection.reader.retry
            }
            connection = nil
            let random = source.time.random
            if let wait = try plan?.wait(after: end, random: random) { return wait }
            switch end {
            case .ended: return nil
            case .broken(let failure, _, _), .failed(let failure, _): throw failure
            }
        }

        /// How an error ends a connection; `nil` if another connection would fail in the same way.
        private func end(after error: any Error) -> ReconnectionPlan.End? {
            guard !(error is CancellationError), !Task.isCancelled, error.receivedResponse == nil else { return nil }
            if let refusal = error.temporaryRefusal { return .failed(error, wait: refusal.wait ?? .zero) }
            guard error.isOrIsCausedBy(.lostConnections) else { return nil }
            guard let connection else { return .failed(error, wait: .zero) }
            return .broken(error, lifetime: lifetime(), hasContent: connection.hasContent)
        }
    }

    /// Starts a stream after the given event. It connects when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

    /// Sends a request for the events after an event. Returns `nil` after a 204, which ends the stream.
    ///
    /// - Parameters:
    ///   - retry: the server's reconnection time, if it has sent one.
    ///   - number: the number of the call, the same for each connection.
    fileprivate func connect(
        after lastEventID: String,
        retry: Duration?,
        _ number: CallNumber
    ) async throws -> StreamConnection<EventStreamParser>? {
        var request = try await self.request()
        request.headers.addMissing([.accept: Self.mediaType, .cacheControl: "no-cache, no-store"])
        if let field = Self.field(lastEventID) { request.headers[.lastEventID] = field.value }
        request.context.responseBody = .streamed
        request.context.callShape = .liveStream
        request.context.callShape.call = number
        var timeouts = request.context.timeouts ?? Timeouts()
        timeouts.idle = idleLimit
        // A stream has no expected end, so a limit that all other calls share would only break each connection.
        timeouts.total = nil
        request.context.timeouts = timeouts
        let sent = request
        let response = try await client.send(request)
        guard response.status != 204 else {
            response.body.discard()
            return nil
        }
        let decoding = ResponseDecoding(decoder: client.decoder, sent)
        try await decoding.checkStatus(of: response, except: Self.withoutStream)
        try await decoding.checkMediaType(of: response, Self.mediaType)
        let parser = EventStreamParser(limit: limit, lastEventID: lastEventID, retry: retry)
        return StreamConnection(response.body, parser, of: sent)
    }

    /// The field for an event ID; `nil` if there is no ID, or no field that servers accept can hold it.
    private static func field(_ id: String) -> HTTPField? {
        guard !id.isEmpty, id.utf8.count <= longestID else { return nil }
        return HTTPField(name: .lastEventID, value: id)
    }
}

/// One event of a stream of the type `text/event-stream` (HTML Living Standard §9.2).
public struct ServerSentEvent: Sendable, Hashable {
    /// The type, from the field `event`. `message` if the server names none.
    public var type: String
    /// The content: the values of the event's `data` fields, joined by LF.
    public var data: String
    /// The last event ID: the value of the field `id` in this event or, if it has none, in the latest event that has one. Empty
    /// if no event had an ID.
    ///
    /// To continue after this event later, even in another process, pass the ID as `after:`.
    public var id: String
    /// The reconnection time from the server's latest `retry` field, in this event or earlier, also on an earlier connection.
    public var retry: Duration?

    /// Creates an event, as for a test.
    public init(type: String = "message", data: String, id: String = "", retry: Duration? = nil) {
        self.type = type
        self.data = data
        self.id = id
        self.retry = retry
    }
}
