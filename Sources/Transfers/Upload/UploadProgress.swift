internal import Interceptors
internal import Synchronization

/// Reports the progress of an upload across its requests: in order, and never back.
///
/// Transports report from any thread. One thread at a time calls the handler, and passes on the counts that arrive meanwhile: the
/// handler runs outside the lock, so it may wait for another thread.
final class UploadProgress: Sendable {
    private let total: Int64
    private let handler: @Sendable (TransferProgress) -> Void
    private let state = Mutex(State())

    init(total: Int64, _ handler: @escaping @Sendable (TransferProgress) -> Void) {
        self.total = total
        self.handler = handler
    }

    /// Reports a number of bytes of the whole, if it is greater than those before.
    func report(_ completed: Int64) {
        let isFirst = state.withLock { state in
            state.greatest = max(state.greatest, min(completed, total))
            defer { state.isDelivering = true }
            return !state.isDelivering
        }
        guard isFirst else { return }
        while let count = next() { handler(TransferProgress(completed: count, total: total)) }
    }

    /// The next count to deliver. Without one, resumes the tasks that wait for the last one.
    private func next() -> Int64? {
        let (count, waiters) = state.withLock { state in
            if state.greatest > state.delivered {
                state.delivered = state.greatest
                return (state.greatest as Int64?, [CheckedContinuation<Void, Never>]())
            }
            state.isDelivering = false
            defer { state.waiters = [] }
            return (nil, state.waiters)
        }
        for waiter in waiters { waiter.resume() }
        return count
    }

    /// Reports the total. Returns after the handler has got it, even from another thread.
    func finish() async {
        report(total)
        await withCheckedContinuation { waiter in
            let isIdle = state.withLock { state in
                if state.isDelivering { state.waiters.append(waiter) }
                return !state.isDelivering
            }
            if isIdle { waiter.resume() }
        }
    }

    private struct State {
        var greatest: Int64 = -1
        var delivered: Int64 = -1
        var isDelivering = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }
}
