internal import CAllocations
internal import Foundation

/// The cost of a run, per repetition. Only ``memory`` is for the whole run.
public struct Cost: Sendable {
    /// Wall time, in nanoseconds.
    public var wall: Double
    /// CPU time on all cores, in nanoseconds; `nil` if unknown.
    public var cpu: Double?
    /// Calls of `malloc` and related functions; `nil` if they can't be counted.
    public var allocations: Double?
    /// The process's peak resident memory minus that before the run, in bytes; `nil` if unknown.
    public var memory: Double?

    /// Creates a cost that was measured elsewhere.
    public init(wall: Double, cpu: Double? = nil, allocations: Double? = nil, memory: Double? = nil) {
        self.wall = wall
        self.cpu = cpu
        self.allocations = allocations
        self.memory = memory
    }

    /// Runs work that repeats itself `repetitions` times, and measures its cost to this process, on all threads.
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

/// Returns the allocations per repetition, after a first run to warm up. The result is the lowest of five counts, because other
/// allocations in the process, for example for a thread, can only add to a count.
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

/// The bytes that this process has allocated and not freed; `nil` if they can't be counted.
public func bytesInUse() -> Int? {
    let bytes = callocations_in_use()
    return bytes == 0 ? nil : Int(bytes)
}

/// Returns unused memory to the system, so that memory used again counts as growth.
func trimMemory() { callocations_trim() }

private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// The process's resident memory, as reported by Linux.
private enum ResidentMemory {
    /// Resets the peak and returns the current value.
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
