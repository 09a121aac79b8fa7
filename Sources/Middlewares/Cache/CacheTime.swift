internal import Foundation
internal import Synchronization

/// The time that ages are told by: the wall clock's, but it never goes back.
///
/// When the wall clock is moved back, this one goes on as before: what was stale stays so.
final class CacheTime: Sendable {
    struct Reading {
        /// Seconds since 1970; never less than before.
        let steady: Int64
        /// What the wall clock says, in seconds since 1970.
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
        let start = clock.now
        self.now = now
        self.elapsed = { start.duration(to: clock.now) }
    }

    func read() -> Reading {
        let date = now().timeIntervalSince1970
        let wall = date.isFinite ? min(max(date, -1e12), 1e12) : 0
        return state.withLock { state in
            let elapsed = elapsed()
            let (seconds, attoseconds) = (elapsed - state.elapsed).components
            state.steady = max(wall, state.steady + max(0, Double(seconds) + Double(attoseconds) * 1e-18))
            state.elapsed = elapsed
            return Reading(steady: Int64(state.steady.rounded(.down)), wall: Int64(wall.rounded(.down)))
        }
    }
}
