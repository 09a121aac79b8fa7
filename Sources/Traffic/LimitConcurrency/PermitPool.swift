internal import Synchronization

/// Runs the waiting lines: keeps ``Permits`` under a lock, and suspends and resumes tasks outside it.
final class PermitPool: Sendable {
    /// The message that ends a task's wait.
    private enum Admission: Sendable {
        case permit
        case gaveUp(WaitAbandonment)
    }

    private let permits: Mutex<Permits<Waiter<Admission>>>
    private let limits: Permits<Waiter<Admission>>.Limits
    private let observe: @Sendable (_ waiting: Int) -> Void

    /// Creates a pool.
    ///
    /// - Parameter observe: called with the number of waiting requests whenever a request starts to wait; for tests.
    init(total: Int?, perHost: Int?, maxQueued: Int?, observe: @escaping @Sendable (_ waiting: Int) -> Void) {
        limits = .init(total: total, perHost: perHost, maxQueued: maxQueued)
        permits = Mutex(Permits(limits))
        self.observe = observe
    }

    /// The number of permits, if there is a limit.
    var total: Int? { limits.total }

    /// The number of permits for each host, if there is a limit.
    var perHost: Int? { limits.perHost }

    /// Whether no request ever waits.
    var isUnlimited: Bool { limits.total == nil && limits.perHost == nil }

    /// The number of permits in use, of waiting requests, and of hosts in memory.
    var counts: (inUse: Int, waiting: Int, scopes: Int) {
        permits.withLock { ($0.inUse, $0.waiting, $0.scopeCount) }
    }

    /// The scope whose limit applies to a request.
    func scope(of request: borrowing HTTPRequest) -> LimitScope {
        LimitScope(of: request, isPerHost: limits.perHost != nil)
    }

    /// Waits for a permit. The caller must release it with `release(for:)`.
    ///
    /// - Throws: `LimitError` if the line is full; ``TransportError`` with ``HTTPErrorCode/timedOut`` at the
    ///   request's deadline; `CancellationError` at once if the task is cancelled. If this throws, no permit is held.
    func acquire(for scope: LimitScope, _ request: borrowing HTTPRequest) async throws {
        let (step, count) = permits.withLock { ($0.acquire(for: scope, Waiter()), $0.waiting) }
        switch step {
        case .go: return
        case .full(let waiting):
            let error = LimitError.queueFull("limitConcurrency", waiting: waiting, request: request)
            request.note(.refused(error))
            throw error
        case .wait(let ticket, let waiter):
            observe(count)
            let admission = await waiter.outcome(before: request.context.deadline) { [self] reason in
                permits.withLock { $0.leave(ticket, for: scope) }?.resume(with: .gaveUp(reason))
            }
            switch admission {
            case .permit:
                // The task was cancelled after it got the permit, and won't send its request.
                guard Task.isCancelled else { return request.note(.waited(for: "a permit")) }
                release(for: scope)
                throw CancellationError()
            case .gaveUp(.cancelled): throw CancellationError()
            case .gaveUp(.timeIsUp): throw UnsentError.timedOut(waitingFor: "a permit of limitConcurrency", request)
            }
        }
    }

    /// Releases a permit, which passes to the next waiter.
    func release(for scope: LimitScope) {
        permits.withLock { $0.release(for: scope) }?.resume(with: .permit)
    }
}
