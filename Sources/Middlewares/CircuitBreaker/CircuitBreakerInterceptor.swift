/// Stops sending to a host that keeps failing, and tries now and then whether it works again.
///
/// ```swift
/// interceptors: [
///     .retry(.exponential(maxAttempts: 3)),
///     .circuitBreaker(.consecutiveFailures(5), openFor: .seconds(30), onChange: { change in
///         print(change)                                   // https://api.example.com:443: closed -> open
///     }),
///     .timeout(.seconds(10), of: "one attempt"),
/// ]
/// ```
/// A host that is down gets no requests that would only wait for their time-outs, and a host that struggles gets room to
/// recover. Each host, told by scheme, host and port, has a circuit of its own:
/// - *closed*: requests go. Too many failures (``CircuitTrip``) open it.
/// - *open*: requests fail at once with ``CircuitOpenError``, which says when the next probe may go.
/// - *half-open*: when it has been open for the given time, the next requests go as probes, never more at once than must
///   still succeed. If one fails, the circuit is open again for the same time; when enough have succeeded, it is closed.
///
/// At most 1,024 hosts are remembered; beyond that, those go that work, and then those that were not asked for longest.
///
/// ## Its place
/// Inside of `retry`, so that each attempt counts and an open circuit ends the attempts, and of a cache, which can answer
/// with what it has. Outside of a `timeout` of one attempt: a time-out inside of it is a failure of the host, one outside is
/// a cancellation like any other. Best inside of `limitConcurrency` too, so that it decides at the moment of sending.
/// Its copies share their circuits: the same value may stand in several chains.
///
/// ## What counts
/// What ``CircuitVerdict/standard(_:)`` says, or a closure of your own. A cancelled request never counts; nor does an
/// answer that comes when the state of the circuit has changed since its request was sent. A response is judged when it
/// is here; what happens to a streamed body later doesn't count. A probe that is cancelled, or takes longer than the time
/// for which a circuit is open, makes room for another.
public struct CircuitBreakerInterceptor: Interceptor {
    let breaker: CircuitBreaker
    private let judge: @Sendable (Result<HTTPResponse, any Error>) -> CircuitVerdict

    /// A circuit breaker.
    ///
    /// - Parameters:
    ///   - trip: when a circuit opens, by default after five failures in a row.
    ///   - openFor: how long it is open before the first probe, 30 s by default.
    ///   - probes: how many probes must succeed to close it, at least 1; never more are under way.
    ///   - verdict: what an answer says about the host. It must not consume the response's body. Cancellations are not shown
    ///     to it.
    ///   - clock: what the time is measured by.
    ///   - onChange: told of each change of state, in their order, outside of any lock; it must return quickly.
    public init(
        _ trip: CircuitTrip = .consecutiveFailures(5),
        openFor: Duration = .seconds(30),
        probes: Int = 1,
        verdict: @escaping @Sendable (Result<HTTPResponse, any Error>) -> CircuitVerdict = CircuitVerdict.standard,
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: @escaping @Sendable (CircuitChange) -> Void = { _ in }
    ) {
        let openFor = min(max(.zero, openFor), Deadline.farthest)
        let rules = Circuit.Rules(trip: trip, openFor: openFor, probes: max(1, probes))
        breaker = CircuitBreaker(rules, clock: clock, onChange: onChange)
        judge = verdict
    }

    /// Passes the request on unless the circuit of its host is open.
    ///
    /// - Throws: ``CircuitOpenError``; what the rest throws.
    public func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        // Without a host there is nothing to judge, and no transport sends it.
        guard let origin = Origin(request.url) else { return try await next(request) }
        let pass = try breaker.admit(request, to: origin)
        let answer: Result<HTTPResponse, any Error>
        do {
            answer = .success(try await next(request))
        } catch {
            guard !(error is CancellationError), !Task.isCancelled else {
                breaker.record(.ignored, of: pass, to: origin)
                throw error
            }
            answer = .failure(error)
        }
        breaker.record(judge(answer), of: pass, to: origin)
        return try answer.get()
    }
}

extension Interceptor where Self == CircuitBreakerInterceptor {
    /// Stops sending to a host that keeps failing: see ``CircuitBreakerInterceptor``, and its initialiser for the parameters.
    public static func circuitBreaker(
        _ trip: CircuitTrip = .consecutiveFailures(5),
        openFor: Duration = .seconds(30),
        probes: Int = 1,
        verdict: @escaping @Sendable (Result<HTTPResponse, any Error>) -> CircuitVerdict = CircuitVerdict.standard,
        clock: any Clock<Duration> = ContinuousClock(),
        onChange: @escaping @Sendable (CircuitChange) -> Void = { _ in }
    ) -> Self {
        Self(trip, openFor: openFor, probes: probes, verdict: verdict, clock: clock, onChange: onChange)
    }
}
