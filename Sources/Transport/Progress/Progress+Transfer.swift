public import Foundation

extension Progress {
    /// Shows a transfer in this progress: its bytes, its speed and the time left.
    ///
    /// ```swift
    /// let progress = Progress(totalUnitCount: -1)           // a progress view observes it
    /// try await api.download("/film.mp4", to: file, progress: progress.transferHandler())
    /// ```
    /// The unit is the byte. While the total is unknown, the progress is indeterminate. The progress is changed on the thread
    /// that reports, and only by a report: a transfer that stalls keeps its last speed. Cancelling the progress doesn't cancel the
    /// call: set `cancellationHandler` to cancel its task.
    ///
    /// A transfer without an announced length, or without content, leaves the progress indeterminate. If a parent progress
    /// waits for it, set `totalUnitCount` and `completedUnitCount` to one number when the call has returned.
    ///
    /// - Parameter time: measures the speed.
    /// - Returns: a handler for one transfer: a verb's `progress`, or `uploadProgress` or `downloadProgress` of a context.
    public func transferHandler(time: TimeSource = .system) -> @Sendable (TransferProgress) -> Void {
        kind = .file
        let rate = TransferRate(time: time)
        return { [self] report in
            let estimate = rate.estimate(after: report)
            totalUnitCount = report.total ?? -1
            completedUnitCount = report.completed
            setUserInfoObject(estimate.bytesPerSecond.flatMap { Int(exactly: $0.rounded()) }, forKey: .throughputKey)
            setUserInfoObject(estimate.timeLeft.map { $0 / .seconds(1) }, forKey: .estimatedTimeRemainingKey)
        }
    }
}
