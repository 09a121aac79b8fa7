internal import CAllocations
internal import Foundation

/// What one run of some work cost, for each of its repetitions.
public struct Cost: Sendable {
    /// Time on the wall, in nanoseconds.
    public var wall: Double
    /// Time on all cores, in nanoseconds; `nil` where it can't be known.
    public var cpu: Double?
    /// Calls of `malloc` and its kin; `nil` where they can't be counted.
    public var allocations: Double?
    /// How far the process's memory rose above what it was before the run, in bytes; `nil` where it can't be known.
    public var memory: Double?

    /// A cost that was measured elsewhere.
    public init(wall: Double, cpu: Double? = nil, allocations: Double? = nil, memory: Double? = nil) {
        self.wall = wall
        self.cpu = cpu
        self.allocations = allocations
        self.memory = memory
    }

    /// What `repetitions` of some work cost this process, on all of its threads.
    public static func measured(_ repetitions: Int, _ work: () async throws -> Void) async rethrows -> Cost {
        let resident = ResidentMemory.startWatching()
        let (allocations, cpu, start) = (callocations_count(), processorTime(), ContinuousClock.now)
        try await work()
        let wall = start.duration(to: .now) / .nanoseconds(1)
        let count = Double(repetitions)
        return Cost(
            wall: wall / count,
            cpu: (processorTime() - cpu) / count,
            allocations: Double(callocations_count() - allocations) / count,
            memory: ResidentMemory.peak().flatMap { peak in resident.map { max(0, peak - $0) } }
        )
    }
}

/// The allocations that some work makes each time, without those of its first runs: the fewest of several counts, since
/// what the system allocates beside it, for a thread for instance, can only add to them.
public func allocations(
    repetitions: Int = 1_000,
    _ work: (_ repetitions: Int) async throws -> Void
) async rethrows -> Double {
    try await work(repetitions)
    var fewest = Double.infinity
    for _ in 0..<5 {
        let before = callocations_count()
        try await work(repetitions)
        fewest = min(fewest, Double(callocations_count() - before) / Double(repetitions))
    }
    return fewest
}

/// Gives the memory back that is no longer used, so that what is used again is seen.
func trimMemory() { callocations_trim() }

private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// What Linux tells of a process's memory.
private enum ResidentMemory {
    /// Forgets the highest value and gives the present one.
    static func startWatching() -> Double? {
        guard let file = fopen("/proc/self/clear_refs", "w") else { return nil }
        fputs("5", file)
        fclose(file)
        return value("VmRSS:")
    }

    static func peak() -> Double? { value("VmHWM:") }

    private static func value(_ name: String) -> Double? {
        guard let text = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
            let kilobytes = line.split(separator: " ").dropLast().last.flatMap({
                Double($0.trimmingPrefix(name).trimmingCharacters(in: .whitespaces))
            })
        else { return nil }
        return kilobytes * 1024
    }
}
