internal import Synchronization

/// Acts on what each ``Circuit`` decides, and tells of its changes.
final class CircuitBreaker: Sendable {
    private struct Remembered {
        var circuit: Circuit
        var lastUse: Int
    }

    private struct State {
        var circuits: [Origin: Remembered] = [:]
        var limitOfCircuits = 64
        var lastNumber = 0
        var lastUse = 0
        // Told in their order, outside of the lock, by one task at a time.
        var changes: [CircuitChange] = []
        var isTelling = false

        mutating func nextChange() -> CircuitChange? {
            guard !changes.isEmpty else {
                isTelling = false
                return nil
            }
            return changes.removeFirst()
        }
    }

    private let rules: Circuit.Rules
    private let timeline: Timeline
    private let onChange: @Sendable (CircuitChange) -> Void
    private let state = Mutex(State())

    // Those of hosts that failed and were never asked again would otherwise be kept for ever.
    private static let mostCircuits = 1024

    init(_ rules: Circuit.Rules, clock: any Clock<Duration>, onChange: @escaping @Sendable (CircuitChange) -> Void) {
        self.rules = rules
        self.timeline = Timeline(clock)
        self.onChange = onChange
    }

    /// How many circuits are remembered.
    var count: Int { state.withLock { $0.circuits.count } }

    /// Lets a request go, or not.
    ///
    /// - Throws: ``CircuitOpenError``.
    func admit(_ request: borrowing HTTPRequest, to origin: Origin) throws -> Circuit.Pass {
        let (admission, state) = withCircuit(of: origin) { ($0.admit(at: $1), $0.state) }
        switch admission {
        case .go(let pass): return pass
        case .refused(let nextProbe):
            throw CircuitOpenError(origin, state: state, nextProbe: nextProbe, request: request)
        }
    }

    /// Takes note of what came of a request.
    func record(_ verdict: CircuitVerdict, of pass: Circuit.Pass, to origin: Origin) {
        withCircuit(of: origin) { $0.record(verdict, of: pass, at: $1) }
    }

    private func withCircuit<Result: Sendable>(
        of origin: Origin,
        _ body: (inout Circuit, _ now: Duration) -> Result
    ) -> Result {
        let now = timeline.now()
        let (result, isChanged) = state.withLock { state in
            var circuit = state.circuits[origin]?.circuit ?? Self.add(to: &state, rules, now)
            let before = circuit.state
            let result = body(&circuit, now)
            state.lastUse += 1
            state.circuits[origin] = Remembered(circuit: circuit, lastUse: state.lastUse)
            guard circuit.state != before else { return (result, false) }
            state.changes.append(CircuitChange(origin: origin, from: before, to: circuit.state))
            return (result, true)
        }
        if isChanged { tell() }
        return result
    }

    private static func add(to state: inout State, _ rules: Circuit.Rules, _ now: Duration) -> Circuit {
        // Hosts that were asked once are not remembered for ever.
        if state.circuits.count >= state.limitOfCircuits {
            state.circuits = state.circuits.filter { !$0.value.circuit.isIdle(at: now) }
            if state.circuits.count >= mostCircuits { forgetHalf(&state) }
            state.limitOfCircuits = min(mostCircuits, max(64, 2 * state.circuits.count))
        }
        state.lastNumber += 1
        return Circuit(rules, number: state.lastNumber)
    }

    /// Forgets those that were not asked for longest.
    private static func forgetHalf(_ state: inout State) {
        let uses = state.circuits.values.map(\.lastUse).sorted()
        let middle = uses[uses.count / 2]
        state.circuits = state.circuits.filter { $0.value.lastUse >= middle }
    }

    private func tell() {
        let isOurs = state.withLock { state in
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard isOurs else { return }
        while let change = state.withLock({ $0.nextChange() }) { onChange(change) }
    }
}
