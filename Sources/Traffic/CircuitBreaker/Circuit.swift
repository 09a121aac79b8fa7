/// Decides whether requests to one origin may be sent, as a value without side effects.
///
/// | state | a request | the state ends with |
/// | --- | --- | --- |
/// | closed | is sent, and its outcome counts | too many failures: open |
/// | open | is refused | the first request after the wait: half-open |
/// | half-open | is sent as a probe if a slot is free, otherwise refused | a probe's failure: open; enough successes: closed |
///
/// In the half-open state, the number of slots is the number of probes that must still succeed. A probe without an outcome
/// after `openFor` frees its slot, so that a hung probe can't block recovery.
///
/// An outcome counts only in the state in which its request was admitted: a pass carries the circuit's number and the period,
/// which increases with each change of state, and outcomes with an old pass are ignored.
struct Circuit: Sendable {
    /// The configuration of a circuit.
    struct Rules: Sendable {
        var trip: CircuitTrip
        var openFor: Duration
        var probes: Int
    }

    /// Proof that a request was admitted, needed to record its outcome.
    struct Pass: Sendable, Hashable {
        fileprivate let circuit: Int
        fileprivate let period: Int
        /// The probe's number; `nil` if the request isn't a probe.
        let probe: Int?
    }

    /// The decision about a request.
    enum Admission: Sendable, Hashable {
        case go(Pass)
        /// The request may not be sent. The next probe may be sent after this time, or earlier if a running probe ends.
        case refused(nextProbe: Duration)
    }

    private enum Phase: Sendable {
        case closed(CircuitTrip.Count)
        case open(until: Duration)
        case halfOpen(probes: [Int: Duration], successes: Int)
    }

    private let number: Int
    private let rules: Rules
    private var phase: Phase
    // Increases with each change of state, so that outcomes from an earlier state are ignored.
    private var period = 0
    private var lastProbe = 0

    /// Creates a closed circuit.
    ///
    /// - Parameter number: distinguishes this circuit from a forgotten one of the same origin, whose outcomes may still arrive.
    init(_ rules: Rules, number: Int = 0) {
        self.number = number
        self.rules = rules
        phase = .closed(rules.trip.count)
    }

    var state: CircuitState {
        switch phase {
        case .closed: .closed
        case .open: .open
        case .halfOpen: .halfOpen
        }
    }

    /// Whether the circuit is in its initial state, so that it can be forgotten.
    func isIdle(at now: Duration) -> Bool {
        if case .closed(let count) = phase { count.isEmpty(at: now) } else { false }
    }

    /// Decides whether a request may be sent now.
    mutating func admit(at now: Duration) -> Admission {
        switch phase {
        case .closed: return .go(Pass(circuit: number, period: period, probe: nil))
        case .open(let end):
            guard now >= end else { return .refused(nextProbe: end - now) }
            change(to: .halfOpen(probes: [:], successes: 0))
            return admit(at: now)
        case .halfOpen(var probes, let successes):
            let ends = probes.values.map { $0 + rules.openFor }.filter { now < $0 }
            guard ends.count < rules.probes - successes else {
                return .refused(nextProbe: (ends.min() ?? now) - now)
            }
            lastProbe += 1
            probes[lastProbe] = now
            phase = .halfOpen(probes: probes, successes: successes)
            return .go(Pass(circuit: number, period: period, probe: lastProbe))
        }
    }

    /// Records the outcome of an admitted request.
    mutating func record(_ verdict: CircuitVerdict, of pass: Pass, at now: Duration) {
        guard pass.circuit == number, pass.period == period else { return }
        switch phase {
        case .closed(var count):
            if count.add(verdict, at: now, rules.trip) {
                change(to: .open(until: now + rules.openFor))
            } else {
                phase = .closed(count)
            }
        case .open: break
        case .halfOpen(var probes, let successes):
            guard let probe = pass.probe, probes.removeValue(forKey: probe) != nil else { return }
            switch verdict {
            case .failure: change(to: .open(until: now + rules.openFor))
            case .success where successes + 1 >= rules.probes: change(to: .closed(rules.trip.count))
            case .success: phase = .halfOpen(probes: probes, successes: successes + 1)
            case .ignored: phase = .halfOpen(probes: probes, successes: successes)
            }
        }
    }

    private mutating func change(to phase: Phase) {
        self.phase = phase
        period += 1
    }
}
