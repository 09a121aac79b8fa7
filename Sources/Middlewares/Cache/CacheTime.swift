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

    init(_ time: TimeSource) {
        now = time.now
        elapsed = time.stopwatch().elapsed
    }

    func read() -> Reading {
        let date = now().timeIntervalSince1970
        let wall = date.isFinite ? min(max(date, -Self.latest), Self.latest) : 0
        return state.withLock { state in
            let elapsed = elapsed()
            let passed = min(max(0, (elapsed - state.elapsed) / .seconds(1)), Self.latest)
            state.steady = min(max(wall, state.steady + passed), Self.latest)
            state.elapsed = elapsed
            // A microsecond more: a whole second that became slightly less, by adding parts of it, would keep a stale response
            // fresh for another second.
            return Reading(steady: Int64((state.steady + 1e-6).rounded(.down)), wall: Int64(wall.rounded(.down)))
        }
    }

    /// Seconds since 1970 that no clock goes beyond, so that neither a time nor a sum of ages overflows.
    private static let latest = 1e12
}
