import Synchronization

/// Estimates the speed of a transfer, and the time until its end, from the progress it reports.
///
/// ```swift
/// let rate = TransferRate()
/// try await api.download("/film.mp4", to: file) { progress in
///     let estimate = rate.estimate(after: progress)
///     print(progress.completed, estimate.bytesPerSecond ?? 0, estimate.timeLeft ?? .zero)
/// }
/// ```
/// Make a rate for each transfer. The speed is the mean of the last seconds, so that it neither jumps with each chunk nor
/// remembers a slow start. The bytes of the first report don't count, because a resumed download received them earlier. A
/// download that starts over is measured from there.
public final class TransferRate: Sendable {
    private let elapsed: @Sendable () -> Duration
    private let window: Mutex<RateWindow>

    /// Creates a rate for one transfer.
    ///
    /// - Parameters:
    ///   - window: the time over which the speed is averaged; by default 10 seconds, and at least a millisecond.
    ///   - time: measures the time between reports.
    public init(over window: Duration = .seconds(10), time: TimeSource = .system) {
        elapsed = time.stopwatch().elapsed
        self.window = Mutex(RateWindow(length: max(window, .milliseconds(1))))
    }

    /// Takes a report into account, and returns the estimate after it.
    ///
    /// - Returns: an estimate without a speed until reports are a twentieth of the window apart.
    public func estimate(after progress: TransferProgress) -> Estimate {
        window.withLock { window in
            let now = elapsed()
            window.add(progress, at: now)
            return window.estimate(at: now)
        }
    }

    /// The estimate at this moment, for a view that asks on a timer: no report comes while a transfer stalls.
    ///
    /// - Returns: the estimate after the last report and the time since; `nil` before the first report.
    public func estimate() -> Estimate? {
        window.withLock { $0.isEmpty ? nil : $0.estimate(at: elapsed()) }
    }

    /// The speed of a transfer and the time until its end.
    ///
    /// `bytesPerSecond` is the mean speed of the last seconds: `nil` before it is known, zero if nothing has arrived for the whole
    /// window. `timeLeft` is the time until the last byte at this speed. `timeLeft` is `nil` if the speed or the total is unknown, or
    /// the rest takes over thirty years.
    public typealias Estimate = (bytesPerSecond: Double?, timeLeft: Duration?)
}

/// The reports of the last seconds. The memory is bounded, because reports closer than a twentieth of the window aren't kept.
struct RateWindow {
    private let length: Duration
    private var reports: [(completed: Int64, time: Duration)] = []
    /// The last report, which may not be kept.
    private var latest: TransferProgress?

    init(length: Duration) { self.length = length }

    var count: Int { reports.count }
    var isEmpty: Bool { latest == nil }

    private var shortest: Duration { length / 20 }

    mutating func add(_ progress: TransferProgress, at time: Duration) {
        if let latest, progress.completed < latest.completed { reports = [] }
        latest = progress
        // The oldest report stays until the next one alone gives a speed.
        while reports.count > 1, time - reports[0].time > length, time - reports[1].time >= shortest {
            reports.removeFirst()
        }
        if let last = reports.last, time - last.time < shortest { return }
        reports.append((progress.completed, time))
    }

    func estimate(at time: Duration) -> TransferRate.Estimate {
        let speed = bytesPerSecond(at: time)
        guard let latest, let total = latest.total else { return (speed, nil) }
        guard latest.completed < total else { return (speed, .zero) }
        let seconds = speed.map { (Double(total) - Double(latest.completed)) / $0 } ?? .infinity
        return (speed, seconds < 1e9 ? .seconds(seconds) : nil)
    }

    /// The mean speed since the oldest report in the window; `nil` until that is a twentieth of the window ago.
    private func bytesPerSecond(at time: Duration) -> Double? {
        guard let latest else { return nil }
        let inside = reports.first { time - $0.time <= length } ?? reports.last
        guard let first = reports.first, let inside else { return nil }
        let start = time - inside.time >= shortest ? inside : first
        let span = time - start.time
        guard span >= shortest else { return nil }
        return (Double(latest.completed) - Double(start.completed)) / (span / .seconds(1))
    }
}
