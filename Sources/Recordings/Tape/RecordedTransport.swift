internal import Foundation

/// Plays a ``Recording``, or sends requests through another transport and records them: see
/// ``InterceptorsTransport/Transport/recorded(_:over:)``.
///
/// Responses are played as a real transport would give them: buffered or streamed, within the limits of the request's context, with
/// progress, and with an end at once for a cancelled call.
public struct RecordedTransport: Transport {
    let recording: Recording
    let base: any Transport

    /// Answers a request from the recording, or sends it, as the recording's mode says.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.notRecorded` if nothing recorded answers and the mode doesn't send; the
    ///   recorded failure of a request that failed when it was recorded; `HTTPErrorCode.unreadableFile` if the recording is
    ///   missing, can't be read or isn't an HTTP Archive; `HTTPErrorCode.unwritableFile` if the request is to be recorded, and the
    ///   recording can't be written, or another process writes it. Rethrows errors of the other transport.
    public func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        if recording.mode == .live { return try await base.send(request) }
        let request = request
        try Task.checkCancellation()
        try request.validate()
        let session = try await recording.session()
        let options = recording.options
        let arrived = try await ArrivedRequest(request, limit: options.bodyLimit, clock: options.time.clock)
        switch await session.decision(about: arrived.recorded) {
        case .play(let index, let ticket):
            return try await play(session.index.exchanges[index], to: arrived, session, ticket)
        case .record(let old, let ticket):
            let capture = try session.capture(arrived.recorded, replacing: old, ticket)
            return try await capture.capture { try await base.send(arrived.sendable) }
        case .refuse(let count):
            arrived.sendable.body.discard()
            throw await refusal(of: arrived, session, count: count)
        }
    }

    private func play(
        _ exchange: RecordedExchange,
        to arrived: ArrivedRequest,
        _ session: TapeSession,
        _ ticket: TapeState.Ticket
    ) async throws -> HTTPResponse {
        do {
            let (time, repeatsPauses) = (session.options.time, session.options.repeatsPauses)
            let request = try await StubExchange.receive(arrived.sendable, clock: time.clock).recorded
            let answer = exchange.answer(now: time.now(), delays: repeatsPauses, to: request)
            return try await StubExchange.response(of: answer, to: request, clock: time.clock)
        } catch {
            if error is CancellationError || Task.isCancelled { session.giveBack(ticket) }
            throw error
        }
    }

    // Compares the request with all entries, which takes too long for the caller's actor.
    @concurrent
    private func refusal(of arrived: ArrivedRequest, _ session: TapeSession, count: Int) async -> TransportError {
        let cause: String
        if count > 0 {
            cause = "answered \(count) of \(count) times: this request was made more often than it was recorded."
        } else {
            let (sent, requests) = (arrived.recorded, session.index.exchanges.map(\.request))
            let options = session.options
            let nearest = RequestDifference.sentence(sent, among: requests, options.matching, options.redaction)
            cause = "has no entry for this request. " + (nearest ?? session.contents)
        }
        let remedy =
            "Record it in mode new, or everything again in mode all."
            + (count > 0 ? " With repeatingLast: true, the last response plays again." : "")
        let message = "The recording \(session.files.path) (mode \(session.mode)) \(cause) \(remedy)"
        return TransportError(.notRecorded, message, request: arrived.sendable)
    }
}

extension RecordedTransport: ForwardingTransport {
    package var targets: [any Transport]? { recording.mode == .live ? [base] : nil }
}

extension TapeSession {
    /// Redacting and parsing a large content takes too long for the caller's actor. A change of threads takes longer than a small
    /// one.
    fileprivate func decision(about request: RecordedExchange.Request) async -> TapeState.Decision {
        request.body?.count ?? 0 > 65_536 ? await takeElsewhere(request) : take(request)
    }

    @concurrent
    private func takeElsewhere(_ request: RecordedExchange.Request) async -> TapeState.Decision { take(request) }

    /// A sentence about the entries.
    fileprivate var contents: String {
        let names = index.exchanges.prefix(3).map(\.name)
        if names.isEmpty { return "It is empty." }
        let list = names.joined(separator: ", ")
        return names.count < index.exchanges.count
            ? "Its first of \(index.exchanges.count) entries: \(list)." : "It has: \(list)."
    }
}

extension Transport where Self == RecordedTransport {
    /// Answers from a recording, and records what isn't there by sending it through another transport.
    ///
    /// ```swift
    /// let tape = Recording(at: file)
    /// let api = Client(baseURL: url, interceptors: chain, transport: .recorded(tape, over: .platform()))
    /// ```
    /// The recording is made of what goes over the wire: below the chain, so that caches, retries and redirects do their work when
    /// it plays.
    ///
    /// One process records a file at a time: a request that a second one would record fails with `HTTPErrorCode.unwritableFile`, and so does
    /// one that is to be recorded in a folder that can't be written. Nothing is sent then. Any number of processes may play.
    ///
    /// While recording, a response in memory is returned, and the end of a stream reported, after its line is in the side file. The
    /// request's content is read first, up to the recording's limit, because it takes part in the comparison; what was a stream is
    /// sent as one. Errors of the transport are recorded as they are, connections that break in mid-content too, and play as
    /// `TransportError` with the same code. Calls that are cancelled before their response aren't recorded. A stream that its
    /// reader discards is recorded as far as it was read: when it plays, reading further fails with `HTTPErrorCode.notRecorded`.
    ///
    /// - Parameters:
    ///   - recording: the recording.
    ///   - transport: the transport that requests go through when they don't play.
    public static func recorded(_ recording: Recording, over transport: any Transport) -> Self {
        RecordedTransport(recording: recording, base: transport)
    }
}
