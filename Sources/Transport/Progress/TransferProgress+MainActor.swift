internal import Synchronization

extension TransferProgress {
    private final class Newest: Sendable { let progress = Mutex<TransferProgress?>(nil) }

    /// A handler that calls a closure on the main actor, for a view or a model:
    ///
    /// ```swift
    /// try await api.download("/film.mp4", to: file, progress: TransferProgress.onMainActor { show($0.fraction ?? 0) })
    /// ```
    /// A busy main actor gets the newest report only, and the last report in any case. That may be after the call has returned.
    ///
    /// - Returns: a handler for one transfer: a verb's `progress`, or `uploadProgress` or `downloadProgress` of a context.
    public static func onMainActor(
        _ show: @escaping @MainActor @Sendable (TransferProgress) -> Void
    ) -> @Sendable (TransferProgress) -> Void {
        let newest = Newest()
        return { progress in
            let isUnderWay = newest.progress.withLock { held in
                defer { held = progress }
                return held != nil
            }
            if isUnderWay { return }
            Task { @MainActor in
                let progress = newest.progress.withLock { $0.take() }
                if let progress { show(progress) }
            }
        }
    }
}
