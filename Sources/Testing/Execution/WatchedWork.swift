internal import Dispatch
internal import Synchronization

/// Waits for work elsewhere, and gives up when a check says so.
final class WatchedWork: Sendable {
    /// Makes the error to throw. Called when the result of the work doesn't count any more.
    typealias GivingUp = @Sendable () -> any Error

    private let continuation: Mutex<CheckedContinuation<Void, any Error>?>
    private let interval: Duration
    private let check: @Sendable () -> GivingUp?

    /// - Parameters:
    ///   - interval: the time between two checks.
    ///   - check: returns how to give up, if the work must be given up.
    ///   - start: starts the work, which passes its result to the given function.
    static func run(
        every interval: Duration,
        check: @escaping @Sendable () -> GivingUp?,
        start: (_ end: @escaping @Sendable (Result<Void, any Error>) -> Void) -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { continuation in
            let work = WatchedWork(continuation, interval, check)
            start { work.takeContinuation()?.resume(with: $0) }
            work.watch()
        }
    }

    private init(
        _ continuation: CheckedContinuation<Void, any Error>,
        _ interval: Duration,
        _ check: @escaping @Sendable () -> GivingUp?
    ) {
        self.continuation = Mutex(continuation)
        self.interval = interval
        self.check = check
    }

    private func takeContinuation() -> CheckedContinuation<Void, any Error>? {
        continuation.withLock { continuation in
            defer { continuation = nil }
            return continuation
        }
    }

    private func watch() {
        DispatchQueue.global().asyncAfter(deadline: .now() + interval / .seconds(1)) { [weak self] in
            guard let self, continuation.withLock({ $0 != nil }) else { return }
            guard let giveUp = check() else { return watch() }
            // Taken before the report, which may free blocked work and let it end with another error.
            guard let continuation = takeContinuation() else { return }
            continuation.resume(throwing: giveUp())
        }
    }
}
