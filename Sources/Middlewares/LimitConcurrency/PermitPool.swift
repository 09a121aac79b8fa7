internal import Synchronization

/// Acts on what ``Permits`` decide: tasks that wait, cancellation, deadlines.
final class PermitPool: Sendable {
    /// What one who waits is told.
    private enum Admission: Sendable {
        case permit
        case gaveUp(GivingUp)
    }

    private let permits: Mutex<Permits<Turn<Admission>>>
    private let limits: Permits<Turn<Admission>>.Limits
    private let observe: @Sendable (_ waiting: Int) -> Void

    /// A pool.
    ///
    /// - Parameter observe: told how many wait when one more does, for tests that must know.
    init(total: Int?, perHost: Int?, waiting: Int?, observe: @escaping @Sendable (_ waiting: Int) -> Void) {
        limits = .init(total: total, perHost: perHost, waiting: waiting)
        permits = Mutex(Permits(limits))
        self.observe = observe
    }

    /// How many permits are in use, how many wait, and how many hosts are remembered.
    var counts: (inUse: Int, waiting: Int, scopes: Int) {
        permits.withLock { ($0.inUse, $0.waiting, $0.scopeCount) }
    }

    /// What a request needs a permit of.
    func scope(of request: borrowing HTTPRequest) -> LimitScope {
        LimitScope(of: request, isPerHost: limits.perHost != nil)
    }

    /// Waits for a permit, which is to be given back.
    ///
    /// - Throws: ``ConcurrencyLimitError`` if too many wait already; ``TransportError`` with
    ///   ``TransportError/Code/timedOut`` at the deadline of the request; `CancellationError` at once when the task is
    ///   cancelled. Then no permit was taken.
    func take(for scope: LimitScope, _ request: borrowing HTTPRequest) async throws {
        let (step, count) = permits.withLock { ($0.take(for: scope, Turn()), $0.waiting) }
        switch step {
        case .go: return
        case .full(let waiting): throw ConcurrencyLimitError.queueFull(waiting: waiting, request: request)
        case .wait(let ticket, let turn):
            observe(count)
            let admission = await turn.outcome(before: request.context.deadline) { [self] reason in
                permits.withLock { $0.leave(ticket, for: scope) }?.tell(.gaveUp(reason))
            }
            switch admission {
            case .permit:
                // Cancelled after it was its turn: what is not sent needs no permit.
                guard Task.isCancelled else { return }
                giveBack(for: scope)
                throw CancellationError()
            case .gaveUp(.cancelled): throw CancellationError()
            case .gaveUp(.timeIsUp): throw UnsentError.timedOut(waitingFor: "a permit of limitConcurrency", request)
            }
        }
    }

    /// Gives a permit back, to whoever waits for it.
    func giveBack(for scope: LimitScope) {
        permits.withLock { $0.giveBack(for: scope) }?.tell(.permit)
    }
}
