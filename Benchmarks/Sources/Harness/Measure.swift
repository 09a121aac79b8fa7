internal import CAllocations
internal import Foundation

/// What one run of some work cost, for each of its repetitions.
public struct Cost: Sendable {
    /// Time on the wall, in nanoseconds.
    public var wall: Double
    /// Time on all cores, in nanoseconds.
    public var cpu: Double
    /// Calls of `malloc` and its kin; 0 where they can't be counted.
    public var allocations: Double
}

/// Work to be measured against other work.
public struct Contender: Sendable {
    let name: String
    let run: @Sendable (_ repetitions: Int) async throws -> Void

    /// Work under a name; `run` does it so many times.
    public init(_ name: String, _ run: @escaping @Sendable (_ repetitions: Int) async throws -> Void) {
        self.name = name
        self.run = run
    }
}

/// The allocations that some work makes each time, without those of its first runs.
public func allocations(
    repetitions: Int = 1_000,
    _ work: (_ repetitions: Int) async throws -> Void
) async rethrows -> Double {
    try await work(repetitions)
    let before = callocations_count()
    try await work(repetitions)
    return Double(callocations_count() - before) / Double(repetitions)
}

/// Runs contenders in turn (A B C A B C …), so that what disturbs the machine disturbs all of them, and prints a line for
/// each: the median over the rounds, its spread, and the ratio to the first.
public func compare(_ title: String, rounds: Int = 15, repetitions: Int, _ contenders: [Contender]) async throws {
    var costs = Array(repeating: [Cost](), count: contenders.count)
    for round in 0...rounds {
        for (index, contender) in contenders.enumerated() {
            let cost = try await measured(repetitions) { try await contender.run(repetitions) }
            // The first round warms up.
            if round > 0 { costs[index].append(cost) }
        }
    }
    print("\n\(title)")
    print(row("", "wall ns", "± %", "CPU ns", "allocations", "ratio"))
    let reference = median(costs[0].map(\.wall))
    for (contender, costs) in zip(contenders, costs) {
        let walls = costs.map(\.wall).sorted()
        let middle = median(walls)
        let spread = (walls[walls.count * 3 / 4] - walls[walls.count / 4]) / 2 / middle * 100
        print(
            row(
                contender.name,
                number(middle),
                number(spread),
                number(median(costs.map(\.cpu))),
                String(format: "%.2f", median(costs.map(\.allocations))),
                String(format: "%.2f", middle / reference)
            )
        )
    }
}

private func measured(_ repetitions: Int, _ work: () async throws -> Void) async rethrows -> Cost {
    let (allocations, cpu, start) = (callocations_count(), processorTime(), ContinuousClock.now)
    try await work()
    let wall = start.duration(to: .now) / .nanoseconds(1)
    let count = Double(repetitions)
    return Cost(
        wall: wall / count,
        cpu: (processorTime() - cpu) / count,
        allocations: Double(callocations_count() - allocations) / count
    )
}

private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

private func number(_ value: Double) -> String { String(format: value < 100 ? "%.1f" : "%.0f", value) }

private func row(_ name: String, _ columns: String...) -> String {
    let padded = columns.map { String(repeating: " ", count: max(1, 13 - $0.count)) + $0 }
    return name.padding(toLength: 40, withPad: " ", startingAt: 0) + padded.joined()
}
