internal import Dispatch
internal import Foundation
internal import Synchronization

/// Runs a check on a separate thread, and ends the check when one job blocks the thread.
final class WatchedThread: Sendable {
    private let continuation: Mutex<CheckedContinuation<Void, any Error>?>
    private let limit: Duration
    private let progress: @Sendable () -> Int
    private let blocked: @Sendable () -> any Error

    /// - Parameters:
    ///   - limit: the longest time without progress.
    ///   - progress: a number that grows; an odd number while a job runs.
    ///   - blocked: makes the error to throw when a job takes longer than the limit. The job's thread can't be ended.
    static func run(
        limit: Duration,
        progress: @escaping @Sendable () -> Int,
        blocked: @escaping @Sendable () -> any Error,
        _ body: @escaping @Sendable () throws -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let watched = WatchedThread(continuation, limit, progress, blocked)
            let thread = Thread { watched.end(Result { try body() }) }
            thread.stackSize = 4 << 20
            thread.start()
            watched.watch(since: nil)
        }
    }

    private init(
        _ continuation: CheckedContinuation<Void, any Error>,
        _ limit: Duration,
        _ progress: @escaping @Sendable () -> Int,
        _ blocked: @escaping @Sendable () -> any Error
    ) {
        self.continuation = Mutex(continuation)
        self.limit = limit
        self.progress = progress
        self.blocked = blocked
    }

    private func end(_ result: Result<Void, any Error>) { takeContinuation()?.resume(with: result) }

    private func takeContinuation() -> CheckedContinuation<Void, any Error>? {
        continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
    }

    private func watch(since earlier: Int?) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit / .seconds(1)) { [weak self] in
            guard let self, continuation.withLock({ $0 != nil }) else { return }
            let progress = progress()
            guard progress == earlier, progress % 2 == 1 else { return watch(since: progress) }
            // Taken before the report, which may free the blocked thread and let it end the check with another error.
            guard let continuation = takeContinuation() else { return }
            continuation.resume(throwing: blocked())
        }
    }
}
