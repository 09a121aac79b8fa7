internal import Foundation
internal import Interceptors
internal import Synchronization

/// Faults that a program switches on and off while it runs, all at once or each by itself.
///
/// ```swift
/// let faults = FaultSwitch(.latency(.seconds(2)), .status(503).percent(30), .unauthorizedOnce, isOn: false)
/// let interceptors: [any Interceptor] = [.retry(3), .faults(faults)]
///
/// // A debug menu has a toggle for `faults.isOn`, and one for each fault, named by its description:
/// for fault in faults.faults { print("\(fault): \(faults[fault] ? "on" : "off")") }
/// faults[.unauthorizedOnce] = false
/// faults.isOn = true
/// ```
/// Several chains can share a switch.
public final class FaultSwitch: Sendable {
    private struct State {
        var isOn: Bool
        var disabled: Set<Fault> = []
        /// How often each fault was chosen since it was switched on.
        var counts: [Fault: Int] = [:]
    }

    /// The faults, in the order in which they are tried.
    public let faults: [Fault]
    private let scopes: [StubScope?]
    private let random: RandomSource
    private let state: Mutex<State>

    /// Creates a switch, with each fault on.
    ///
    /// - Parameters:
    ///   - faults: the faults. For one request, all waits come first. Then the first other fault that is chosen happens.
    ///   - seed: makes the random choices the same each time, as long as requests arrive in the same order; by default they
    ///     differ.
    ///   - isOn: whether any fault happens.
    public convenience init(_ faults: Fault..., seed: UInt64? = nil, isOn: Bool = true) {
        self.init(faults, seed: seed, isOn: isOn)
    }

    /// Creates a switch from an array.
    public init(_ faults: [Fault], seed: UInt64? = nil, isOn: Bool = true) {
        self.faults = faults
        scopes = faults.map(\.scope)
        random = seed.map(RandomSource.seeded) ?? .system
        state = Mutex(State(isOn: isOn))
    }

    /// Whether any fault happens. Switching on starts the counts of `Fault.times(_:)` again.
    public var isOn: Bool {
        get { state.withLock(\.isOn) }
        set {
            state.withLock { state in
                if newValue, !state.isOn { state.counts = [:] }
                state.isOn = newValue
            }
        }
    }

    /// Whether a fault happens while ``isOn`` is `true`. Switching on starts its count of `Fault.times(_:)` again.
    ///
    /// Equal faults are switched together. A fault that isn't one of ``faults`` has no effect.
    public subscript(fault: Fault) -> Bool {
        get { state.withLock { !$0.disabled.contains(fault) } }
        set {
            state.withLock { state in
                if newValue {
                    if state.disabled.remove(fault) != nil { state.counts[fault] = nil }
                } else {
                    state.disabled.insert(fault)
                }
            }
        }
    }
}

/// What happens to one request.
struct FaultPlan {
    var latency = Duration.zero
    var fault: Fault?
    /// The part of the content that a truncated response has, from 0 to 1.
    var part = 0.0
}

extension FaultSwitch {
    /// Chooses the faults of a request; `nil` for none.
    func plan(for request: borrowing HTTPRequest) -> FaultPlan? {
        guard !faults.isEmpty, isOn else { return nil }
        let (method, url) = (request.method, request.url.absoluteString)
        let matching = faults.indices.filter { scopes[$0]?.matches(method, url) ?? true }
        return state.withLock { state in
            guard state.isOn else { return nil }
            var plan = FaultPlan()
            for fault in matching.map({ faults[$0] }) where !state.disabled.contains(fault) {
                if case .latency(let range) = fault.kind {
                    guard choose(fault, &state) else { continue }
                    plan.latency += range.lowerBound + (range.upperBound - range.lowerBound) * random.unit()
                } else if plan.fault == nil, choose(fault, &state) {
                    plan.fault = fault
                    plan.part = random.unit()
                }
            }
            return plan.fault == nil && plan.latency <= .zero ? nil : plan
        }
    }

    private func choose(_ fault: Fault, _ state: inout State) -> Bool {
        guard fault.share >= 1 || random.unit() < fault.share else { return false }
        guard let limit = fault.limit else { return true }
        let count = state.counts[fault] ?? 0
        guard count < limit else { return false }
        state.counts[fault] = count + 1
        return true
    }
}
