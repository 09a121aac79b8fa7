/// The implementation of `.circuitBreaker(…)`, documented there.
struct CircuitBreakerInterceptor: PlacedInterceptor {
    let breaker: CircuitBreaker
    private let trip: CircuitTrip
    private let failures: OutcomeCondition

    init(
        _ trip: CircuitTrip = .consecutiveFailures(5),
        openFor: Duration = .seconds(30),
        probes: Int = 1,
        failures: OutcomeCondition = .hostFailure,
        time: TimeSource = .system,
        onChange: (@Sendable (_ origin: Origin, _ old: CircuitState, _ new: CircuitState) -> Void)? = nil
    ) {
        let openFor = min(max(.zero, openFor), Stopwatch.farthest)
        let rules = Circuit.Rules(trip: trip, openFor: openFor, probes: max(1, probes))
        self.trip = trip
        breaker = CircuitBreaker(rules, clock: time.clock, onChange: onChange ?? { _, _, _ in })
        self.failures = failures
    }

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        // A URL without a host has no circuit, and no transport sends it.
        guard let origin = Origin(request.url) else { return try await next(request) }
        let pass = try breaker.admit(request, to: origin)
        let answer: Result<HTTPResponse, any Error>
        do {
            answer = .success(try await next(copy request))
        } catch {
            guard !(error is CancellationError), !Task.isCancelled else {
                breaker.record(.ignored, of: pass, to: origin)
                throw error
            }
            answer = .failure(error)
        }
        breaker.record(verdict(on: answer, to: request), of: pass, to: origin)
        return try answer.get()
    }

    private func verdict(
        on answer: Result<HTTPResponse, any Error>,
        to request: borrowing HTTPRequest
    ) -> CircuitVerdict {
        if failures.matches(answer, to: request) { return .failure }
        return answer.answered == nil ? .ignored : .success
    }

    var placement: [ChainRole] { [.breaksCircuit.with { $0.failures = trip.failuresInARow }] }
}

extension Interceptor where Self == AnyInterceptor {
    /// Stops sending requests to a host that keeps failing, and probes from time to time whether the host has recovered.
    ///
    /// ```swift
    /// interceptors: [
    ///     .retry(maxAttempts: 3),
    ///     .circuitBreaker(.consecutiveFailures(5), openFor: .seconds(30)) { origin, old, new in
    ///         print("\(origin): \(old) -> \(new)")            // https://api.example.com:443: closed -> open
    ///     },
    ///     .timeout(.seconds(10), of: "one attempt"),
    /// ]
    /// ```
    /// Callers of a host that is down fail at once instead of waiting for timeouts, and an overloaded host gets time to
    /// recover. Each origin (scheme, host and port) has a separate circuit:
    /// - *closed*: requests are sent. Too many failures (``CircuitTrip``) open the circuit.
    /// - *open*: requests fail at once with `LimitError`, which says when the next probe may be sent.
    /// - *half-open*: after `openFor`, the next requests are sent as probes, never more at once than must still succeed. If a
    ///   probe fails, the circuit opens again for the same time; after enough successes, the circuit closes.
    ///
    /// At most 1,024 origins are remembered. Beyond that, healthy origins are forgotten first, then those least recently used.
    ///
    /// ## Order
    /// - Inside `retry`, so that each attempt counts and an open circuit ends the attempts.
    /// - Inside a cache, which can serve stored responses while the circuit is open.
    /// - Inside `limitConcurrency`, so that the circuit decides at the moment of sending.
    /// - Outside a `timeout` of one attempt, so that a timeout counts as a failure of the host. An outer `timeout` counts as a
    ///   cancellation.
    ///
    /// Copies share their circuits, so the same value can be part of several chains.
    ///
    /// ## Which outcomes count
    /// - The outcomes in `failures` count as failures of the host, by default `OutcomeCondition.hostFailure`.
    /// - All other responses count as successes, also those that an inner interceptor such as `validateStatus` turned into
    ///   errors.
    /// - All other errors are ignored.
    ///
    /// Cancelled requests never count, nor do outcomes of requests that were sent before the circuit's last change of state. A
    /// response is judged when it arrives; later errors of a streamed body don't count. A probe that is cancelled, or that
    /// takes longer than `openFor`, makes room for another.
    ///
    /// - Parameters:
    ///   - trip: when a circuit opens, by default after five failures in a row.
    ///   - openFor: the time from opening to the first probe, 30 s by default.
    ///   - probes: the number of probes that must succeed to close the circuit, and the maximum sent at once; at least 1, and 1
    ///     by default.
    ///   - failures: the outcomes that count as failures of the host.
    ///   - time: measures the time.
    ///   - onChange: called for each change of state with the origin, the state before and the state after, in order and
    ///     outside any lock. The closure must return quickly.
    public static func circuitBreaker(
        _ trip: CircuitTrip = .consecutiveFailures(5),
        openFor: Duration = .seconds(30),
        probes: Int = 1,
        failures: OutcomeCondition = .hostFailure,
        time: TimeSource = .system,
        onChange: (@Sendable (_ origin: Origin, _ old: CircuitState, _ new: CircuitState) -> Void)? = nil
    ) -> Self {
        Self(
            CircuitBreakerInterceptor(
                trip,
                openFor: openFor,
                probes: probes,
                failures: failures,
                time: time,
                onChange: onChange
            )
        )
    }
}
