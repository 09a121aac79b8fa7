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
        /// How often each fault happened since it was switched on, by its position.
        var counts: [Int]
    }

    /// The faults, in the order in which they are tried.
    public let faults: [Fault]
    private let scopes: [StubScope?]
    private let state: Mutex<State>

    /// Creates a switch, with each fault on.
    ///
    /// - Parameters:
    ///   - faults: the faults. For one request, all waits come first. Then the first other fault that is chosen happens.
    ///   - isOn: whether any fault happens.
    public convenience init(_ faults: Fault..., isOn: Bool = true) { self.init(faults, isOn: isOn) }

    /// Creates a switch from an array.
    public init(_ faults: [Fault], isOn: Bool = true) {
        self.faults = faults
        scopes = faults.map(\.scope)
        state = Mutex(State(isOn: isOn, counts: faults.map { _ in 0 }))
    }

    /// Whether any fault happens. Switching on starts the counts of `Fault.times(_:)` again.
    public var isOn: Bool {
        get { state.withLock(\.isOn) }
        set {
            state.withLock { state in
                if newValue, !state.isOn { state.counts = faults.map { _ in 0 } }
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
            state.withLock { state in
                if !newValue {
                    state.disabled.insert(fault)
                } else if state.disabled.remove(fault) != nil {
                    for index in faults.indices where faults[index] == fault { state.counts[index] = 0 }
                }
            }
        }
    }

    /// Chooses and counts the faults of a request: the sum of the waits, and the first other fault. Returns `nil` for none.
    func plan(
        for request: borrowing HTTPRequest,
        random: RandomSource
    ) -> (latency: Duration, fault: Fault?)? {
        let (method, url) = (request.method, request.url.absoluteString)
        let matching = faults.indices.filter { scopes[$0]?.matches(method, url) ?? true }
        return state.withLock { state in
            guard state.isOn else { return nil }
            var (latency, fault) = (Duration?.none, Fault?.none)
            for index in matching where !state.disabled.contains(faults[index]) {
                let (candidate, count) = (faults[index], state.counts[index])
                guard random.unit() * 100 < candidate.percent, count < candidate.limit ?? .max else { continue }
                if case .latency(let range) = candidate.kind {
                    let wait = range.lowerBound + (range.upperBound - range.lowerBound) * random.unit()
                    latency = (latency ?? .zero) + wait
                } else if fault == nil {
                    fault = candidate
                } else {
                    continue
                }
                state.counts[index] += 1
            }
            return latency == nil && fault == nil ? nil : (latency ?? .zero, fault)
        }
    }
}
