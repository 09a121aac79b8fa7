internal import Foundation
public import Interceptors

/// The implementation of `.faults(…)`, documented there.
struct FaultsInterceptor: Interceptor {
    let faults: FaultSwitch
    let time: TimeSource

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        // No transport would send a malformed, forbidden or used-up request, so no network could fail.
        guard faults.isOn, (try? request.validate()) != nil, request.body.isReadable,
            let plan = faults.plan(for: request, random: time.random)
        else { return try await next(request) }
        var request = request
        let choice = plan.choice.map { [$0] } ?? []
        var pending = plan.waits + choice
        defer { faults.giveBack(pending) }

        let start = FaultStart(timeouts: request.context.timeouts, elapsed: time.startMeasuring())
        let lateness = try await wait(plan.latency, for: &request, since: start)
        pending = choice
        if let lateness { throw lateness }
        try Task.checkCancellation()
        guard let fault = plan.fault else { return try await next(request) }
        let injection = FaultInjection(request: request, next: next, clock: time.clock, start: start, part: plan.part) {
            [faults] in faults.giveBack(choice)
        }
        switch try await injection.outcome(of: fault.kind) {
        case .unharmed(let response): return response
        case .happened(let result):
            pending = []
            return try result.get()
        }
    }

    /// Waits as a slow network would, and charges the wait to the request's limit. Returns the error if a limit passes first.
    private func wait(
        _ latency: Duration,
        for request: inout HTTPRequest,
        since start: FaultStart
    ) async throws -> TransportError? {
        guard latency > .zero else { return nil }
        request.note(.fault("waits \(latency.logged) before sending"))
        let limit = SilenceLimit(of: start.timeouts, after: .zero)
        try await time.clock.sleep(for: max(.zero, min(latency, limit?.remaining ?? latency)))
        if let limit, limit.remaining < latency { return limit.error(request) }
        // `spent` is unknown to transports of other packages.
        if let total = start.timeouts?.total { request.context.timeouts?.total = max(.zero, total - start.elapsed()) }
        return nil
    }
}

/// The time limits of a request, and the time since the request reached its faults.
struct FaultStart {
    let timeouts: Timeouts?
    let elapsed: @Sendable () -> Duration
}

extension FaultsInterceptor: PlacedInterceptor {
    var placement: Placement {
        let inner: [(ChainRole, reason: String)] = [
            (.resends, "An inner retry, refresh or redirect never sees an injected fault."),
            (.shares, "An inner cache never sees an injected fault, and even its stored responses fail."),
            (.limits, "An inner limit or circuit breaker never sees an injected fault."),
            (.judges, "An inner check of the status never sees an injected response."),
            (.readsStatus, "An inner interceptor that acts on a status never sees an injected one."),
            (.setsDeadline, "An inner time limit never ends an injected wait."),
            (.changesResponse, "An inner interceptor that changes content never sees injected or truncated content."),
            (.logs, "An inner log never shows an injected fault."),
            (.measures, "An inner measurement never counts an injected fault."),
            (.keepsCookies, "An inner cookie jar stores the cookies of a response that a fault loses."),
        ]
        let recorder = ChainRole.outside(
            .records,
            because: "An outer recording keeps injected faults as the server's responses."
        )
        return Placement(
            [.spelled("faults"), .answers, .waits, recorder] + inner.map { .inside($0, because: $1) }
        )
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Injects failures of the network and the server, for tests.
    ///
    /// ```swift
    /// interceptors: chain + [.faults(.latency(.seconds(1)).percent(50), .captivePortal.percent(5), .reset.percent(5), seed: 7)]
    /// ```
    /// ``Fault`` lists the failures, and how to limit them to some requests. ``FaultSwitch`` turns them on and off while the
    /// program runs. Without faults, requests and responses pass unchanged.
    ///
    /// ## Order
    /// Innermost, so that each interceptor meets the faults as it would meet those of the network. Only a recorder belongs
    /// further inside, to keep what the server sent.
    ///
    /// ## Behaviour
    /// - Errors have the codes that a transport's errors have, and a message that says that the fault is injected. A `Journal`
    ///   has a note for each fault.
    /// - A request that no transport would send meets no fault, such as a malformed one, or one whose one-shot body was used up.
    /// - At a fault that answers instead of the server, a one-shot body of the request is discarded. A response that is lost is
    ///   discarded too.
    /// - A cancelled call throws `CancellationError`, never an injected error. Cancelling the task ends a wait at once.
    ///
    /// Use `#if DEBUG` to keep faults out of an app that you ship.
    ///
    /// - Parameters:
    ///   - faults: the faults. For one request, all waits come first. Then the first other fault that is chosen happens.
    ///   - seed: makes the random choices the same each time, as ``FaultSwitch`` says; by default they come from `time.random`.
    ///   - time: measures the waits, and makes random choices if there is no seed.
    public static func faults(_ faults: Fault..., seed: UInt64? = nil, time: TimeSource = .system) -> Self {
        Self(FaultsInterceptor(faults: FaultSwitch(faults, seed: seed), time: time))
    }

    /// Injects the failures that are switched on. See ``faults(_:seed:time:)``.
    ///
    /// - Parameters:
    ///   - faults: the faults and their switches.
    ///   - time: measures the waits, and makes random choices if the switch has no seed.
    public static func faults(_ faults: FaultSwitch, time: TimeSource = .system) -> Self {
        Self(FaultsInterceptor(faults: faults, time: time))
    }
}
