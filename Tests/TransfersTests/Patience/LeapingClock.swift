import InterceptorsCore
import InterceptorsTransfers
import Synchronization

/// A clock whose sleeps end at once, and move it to their deadlines.
final class LeapingClock: Clock {
    struct Instant: InstantProtocol {
        var elapsed = Duration.zero
        func advanced(by duration: Duration) -> Self { Self(elapsed: elapsed + duration) }
        func duration(to other: Self) -> Duration { other.elapsed - elapsed }
        static func < (left: Self, right: Self) -> Bool { left.elapsed < right.elapsed }
    }

    private let time = Mutex(Instant())

    var now: Instant { time.withLock(\.self) }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        time.withLock { $0 = max($0, deadline) }
    }
}

extension TimeSource {
    /// Waits pass at once, and are as long as they can be.
    static var leaping: TimeSource { TimeSource(clock: LeapingClock(), random: RandomSource { .max }) }
}
