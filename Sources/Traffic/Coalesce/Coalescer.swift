internal import Synchronization

/// An internal event of a ``Coalescer``, for tests.
enum CoalesceEvent: Sendable {
    /// A caller started to wait for an exchange; the value is the number of callers that wait for any exchange.
    case waiting(Int)
    /// An exchange began.
    case began
    /// An exchange's task ended, possibly after all callers had left.
    case ended
}

/// Runs shared exchanges: keeps ``SharedExchanges`` under a lock, and starts, cancels and resumes tasks outside it.
final class Coalescer: Sendable {
    /// A caller that waits for an exchange.
    private struct Caller: Sendable {
        let waiter: Waiter<End>
        let deadline: Deadline?
    }

    private enum End: Sendable {
        case answer(Result<HTTPResponse, any Error>)
        case gaveUp(WaitAbandonment)
    }

    private let exchanges = Mutex(SharedExchanges<ExchangeIdentity, Caller, Task<Void, Never>>())
    private let observe: @Sendable (CoalesceEvent) -> Void

    /// - Parameter observe: called for each event, for tests.
    init(observe: @escaping @Sendable (CoalesceEvent) -> Void) { self.observe = observe }

    /// The number of running exchanges, and of callers that wait for them.
    var counts: (exchanges: Int, waiters: Int) { exchanges.withLock(\.counts) }

    /// Whether a request belongs to a running exchange, as it does where the same interceptor is twice in a chain.
    func isInside(_ request: borrowing HTTPRequest) -> Bool {
        request.context.coalescers.contains(ObjectIdentifier(self))
    }

    /// Lets no further request join the running exchanges with an origin.
    func close(_ origin: Origin) { exchanges.withLock { $0.close(origin) } }

    /// Returns the response of the exchange that all requests with this identity share.
    ///
    /// - Throws: the error of the exchange; ``TransportError`` with ``HTTPErrorCode/timedOut`` at the request's deadline;
    ///   `CancellationError` at once if the task is cancelled. The exchange continues for the other callers.
    func response(
        to request: HTTPRequest,
        _ identity: ExchangeIdentity,
        next: Next
    ) async throws -> HTTPResponse {
        try Task.checkCancellation()
        let caller = Caller(waiter: Waiter(), deadline: request.context.deadline)
        let origin = Origin(request.url)
        let callID = request.context.observedStep?.callID
        let (place, count) = exchanges.withLock {
            ($0.join(identity, origin: origin, caller, callID: callID), $0.counts.waiters)
        }
        if place.isFirst { begin(place.exchange, request, next) } else { request.note(.coalesced(with: place.leader)) }
        observe(.waiting(count))
        let end = await caller.waiter.outcome(before: caller.deadline) { [self] reason in
            let (left, abandoned) = exchanges.withLock { $0.leave(place) }
            abandoned?.cancel()
            left?.waiter.resume(with: .gaveUp(reason))
        }
        switch end {
        case .answer(let answer):
            var response = try answer.get()
            if !place.isFirst {
                response.context.isCoalesced = true
                // A cookie may start a session, which belongs to a single caller.
                response.headers.remove(.setCookie)
                if response.context.cookiesFromServer != nil { response.context.cookiesFromServer = [:] }
            }
            return response
        case .gaveUp(.cancelled): throw CancellationError()
        case .gaveUp(.timeIsUp):
            throw TransportError(
                .timedOut,
                "The call's deadline passed while it waited for the response that it shares with identical requests.",
                request: request
            )
        }
    }

    // An unstructured task, because the exchange must outlive the caller that started it while others wait.
    private func begin(_ exchange: Int, _ request: HTTPRequest, _ next: Next) {
        var shared = request
        shared.shareResponse(by: "coalesce")
        shared.context.coalescers.append(ObjectIdentifier(self))
        if request.context.deadline != nil { shared.context.deadline = deadline(of: exchange) }
        observe(.began)
        let client = request.context.clientOwner
        let work = Task(executorPreference: StartedWork.watcher) { [self, shared] in
            defer { withExtendedLifetime(client) { observe(.ended) } }
            let answer: Result<HTTPResponse, any Error>
            do {
                answer = .success(try await Self.shareable(try await next(shared), shared))
            } catch {
                answer = .failure(error)
            }
            finish(exchange, answer)
        }
        if !exchanges.withLock({ $0.attach(work, to: exchange) }) { work.cancel() }
    }

    @inline(never)
    private func finish(_ exchange: Int, _ answer: Result<HTTPResponse, any Error>) {
        for caller in exchanges.withLock({ $0.finish(exchange) }) { caller.waiter.resume(with: .answer(answer)) }
    }

    // Buffers a one-shot body, which several callers couldn't read.
    private static func shareable(_ response: HTTPResponse, _ request: HTTPRequest) async throws -> HTTPResponse {
        guard !response.body.isRestartable, let limit = request.context.responseBody.bufferLimit else {
            return response
        }
        var response = response
        response.body = HTTPBody(try await response.body.collect(upTo: limit))
        return response
    }

    /// The latest deadline of the callers that wait at the moment of asking. Each caller leaves at its own deadline, and the
    /// exchange is cancelled when the last one leaves.
    private func deadline(of exchange: Int) -> Deadline {
        Deadline.latest { [self] in exchanges.withLock { $0.waiters(of: exchange) }.map(\.deadline) }
    }
}

extension Deadline {
    /// The latest of several deadlines, computed again at each use. A `nil` counts as a deadline that never passes.
    ///
    /// The result counts as enforced, because the owners of the single deadlines enforce those.
    static func latest(of deadlines: @escaping @Sendable () -> [Deadline?]) -> Deadline {
        let farthest = Stopwatch.farthest
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

/// The marks of `coalesce` on a request and its response.
private struct Coalescing: Sendable {
    var coalescers: [ObjectIdentifier] = []
    var isCoalesced = false
}

extension HTTPContext {
    private enum CoalescingKey: HTTPContextKey { static var defaultValue: Coalescing { Coalescing() } }

    /// On a request: the coalescers whose exchanges sent it on.
    fileprivate var coalescers: [ObjectIdentifier] {
        get { self[CoalescingKey.self].coalescers }
        set { self[CoalescingKey.self].coalescers = newValue }
    }

    /// On a response: whether another request started the exchange that produced it.
    public internal(set) var isCoalesced: Bool {
        get { self[CoalescingKey.self].isCoalesced }
        set { self[CoalescingKey.self].isCoalesced = newValue }
    }
}
