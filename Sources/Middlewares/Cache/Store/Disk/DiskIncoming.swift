internal import Dispatch
internal import Synchronization

/// The bodies that a store is receiving: their bytes count towards its limit, and abandoned files are removed here.
///
/// ```
/// reserve ──▶ written to a file ──▶ release (committed, and counted in the usage by then)
///                    └──────────▶ discard (removed on the queue, then released)
/// ```
/// Other stores of the directory receive bodies too: their files are measured now and then.
final class DiskIncoming: Sendable {
    private struct State {
        var own: Int64 = 0
        var others: Int64 = 0
        /// What was reserved since the others were measured; at first more than any limit.
        var unmeasured = Int64.max / 2
    }

    /// The most bytes of bodies under way: what is stored must not make way for bodies that may never end.
    let limit: Int64
    /// How many bytes a writer reserves at a time.
    let step: Int64
    private let state = Mutex(State())
    // Removing a long file takes milliseconds, so no reader waits for it. Each file waiting here still counts, so there are
    // never more than the limit has room for.
    let queue = DispatchQueue(label: "http-cache.incoming", qos: .utility)

    init(byteLimit: Int64, entryByteLimit: Int64) {
        limit = max(byteLimit / 2, entryByteLimit)
        step = min(1 << 20, max(1, byteLimit / 64))
    }

    /// The bytes of bodies under way, as far as known.
    var bytes: Int64 { state.withLock { $0.own + $0.others } }

    /// Counts bytes that are about to be written; says whether there is room for them.
    func reserve(_ count: Int64, in directory: DiskDirectory) -> Bool {
        let isDue = state.withLock { state in
            state.unmeasured += count
            return state.unmeasured > 4 * step
        }
        if isDue { measure(directory) }
        if take(count) { return true }
        // The bodies of others may have ended since they were measured.
        guard !isDue else { return false }
        measure(directory)
        return take(count)
    }

    private func take(_ count: Int64) -> Bool {
        state.withLock { state in
            guard state.own + state.others + count <= limit else { return false }
            state.own += count
            return true
        }
    }

    /// Measures what other stores of the directory are receiving.
    func measure(_ directory: DiskDirectory) {
        let all = directory.incomingBytes()
        state.withLock { state in
            state.others = max(0, all - state.own)
            state.unmeasured = 0
        }
    }

    func release(_ count: Int64) { state.withLock { $0.own -= count } }

    /// Removes a file in the background, and closes it there: the last to close a removed file frees its blocks.
    func discard(_ file: OpenFile, _ name: String, reserved: Int64, in directory: DiskDirectory) {
        queue.async { [self] in
            try? directory.incoming.remove(name)
            release(reserved)
            withExtendedLifetime(file) {}
        }
    }

    /// Waits until all that was discarded is removed.
    func settle() async { await withCheckedContinuation { done in queue.async { done.resume() } } }
}
