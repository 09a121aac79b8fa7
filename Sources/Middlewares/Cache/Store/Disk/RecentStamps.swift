internal import Foundation
internal import Synchronization

/// When files were used, as far as their own times don't say so yet; and stamps of which each is greater than all before.
///
/// Writing the time of a file at each hit would make the disk write for reading. So it is written once in a while, and
/// meanwhile the last few thousand uses are remembered here, for the order within this process.
final class RecentStamps: Sendable {
    private struct State {
        var last: Int64 = 0
        var young: [DiskName: Int64] = [:]
        var old: [DiskName: Int64] = [:]
    }

    /// For how long the time of a file may lag behind, in nanoseconds.
    static let lag: Int64 = 60_000_000_000
    private static let generation = 2_048
    private let now: @Sendable () -> Date
    private let state = Mutex(State())

    init(now: @escaping @Sendable () -> Date) { self.now = now }

    /// The time, in nanoseconds since 1970; a little later than it is where it would be the same as before.
    func stamp() -> Int64 { state.withLock { stamp(&$0) } }

    private func stamp(_ state: inout State) -> Int64 {
        state.last = max(state.last + 1, time)
        return state.last
    }

    private var time: Int64 {
        let seconds = now().timeIntervalSince1970
        return seconds.isFinite ? Int64(min(max(seconds, 0), 9e9) * 1e9) : 0
    }

    /// Notes a use; gives the stamp if the file's time is to be set to it.
    func use(_ name: DiskName, modified: Int64) -> Int64? {
        state.withLock { state in
            let stamp = stamp(&state)
            if stamp - modified >= Self.lag || modified - stamp >= Self.lag { return stamp }
            if state.young.count >= Self.generation {
                state.old = state.young
                state.young = [:]
            }
            state.young[name] = stamp
            return nil
        }
    }

    /// When a file was last used.
    ///
    /// A time in the future, as of a run with the clock ahead, says that the use was before the clock was put right: such a
    /// file is older than any other, or it would outlive all that is used from now on.
    func lastUse(_ name: DiskName, modified: Int64) -> Int64 {
        state.withLock { state in
            // Where the clock was moved back while this process runs, its own stamps go on.
            let modified = modified > max(time, state.last) + Self.lag ? 0 : modified
            return max(modified, state.young[name] ?? state.old[name] ?? modified)
        }
    }
}
