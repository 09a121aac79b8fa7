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
        let completed = min(completed, total)
        var next = state.withLock { $0.begin(completed) }
        while let count = next {
            handler(TransferProgress(completed: count, total: total))
            let end = state.withLock { $0.end(count) }
            next = end.next
            for waiter in end.waiters { waiter.resume() }
        }
    }

    /// Reports the total. Returns after the handler has got it, even from another thread.
    func finish() async {
        report(total)
        await withCheckedContinuation { waiter in
            let isIdle = state.withLock { $0.waits(waiter) }
            if isIdle { waiter.resume() }
        }
    }

    private struct State {
        private var greatest: Int64 = -1
        private var isDelivering = false
        private var waiters: [CheckedContinuation<Void, Never>] = []

        /// Returns the count to deliver, unless it is old or another thread will deliver it.
        mutating func begin(_ count: Int64) -> Int64? {
            guard count > greatest else { return nil }
            greatest = count
            guard !isDelivering else { return nil }
            isDelivering = true
            return count
        }

        /// Returns the next count to deliver, or the tasks that wait for the last one.
        mutating func end(_ count: Int64) -> (next: Int64?, waiters: [CheckedContinuation<Void, Never>]) {
            if greatest > count { return (greatest, []) }
            isDelivering = false
            defer { waiters = [] }
            return (nil, waiters)
        }

        /// Keeps a continuation while a thread delivers. Returns whether none does.
        mutating func waits(_ waiter: CheckedContinuation<Void, Never>) -> Bool {
            if isDelivering { waiters.append(waiter) }
            return !isDelivering
        }
    }
}
