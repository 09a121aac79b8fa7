import InterceptorsCore
import InterceptorsTesting
import Synchronization

/// A token bucket with a waiting line, right but for one fault.
///
/// The first waiter leads: it sleeps until a token is there. The others wait to lead.
final class TestBucket: Sendable {
    enum Fault {
        case cancelledWaiterTakesToken
        case leaderIgnoresCancellation
        case cancelledLeaderEndsTheLine
        case lastComeFirstServed
    }

    enum Refill {
        /// A token after each interval.
        case oneByOne
        /// All tokens at the end of each interval.
        case allAtOnce
    }

    private struct State {
        /// When the bucket is full, if tokens come one by one.
        var full = Duration.zero
        /// The intervals up to now, and the tokens taken in the last of them, if tokens come all at once.
        var (intervals, taken) = (0, 0)
        var line: [Once<Void>] = []
    }

    private let interval: Duration
    private let capacity: Int
    private let refill: Refill
    private let clock: ManualClock
    private let start: ManualClock.Instant
    private let fault: Fault?
    private let state = Mutex(State())

    init(
        every interval: Duration,
        capacity: Int = 5,
        _ world: InterceptorConformance.World,
        refill: Refill = .oneByOne,
        fault: Fault? = nil
    ) {
        (self.interval, self.capacity, self.refill, self.fault) = (interval, capacity, refill, fault)
        clock = world.clock
        start = clock.now
    }

    /// Waits for a token.
    ///
    /// - Parameter end: when the wait ends with an error.
    func acquire(before end: ManualClock.Instant? = nil) async throws {
        let now = start.duration(to: clock.now)
        let waiter = Once<Void>()
        let isFree = state.withLock { state in
            if state.line.isEmpty, delay(&state, now) == .zero {
                take(&state, now)
                return true
            }
            state.line.append(waiter)
            if state.line.count == 1 { waiter.resume(.success(())) }
            return false
        }
        if isFree { return }
        do {
            try await lead(waiter, end)
        } catch {
            if fault == .cancelledWaiterTakesToken { state.withLock { take(&$0, now) } }
            if fault == .cancelledLeaderEndsTheLine, error is CancellationError { endLine(led: waiter) }
            leave(waiter)
            throw error
        }
        leave(waiter)
    }

    private func lead(_ waiter: Once<Void>, _ end: ManualClock.Instant?) async throws {
        let alarm = end.map { end in
            Task { [clock] in
                try await clock.sleep(until: end)
                waiter.resume(.failure(Late()))
            }
        }
        defer { alarm?.cancel() }
        try await withTaskCancellationHandler {
            try await waiter.value()
        } onCancel: {
            waiter.resume(.failure(CancellationError()))
        }
        while true {
            try Task.checkCancellation()
            let now = start.duration(to: clock.now)
            let wait = state.withLock { state in
                let wait = delay(&state, now)
                if wait == .zero { take(&state, now) }
                return wait
            }
            if wait == .zero { return }
            if let end, clock.now.advanced(by: wait) > end { throw Late() }
            if fault == .leaderIgnoresCancellation {
                try await Task { [clock] in try await clock.sleep(for: wait) }.value
            } else {
                try await clock.sleep(for: wait)
            }
        }
    }

    private func delay(_ state: inout State, _ now: Duration) -> Duration {
        guard refill == .allAtOnce else { return max(.zero, max(state.full, now) - interval * (capacity - 1) - now) }
        let intervals = Int(now / interval)
        state.taken = max(0, state.taken - capacity * (intervals - state.intervals))
        state.intervals = intervals
        return state.taken < capacity ? .zero : interval * (intervals + 1) - now
    }

    private func take(_ state: inout State, _ now: Duration) {
        state.full = max(state.full, now) + interval
        state.taken += 1
    }

    private func endLine(led leader: Once<Void>) {
        let waiters = state.withLock { $0.line.first === leader ? $0.line : [] }
        for waiter in waiters { waiter.resume(.failure(CancellationError())) }
    }

    private func leave(_ waiter: Once<Void>) {
        let next = state.withLock { state in
            state.line.removeAll { $0 === waiter }
            guard fault == .lastComeFirstServed, let last = state.line.popLast() else { return state.line.first }
            state.line.insert(last, at: 0)
            return last
        }
        // Only the first resumption counts.
        next?.resume(.success(()))
    }

    struct Late: HTTPError {
        let code = HTTPErrorCode.timedOut
        let message = "No token in time."
        var sentNothing: Bool { true }
        let request: HTTPRequest.Summary? = nil
        let response: HTTPResponse? = nil
        let underlying: (any Error)? = nil
        var context = HTTPContext()
    }
}
