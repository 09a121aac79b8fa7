internal import Foundation
public import Interceptors
internal import Synchronization

/// The implementation of `.faults(…)`, documented there.
struct FaultsInterceptor: Interceptor {
    let plan: FaultPlan
    let isOn: @Sendable () -> Bool
    let time: TimeSource

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        // No transport would send a malformed, forbidden or used-up request, so no network could fail.
        guard isOn(), (try? request.validate()) != nil, request.body.isReadable,
            let faults = plan.next(for: request, random: time.random)
        else { return try await next(request) }
        var exchange = FaultyExchange(request, next, time)
        try await exchange.wait(faults.latency)
        try Task.checkCancellation()
        return try await exchange.response(with: faults.fault)
    }
}

extension FaultsInterceptor: PlacedInterceptor {
    var placement: Placement {
        let inner: [ChainRole] = [
            .resends, .shares, .limits, .judges, .readsStatus, .setsDeadline, .changesResponse, .logs, .measures,
            .keepsCookies,
        ]
        let reason = "An inner element of this kind never sees an injected fault, and keeps or fails the real response."
        let recorder = ChainRole.outside(
            .records,
            because: "An outer recording keeps injected faults as the server's responses."
        )
        return Placement([.spelled("faults"), .answers, .waits, recorder] + inner.map { .inside($0, because: reason) })
    }
}

extension Interceptor where Self == AnyInterceptor {
    /// Injects failures of the network and the server, for tests.
    ///
    /// ```swift
    /// interceptors: chain + [.faults(.latency(.seconds(1)).percent(50), .status(503).percent(5), .reset.percent(5))]
    /// ```
    /// ``Fault`` lists the failures, and how to limit them to some requests. Without faults, requests and responses pass
    /// unchanged.
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
    ///   - isOn: returns whether any fault happens to a request, such as the state of a switch in a debug menu.
    public static func faults(
        _ faults: Fault...,
        time: TimeSource = .system,
        isOn: @escaping @Sendable () -> Bool = { true }
    ) -> Self {
        Self(FaultsInterceptor(plan: FaultPlan(faults), isOn: isOn, time: time))
    }
}

/// Chooses and counts the faults of each request.
final class FaultPlan: Sendable {
    private let faults: [Fault]
    /// How often each fault happened.
    private let counts: Mutex<[Int]>

    init(_ faults: [Fault]) {
        self.faults = faults
        counts = Mutex(faults.map { _ in 0 })
    }

    /// The sum of a request's waits, and its first other fault; `nil` for none.
    func next(for request: borrowing HTTPRequest, random: RandomSource) -> (latency: Duration, fault: Fault.Kind?)? {
        let (method, url) = (request.method, request.url.absoluteString)
        let matching = faults.indices.filter { faults[$0].scope?.matches(method, url) ?? true }
        return counts.withLock { counts in
            var (latency, kind) = (Duration?.none, Fault.Kind?.none)
            for index in matching {
                let fault = faults[index]
                guard random.unit() * 100 < fault.percent, counts[index] < fault.limit else { continue }
                if case .latency(let range) = fault.kind {
                    let wait = range.lowerBound + (range.upperBound - range.lowerBound) * random.unit()
                    latency = (latency ?? .zero) + wait
                } else if kind == nil {
                    kind = fault.kind
                } else {
                    continue
                }
                counts[index] += 1
            }
            return latency == nil && kind == nil ? nil : (latency ?? .zero, kind)
        }
    }
}
