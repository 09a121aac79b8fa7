internal import Foundation
public import Interceptors

/// The implementation of `.faults(…)`, documented there.
struct FaultsInterceptor: PlacedInterceptor {
    let faults: FaultSwitch
    let time: TimeSource

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        // No transport would send a malformed, forbidden or used-up request, so no network could fail.
        guard faults.isOn, (try? request.validate()) != nil, request.body.isReadable,
            let plan = faults.plan(for: request, random: time.random)
        else { return try await next(request) }
        var exchange = FaultyExchange(request, next, time)
        try await exchange.wait(plan.latency)
        try Task.checkCancellation()
        return try await exchange.response(with: plan.fault?.kind ?? .latency(.zero ... .zero))
    }

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
    /// interceptors: chain + [.faults(.latency(.seconds(1)).percent(50), .captivePortal.percent(5), .reset.percent(5))]
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
    ///   - time: measures the waits, and makes the random choices. With a seed, requests that come in the same order meet the
    ///     same faults.
    public static func faults(_ faults: Fault..., time: TimeSource = .system) -> Self {
        Self(FaultsInterceptor(faults: FaultSwitch(faults), time: time))
    }

    /// Injects the failures that are switched on. See the method without a switch.
    ///
    /// - Parameters:
    ///   - faults: the faults and their switches.
    ///   - time: measures the waits, and makes the random choices.
    public static func faults(_ faults: FaultSwitch, time: TimeSource = .system) -> Self {
        Self(FaultsInterceptor(faults: faults, time: time))
    }
}
