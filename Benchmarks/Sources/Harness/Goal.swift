internal import Foundation

/// Reports whether a figure is at or below its limit. Does nothing without a figure, when its table was skipped.
public func goal(_ what: String, _ figure: Double?, atMost limit: Double, _ unit: String = "") {
    guard let figure else { return }
    report(what, figure, "at most", limit, unit, isReached: figure <= limit)
}

/// Reports whether a figure is at or above its limit. Does nothing without a figure, when its table was skipped.
public func goal(_ what: String, _ figure: Double?, atLeast limit: Double, _ unit: String = "") {
    guard let figure else { return }
    report(what, figure, "at least", limit, unit, isReached: figure >= limit)
}

/// Prints a line below the table and appends it to the file named by `BENCHMARK_GOALS`, which Scripts/benchmark prints at the
/// end.
private func report(_ what: String, _ figure: Double, _ bound: String, _ limit: Double, _ unit: String, isReached: Bool)
{
    let unit = unit.isEmpty ? "" : " " + unit
    let reached = isReached ? "reached" : "NOT reached"
    let line = "\(what): \(text(figure))\(unit), \(bound) \(text(limit))\(unit): \(reached)"
    print("  goal: \(line)")
    fflush(nil)
    guard let path = ProcessInfo.processInfo.environment["BENCHMARK_GOALS"], let file = fopen(path, "a") else { return }
    fputs(line + "\n", file)
    fclose(file)
}

private func text(_ value: Double) -> String {
    value == value.rounded() ? String(Int(value)) : String(format: abs(value) < 100 ? "%.2f" : "%.0f", value)
}
