internal import Interceptors

/// The events of a stream, over as many connections as it takes: see
/// ``InterceptorsCore/Client/events(_:after:upTo:idleLimit:reconnection:query:headers:context:time:)``.
public struct ServerSentEvents: AsyncSequence, Sendable {
    let source: EventSource

    /// Receives one event after the other. Releasing the iterator closes its connection.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let source: EventSource
        private var connection: EventConnection?
        private var plan: ReconnectionPlan?
        private var lastEventID: String
        private var number: CallNumber?
        private var isOver = false

        init(_ source: EventSource) {
            self.source = source
            plan = source.reconnection.map { ReconnectionPlan($0) }
            lastEventID = source.lastEventID
        }

        /// The next event; `nil` after the stream has ended for good, or after an error.
        public mutating func next() async throws -> ServerSentEvent? {
            try await next(isolation: #isolation)
        }

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
                lastEventID = connection.lastEventID
                plan?.retry = connection.retry
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
            guard !(error is CancellationError), !Task.isCancelled, error.receivedResponse == nil else {
                return nil
            }
            if let refusal = error.temporaryRefusal {
                return .failed(error, wait: refusal.wait ?? .zero)
            }
            guard error.isOrIsCausedBy(Self.lostConnection) else { return nil }
            guard let connection else { return .failed(error, wait: .zero) }
            return .broken(error, lifetime: connection.lifetime(), hasContent: connection.hasContent)
        }

        private static let lostConnection: Set<HTTPErrorCode> = [
            .offline, .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .truncated, .readerTooSlow,
        ]
    }

    /// Starts a stream after the given event. It connects when the first event is asked for.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source) }
}
