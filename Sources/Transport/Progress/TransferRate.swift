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
    public func estimate(after progress: TransferProgress) -> TransferEstimate {
        let bytesPerSecond = window.withLock { $0.bytesPerSecond(after: progress.completed, at: elapsed()) }
        return TransferEstimate(bytesPerSecond: bytesPerSecond, progress: progress)
    }
}

/// The speed of a transfer and the time until its end, as ``TransferRate`` estimates them.
public struct TransferEstimate: Sendable, Hashable {
    /// The mean speed of the last seconds, or `nil` before it is known. Zero for a transfer that makes no progress.
    public let bytesPerSecond: Double?
    /// The time until the last byte at this speed, or `nil` if the speed or the total is unknown, or it takes over thirty years.
    public let timeLeft: Duration?

    init(bytesPerSecond: Double?, progress: TransferProgress) {
        self.bytesPerSecond = bytesPerSecond
        timeLeft = progress.total.flatMap { total in
            guard progress.completed < total else { return .zero }
            guard let bytesPerSecond else { return nil }
            let seconds = (Double(total) - Double(progress.completed)) / bytesPerSecond
            return seconds < 1e9 ? .seconds(seconds) : nil
        }
    }
}

/// The reports of the last seconds. The memory is bounded, because reports closer than a twentieth of the window aren't kept.
struct RateWindow {
    private let length: Duration
    private var reports: [(completed: Int64, time: Duration)] = []

    init(length: Duration) { self.length = length }

    var count: Int { reports.count }

    mutating func bytesPerSecond(after completed: Int64, at time: Duration) -> Double? {
        if let last = reports.last, completed < last.completed || time < last.time { reports = [] }
        guard let last = reports.last else {
            reports = [(completed, time)]
            return nil
        }
        // The last report stays, so that a transfer with rarer reports has a speed too.
        let kept = reports.firstIndex { time - $0.time <= length } ?? reports.endIndex - 1
        reports.removeFirst(kept)
        let (first, span) = (reports[0], time - reports[0].time)
        if time - last.time >= length / 20 { reports.append((completed, time)) }
        guard span >= length / 20 else { return nil }
        return (Double(completed) - Double(first.completed)) / (span / .seconds(1))
    }
}
