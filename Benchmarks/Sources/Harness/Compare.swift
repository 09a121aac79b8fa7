internal import Foundation

/// Work to compare with other work.
public struct Contender: Sendable {
    let name: String
    let share: Double
    let measure: @Sendable (_ repetitions: Int) async throws -> Cost

    var isWanted: Bool { ProcessInfo.processInfo.environment["BENCHMARK_ONLY"].map(name.contains) ?? true }

    /// Creates a contender; `run` does the work `repetitions` times. A slow contender can have a `share` below 1.
    public init(
        _ name: String,
        share: Double = 1,
        _ run: @escaping @Sendable (_ repetitions: Int) async throws -> Void
    ) {
        self.init(name: name, share: share) { repetitions in
            try await Cost.measured(repetitions) { try await run(repetitions) }
        }
    }

    private init(name: String, share: Double, measure: @escaping @Sendable (_ repetitions: Int) async throws -> Cost) {
        self.name = name
        self.share = share
        self.measure = measure
    }

    /// Creates a contender that measures itself, such as a separate program.
    public static func external(
        _ name: String,
        _ measure: @escaping @Sendable (_ repetitions: Int) async throws -> Cost
    ) -> Self {
        Self(name: name, share: 1, measure: measure)
    }
}

/// The contenders' median costs by name. A skipped contender has no cost.
public struct Comparison: Sendable {
    fileprivate var costs: [String: Cost] = [:]

    /// The median cost of a contender.
    public subscript(name: String) -> Cost? { costs[name] }

    /// The cost of `name` divided by that of `other`; `nil` if either is unknown.
    public func ratio(_ name: String, to other: String, of cost: (Cost) -> Double?) -> Double? {
        guard let over = self[name].flatMap(cost), let under = self[other].flatMap(cost), under > 0 else { return nil }
        return over / under
    }
}

/// Whether to measure a table. The environment variable `BENCHMARK_TABLES` selects the tables whose titles contain its text.
public func isWanted(table title: String) -> Bool {
    guard let wanted = ProcessInfo.processInfo.environment["BENCHMARK_TABLES"], !wanted.isEmpty else { return true }
    return title.lowercased().contains(wanted.lowercased())
}

/// Runs contenders in turn (A B C A B C …), so that a disturbance of the machine affects all of them. Prints a line for each:
/// the medians over the rounds, half the distance between the quartiles, and the ratios to the first contender.
///
/// The environment variable `BENCHMARK_QUICK` reduces the rounds to a third. `BENCHMARK_ONLY` selects the contenders whose
/// names contain its text, for a profiler.
@concurrent
@discardableResult
public func compare(
    _ title: String,
    rounds: Int = 15,
    repetitions: Int,
    warmsUp: Bool = true,
    showsMemory: Bool = false,
    _ contenders: [Contender]
) async throws -> Comparison {
    var comparison = Comparison()
    let contenders = contenders.filter(\.isWanted)
    guard !contenders.isEmpty, isWanted(table: title) else { return comparison }
    let isQuick = ProcessInfo.processInfo.environment["BENCHMARK_QUICK"] != nil
    let rounds = isQuick ? max(min(rounds, 3), rounds / 3) : rounds
    if showsMemory { trimMemory() }
    var costs = Array(repeating: [Cost](), count: contenders.count)
    for round in (warmsUp ? 0 : 1)...rounds {
        for (index, contender) in contenders.enumerated() {
            let cost = try await contender.measure(max(1, Int(Double(repetitions) * contender.share)))
            // Round 0 only warms up.
            if round > 0 { costs[index].append(cost) }
        }
    }
    let summaries = costs.map(Summary.init)
    let unit = TimeUnit(for: summaries[0].wall.median)
    print("\n\(title)")
    let head = ["wall \(unit.name)", "± %", "ratio", "CPU \(unit.name)", "± %", "ratio", "allocations"]
    print(row("", head + (showsMemory ? ["memory MB"] : [])))
    for (contender, summary) in zip(contenders, summaries) {
        print(row(contender.name, summary.columns(relativeTo: summaries[0], unit, showsMemory: showsMemory)))
        comparison.costs[contender.name] = summary.medians
    }
    fflush(nil)
    return comparison
}

/// The median and spread of a figure over all rounds.
private struct Figure {
    let median: Double
    /// Half the distance between the quartiles.
    let spread: Double

    init?(_ values: [Double?]) {
        let values = values.compactMap(\.self).sorted()
        guard !values.isEmpty else { return nil }
        median = values[values.count / 2]
        spread = (values[values.count * 3 / 4] - values[values.count / 4]) / 2
    }

    init(_ values: [Double]) {
        let sorted = values.sorted()
        median = sorted[sorted.count / 2]
        spread = (sorted[sorted.count * 3 / 4] - sorted[sorted.count / 4]) / 2
    }
}

private struct Summary {
    let wall: Figure
    let cpu: Figure?
    let allocations: Figure?
    let memory: Figure?

    init(_ costs: [Cost]) {
        wall = Figure(costs.map(\.wall))
        cpu = Figure(costs.map(\.cpu))
        allocations = Figure(costs.map(\.allocations))
        memory = Figure(costs.map(\.memory))
    }

    var medians: Cost {
        Cost(wall: wall.median, cpu: cpu?.median, allocations: allocations?.median, memory: memory?.median)
    }

    func columns(relativeTo first: Summary, _ unit: TimeUnit, showsMemory: Bool) -> [String] {
        let memory = memory.map { number($0.median / 1_048_576) } ?? "–"
        return Self.columns(wall, first.wall, unit) + Self.columns(cpu, first.cpu, unit)
            + [allocations.map { String(format: "%.2f", $0.median) } ?? "–"] + (showsMemory ? [memory] : [])
    }

    private static func columns(_ figure: Figure?, _ first: Figure?, _ unit: TimeUnit) -> [String] {
        guard let figure else { return ["–", "–", "–"] }
        return [
            number(figure.median / unit.nanoseconds),
            number(figure.spread / figure.median * 100),
            first.map { String(format: "%.2f", figure.median / $0.median) } ?? "–",
        ]
    }
}

private struct TimeUnit {
    let name: String
    let nanoseconds: Double

    init(for time: Double) {
        switch time {
        case ..<10_000: (name, nanoseconds) = ("ns", 1)
        case ..<2_000_000: (name, nanoseconds) = ("µs", 1e3)
        default: (name, nanoseconds) = ("ms", 1e6)
        }
    }
}

private func number(_ value: Double) -> String { String(format: value < 100 ? "%.1f" : "%.0f", value) }

private func row(_ name: String, _ columns: [String]) -> String {
    let padded = columns.map { String(repeating: " ", count: max(1, 12 - $0.count)) + $0 }
    return name.padding(toLength: 44, withPad: " ", startingAt: 0) + padded.joined()
}
