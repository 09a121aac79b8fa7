/// Whether requests to one host go, as a value that decides, and does nothing.
///
/// | state | a request | what ends the state |
/// | --- | --- | --- |
/// | closed | goes, and is counted | too many failures: open |
/// | open | is refused | time, and a request: half-open |
/// | half-open | goes as a probe, while fewer do than must still succeed; else it is refused | a probe's failure: open; enough successes: closed |
///
/// An answer counts only in the state that its request was let go in. A probe that was not answered in the time for which
/// the circuit had been open makes room for another: one that hangs keeps nobody out for ever.
struct Circuit: Sendable {
    /// How a circuit behaves.
    struct Rules: Sendable {
        var trip: CircuitTrip
        var openFor: Duration
        var probes: Int
    }

    /// What lets a request go, and its answer be counted.
    struct Pass: Sendable, Hashable {
        fileprivate let circuit: Int
        fileprivate let period: Int
        /// Its number, if it is a probe.
        let probe: Int?
    }

    /// What is to be done with a request.
    enum Admission: Sendable, Hashable {
        case go(Pass)
        /// The next probe may go after so much time, at the latest.
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
    // Goes up with each change of the state.
    private var period = 0
    private var lastProbe = 0

    /// A closed circuit.
    ///
    /// - Parameter number: tells it from others of which an answer may come late.
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

    /// Whether it is as a new one is, and may be forgotten.
    func isIdle(at now: Duration) -> Bool {
        if case .closed(let count) = phase { count.isEmpty(at: now) } else { false }
    }

    /// Asks whether a request may go.
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

    /// Takes note of what came of a request that was let go.
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
