internal import Synchronization

/// What goes on inside of a ``Coalescer``.
enum CoalesceEvent: Sendable {
    /// One more waits for an exchange, and so many do now, for any.
    case waiting(Int)
    /// An exchange began.
    case began
    /// An exchange ended, an abandoned one included.
    case ended
}

/// Acts on what ``SharedExchanges`` decide: the task of each exchange, those who wait, cancellation, deadlines.
final class Coalescer: Sendable {
    /// One who waits for an exchange.
    private struct Waiter: Sendable {
        let turn: Turn<End>
        let deadline: Deadline?
    }

    private enum End: Sendable {
        case answer(Result<HTTPResponse, any Error>)
        case gaveUp(GivingUp)
    }

    private let exchanges = Mutex(SharedExchanges<Waiter, Task<Void, Never>>())
    private let observe: @Sendable (CoalesceEvent) -> Void

    /// - Parameter observe: told what goes on, for tests that must know.
    init(observe: @escaping @Sendable (CoalesceEvent) -> Void) { self.observe = observe }

    /// How many exchanges are in flight, and how many wait for them.
    var counts: (exchanges: Int, waiters: Int) { exchanges.withLock(\.counts) }

    /// Lets nobody more join what is in flight to an origin.
    func close(_ origin: Origin) { exchanges.withLock { $0.close(origin) } }

    /// The answer of an exchange that all requests of this identity share.
    ///
    /// - Throws: what the exchange throws; ``TransportError`` with ``TransportError/Code/timedOut`` at the deadline of the
    ///   request; `CancellationError` at once when the task is cancelled. The exchange goes on for the others.
    func response(
        to request: HTTPRequest,
        _ identity: ExchangeIdentity,
        next: Next
    ) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let waiter = Waiter(turn: Turn(), deadline: request.context.deadline)
        let origin = Origin(request.url)
        let (place, count) = exchanges.withLock { ($0.join(identity, origin: origin, waiter), $0.counts.waiters) }
        if place.isFirst { begin(place.exchange, request, next) }
        observe(.waiting(count))
        let end = await waiter.turn.outcome(before: waiter.deadline) { [self] reason in
            let (left, abandoned) = exchanges.withLock { $0.leave(place) }
            abandoned?.cancel()
            left?.turn.tell(.gaveUp(reason))
        }
        switch end {
        case .answer(let answer):
            var response = try answer.get()
            if !place.isFirst {
                response.context.isCoalesced = true
                // A session that begins is one client's alone.
                response.headerFields.remove(.setCookie)
            }
            return response
        case .gaveUp(.cancelled): throw CancellationError()
        case .gaveUp(.timeIsUp):
            throw TransportError(
                .timedOut,
                "The deadline of the call passed while it waited for the answer that it shares with identical requests.",
                request: request
            )
        }
    }

    // A task of its own: it lives for all who wait, not for the one for whom it was begun.
    private func begin(_ exchange: Int, _ request: HTTPRequest, _ next: Next) {
        var shared = request
        shared.shareResponse(by: "coalesce")
        if request.context.deadline != nil { shared.context.deadline = deadline(of: exchange) }
        observe(.began)
        let work = Task { [shared] in
            defer { observe(.ended) }
            let answer: Result<HTTPResponse, any Error>
            do {
                answer = .success(try await Self.shareable(try await next(shared), shared))
            } catch {
                answer = .failure(error)
            }
            for waiter in exchanges.withLock({ $0.finish(exchange) }) { waiter.turn.tell(.answer(answer)) }
        }
        if !exchanges.withLock({ $0.attach(work, to: exchange) }) { work.cancel() }
    }

    // What can be read once can't be shared.
    private static func shareable(_ response: HTTPResponse, _ request: HTTPRequest) async throws -> HTTPResponse {
        guard !response.body.isRestartable, let limit = request.context.responseBody.bufferLimit else {
            return response
        }
        var response = response
        response.body = HTTPBody(try await response.body.collect(upTo: limit))
        return response
    }

    /// The deadline of the one who can wait longest, of those who wait at the time. Each is seen to leave at its own, and the
    /// exchange is cancelled when the last one has.
    private func deadline(of exchange: Int) -> Deadline {
        Deadline.latest { [self] in exchanges.withLock { $0.waiters(of: exchange) }.map(\.deadline) }
    }
}

extension Deadline {
    /// The one of several that passes last, told anew each time; it never passes while one of them is none.
    ///
    /// It counts as enforced: whoever has one of these deadlines sees to it.
    static func latest(of deadlines: @escaping @Sendable () -> [Deadline?]) -> Deadline {
        let remaining: @Sendable () -> Duration = {
            deadlines().map { $0?.remaining ?? farthest }.max() ?? .zero
        }
        var latest = Deadline(remaining: remaining) {
            while remaining() > .zero {
                let last = deadlines().max { ($0?.remaining ?? farthest) < ($1?.remaining ?? farthest) }
                try await ((last ?? nil) ?? Deadline(after: farthest)).sleep()
            }
        }
        latest.isEnforced = true
        return latest
    }
}

extension HTTPContext {
    private enum CoalescedKey: HTTPContextKey { static var defaultValue: Bool { false } }

    /// On a response: whether it is that of an exchange which another request had begun.
    public internal(set) var isCoalesced: Bool {
        get { self[CoalescedKey.self] }
        set { self[CoalescedKey.self] = newValue }
    }
}
