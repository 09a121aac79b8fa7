internal import Synchronization

/// Holds a ``Circuit`` for each origin, and reports changes of state.
///
/// All circuits live under one lock, and so does the queue of changes. Changes are reported outside the lock and in order,
/// because only one thread at a time drains the queue; the others append to it and return.
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
        // Changes still to report. While `isTelling` is true, one thread drains them.
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
    private let stopwatch: Stopwatch
    private let onChange: @Sendable (Origin, CircuitState, CircuitState) -> Void
    private let state = Mutex(State())

    // A bound for circuits that failed and whose origins are never used again, since these never become idle.
    private static let mostCircuits = 1024

    init(
        _ rules: Circuit.Rules,
        clock: any Clock<Duration>,
        onChange: @escaping @Sendable (Origin, CircuitState, CircuitState) -> Void
    ) {
        self.rules = rules
        stopwatch = Stopwatch.starting(clock)
        self.onChange = onChange
    }

    /// The number of circuits in memory.
    var count: Int { state.withLock { $0.circuits.count } }

    /// Admits a request.
    ///
    /// - Throws: `LimitError` if the circuit refuses the request.
    func admit(_ request: borrowing HTTPRequest, to origin: Origin) throws -> Circuit.Pass {
        let (admission, state) = withCircuit(of: origin) { ($0.admit(at: $1), $0.state) }
        switch admission {
        case .go(let pass):
            if pass.probe != nil { request.note(.circuitProbed) }
            return pass
        case .refused(let nextProbe):
            let error = LimitError.circuitOpen(
                origin,
                isProbed: state == .halfOpen,
                nextProbe: nextProbe,
                request: request
            )
            request.note(.refused(error))
            throw error
        }
    }

    /// Records the outcome of an admitted request.
    func record(_ verdict: CircuitVerdict, of pass: Circuit.Pass, to origin: Origin) {
        withCircuit(of: origin) { $0.record(verdict, of: pass, at: $1) }
    }

    private func withCircuit<Result: Sendable>(
        of origin: Origin,
        _ body: (inout Circuit, _ now: Duration) -> Result
    ) -> Result {
        let now = stopwatch.elapsed()
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
        if isChanged { reportChanges() }
        return result
    }

    private static func add(to state: inout State, _ rules: Circuit.Rules, _ now: Duration) -> Circuit {
        // Forgets idle circuits, so that origins used once don't stay in memory.
        if state.circuits.count >= state.limitOfCircuits {
            state.circuits = state.circuits.filter { !$0.value.circuit.isIdle(at: now) }
            if state.circuits.count >= mostCircuits { forgetHalf(&state) }
            state.limitOfCircuits = min(mostCircuits, max(64, 2 * state.circuits.count))
        }
        state.lastNumber += 1
        return Circuit(rules, number: state.lastNumber)
    }

    /// Forgets the half that was used least recently.
    private static func forgetHalf(_ state: inout State) {
        let uses = state.circuits.values.map(\.lastUse).sorted()
        let middle = uses[uses.count / 2]
        state.circuits = state.circuits.filter { $0.value.lastUse >= middle }
    }

    private func reportChanges() {
        let isOurs = state.withLock { state in
            defer { state.isTelling = true }
            return !state.isTelling
        }
        guard isOurs else { return }
        while let change = state.withLock({ $0.nextChange() }) { onChange(change.origin, change.from, change.to) }
    }
}
