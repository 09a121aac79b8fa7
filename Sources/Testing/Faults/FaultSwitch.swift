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
///
/// ## The same choices each time
/// With a seed, each random choice depends on the seed, on the fault's position in ``faults``, on the request's method and URL,
/// and on how often that request came while the switch was on. Other requests don't change a choice, nor does another fault that
/// is switched on or off. The first 10,000 different requests are counted each, all others together.
public final class FaultSwitch: Sendable {
    private struct State {
        var isOn: Bool
        var disabled: Set<Fault> = []
        /// By the position of the fault.
        var uses: [FaultUses]
        var arrivals = RequestCounts()
    }

    /// The faults, in the order in which they are tried.
    public let faults: [Fault]
    private let scopes: [StubScope?]
    private let seed: UInt64?
    private let state: Mutex<State>

    /// Creates a switch, with each fault on.
    ///
    /// - Parameters:
    ///   - faults: the faults. For one request, all waits come first. Then the first other fault that is chosen happens.
    ///   - seed: makes the random choices the same each time; by default they come from the random source of
    ///     ``InterceptorsCore/Interceptor/faults(_:time:)``.
    ///   - isOn: whether any fault happens.
    public convenience init(_ faults: Fault..., seed: UInt64? = nil, isOn: Bool = true) {
        self.init(faults, seed: seed, isOn: isOn)
    }

    /// Creates a switch from an array.
    public init(_ faults: [Fault], seed: UInt64? = nil, isOn: Bool = true) {
        self.faults = faults
        self.seed = seed
        scopes = faults.map(\.scope)
        state = Mutex(State(isOn: isOn, uses: faults.map { _ in FaultUses() }))
    }

    /// Whether any fault happens. Switching on starts the counts of `Fault.times(_:)` again.
    public var isOn: Bool {
        get { state.withLock(\.isOn) }
        set {
            state.withLock { state in
                if newValue, !state.isOn { restart(&state) { _ in true } }
                state.isOn = newValue
            }
        }
    }

    /// Whether a fault happens while ``isOn`` is `true`. Switching on starts its count of `Fault.times(_:)` again.
    ///
    /// Equal faults are switched together. For a fault that isn't one of ``faults``, the value is `false`, and setting it has
    /// no effect.
    public subscript(fault: Fault) -> Bool {
        get { faults.contains(fault) && state.withLock { !$0.disabled.contains(fault) } }
        set {
            guard faults.contains(fault) else { return }
            state.withLock { state in
                if newValue {
                    if state.disabled.remove(fault) != nil { restart(&state) { $0 == fault } }
                } else {
                    state.disabled.insert(fault)
                }
            }
        }
    }

    private func restart(_ state: inout State, _ isRestarted: (Fault) -> Bool) {
        for index in faults.indices where isRestarted(faults[index]) { state.uses[index].restart() }
    }
}

/// How often a fault happened since it was switched on.
private struct FaultUses {
    var count = 0
    /// Counts how often the fault was switched on.
    var period = 0

    mutating func restart() { (count, period) = (0, period + 1) }
}

/// The faults of one request.
struct FaultPlan {
    /// A chosen fault. Each is counted before it happens, so that requests at the same time don't exceed `Fault.times(_:)`.
    struct Choice {
        let index: Int
        fileprivate let period: Int
    }

    var latency = Duration.zero
    /// The choices that make up `latency`.
    var waits: [Choice] = []
    var fault: Fault?
    var choice: Choice?
    /// The part of the content that a truncated response has, from 0 up to, but not including, 1.
    var part = 0.0
}

extension FaultSwitch {
    /// Chooses the faults of a request; `nil` for none.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - random: the source of random choices if there is no seed.
    func plan(for request: borrowing HTTPRequest, random: RandomSource) -> FaultPlan? {
        let (method, url) = (request.method, request.url.absoluteString)
        let matching = faults.indices.filter { scopes[$0]?.matches(method, url) ?? true }
        guard !matching.isEmpty else { return nil }
        let identity = FaultChance.identity(method, url)
        return state.withLock { state in
            guard state.isOn else { return nil }
            let chance =
                seed.map { FaultChance(seed: $0, request: identity, count: state.arrivals.count(identity)) }
                ?? FaultChance(random)
            var plan = FaultPlan()
            for index in matching where !state.disabled.contains(faults[index]) {
                let source = chance.source(ofFault: index)
                if case .latency(let range) = faults[index].kind {
                    guard let choice = choose(index, source, &state) else { continue }
                    plan.waits.append(choice)
                    plan.latency += range.lowerBound + (range.upperBound - range.lowerBound) * source.unit()
                } else if plan.fault == nil, let choice = choose(index, source, &state) {
                    (plan.fault, plan.choice) = (faults[index], choice)
                    plan.part = source.unit()
                }
            }
            return plan.fault == nil && plan.waits.isEmpty ? nil : plan
        }
    }

    /// Gives back the counts of faults that were chosen and didn't happen, unless they were switched on again meanwhile.
    func giveBack(_ choices: [FaultPlan.Choice]) {
        guard !choices.isEmpty else { return }
        state.withLock { state in
            for choice in choices where state.uses[choice.index].period == choice.period {
                state.uses[choice.index].count -= 1
            }
        }
    }

    private func choose(_ index: Int, _ source: RandomSource, _ state: inout State) -> FaultPlan.Choice? {
        let fault = faults[index]
        // Always draws, so that the share doesn't change the fault's other numbers.
        guard source.unit() * 100 < fault.percent, state.uses[index].count < fault.limit ?? .max else { return nil }
        state.uses[index].count += 1
        return FaultPlan.Choice(index: index, period: state.uses[index].period)
    }
}
