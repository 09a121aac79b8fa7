internal import Foundation
internal import Synchronization

/// The recent uses that the files' times don't show yet. Also makes time stamps, each greater than all before.
///
/// Setting a file's time at every hit would write to the disk for every read. So the time is set when it lags by a minute.
/// Meanwhile up to 4,096 uses are remembered here, which orders eviction within this process.
final class RecentStamps: Sendable {
    private struct State {
        var last: Int64 = 0
        var uses: [DiskName: Int64] = [:]
    }

    /// How far a file's time may lag behind its last use, in nanoseconds.
    static let lag: Int64 = 60_000_000_000
    private static let limit = 4_096
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// The time in nanoseconds since 1970, or the last stamp plus one if that is later.
    func stamp() -> Int64 { state.withLock { stamp(&$0) } }

    private func stamp(_ state: inout State) -> Int64 {
        state.last = max(state.last + 1, time)
        return state.last
    }

    private var time: Int64 {
        let seconds = now().timeIntervalSince1970
        return seconds.isFinite ? Int64(min(max(seconds, 0), 9e9) * 1e9) : 0
    }

    /// Notes a use. Returns the stamp if the file's time is to be set to it.
    func use(_ name: DiskName, modified: Int64) -> Int64? {
        state.withLock { state in
            let stamp = stamp(&state)
            if stamp - modified >= Self.lag || modified - stamp >= Self.lag { return stamp }
            if state.uses.count >= Self.limit { state.uses = [:] }
            state.uses[name] = stamp
            return nil
        }
    }

    /// The time of a file's last use.
    ///
    /// A time in the future was set while the clock was ahead. Such a file counts as the oldest of all, because otherwise it
    /// would outlive everything that is used from now on.
    func lastUse(_ name: DiskName, modified: Int64) -> Int64 {
        state.withLock { state in
            // After the clock was set back in this process, its own stamps are ahead of the clock too.
            let modified = modified > max(time, state.last) + Self.lag ? 0 : modified
            return max(modified, state.uses[name] ?? modified)
        }
    }
}
