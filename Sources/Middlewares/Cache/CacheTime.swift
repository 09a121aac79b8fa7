internal import Foundation
internal import Synchronization

/// The time from which ages are computed: the wall clock, except that it never goes back.
///
/// When the wall clock is set back, this time continues by the monotonic clock, so that stale responses stay stale.
final class CacheTime: Sendable {
    struct Reading {
        /// Seconds since 1970; never less than in an earlier reading.
        let steady: Int64
        /// The wall clock, in seconds since 1970.
        let wall: Int64
    }

    private struct State {
        var steady: Double
        var elapsed: Duration
    }

    private let now: @Sendable () -> Date
    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State(steady: -.infinity, elapsed: .zero))

    init(clock: some Clock<Duration>, now: @escaping @Sendable () -> Date) {
        self.now = now
        elapsed = Stopwatch.starting(clock).elapsed
    }

    func read() -> Reading {
        let date = now().timeIntervalSince1970
        let wall = date.isFinite ? min(max(date, -1e12), 1e12) : 0
        return state.withLock { state in
            let elapsed = elapsed()
            state.steady = max(wall, state.steady + Self.seconds(elapsed - state.elapsed))
            state.elapsed = elapsed
            return Reading(steady: Int64(state.steady.rounded(.down)), wall: Int64(wall.rounded(.down)))
        }
    }

    // In units of 2^30 attoseconds (about a nanosecond), which needs no division; at most 285 years. Rounds up, because a whole
    // second that became slightly less would keep a stale response fresh for another second.
    private static func seconds(_ duration: Duration) -> Double {
        let units = (max(.zero, min(duration, .seconds(9_000_000_000))).attoseconds + (1 << 30 - 1)) &>> 30
        return Double(Int64(truncatingIfNeeded: units)) * 1.073_741_824e-9
    }
}
