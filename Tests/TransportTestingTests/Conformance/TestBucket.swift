import Interceptors
import Synchronization
import TransportTesting

/// A token bucket with a waiting line, right but for one fault.
///
/// The first waiter leads: it sleeps until a token is there. The others wait to lead.
final class TestBucket: Sendable {
    enum Fault {
        case cancelledWaiterTakesToken
        case leaderIgnoresCancellation
    }

    private struct State {
        /// When the bucket is full.
        var full = Duration.zero
        var line: [Once<Void>] = []
    }

    private let interval: Duration
    private let capacity: Int
    private let clock: ManualClock
    private let start: ManualClock.Instant
    private let fault: Fault?
    private let state = Mutex(State())

    init(every interval: Duration, capacity: Int = 5, _ world: InterceptorConformance.World, fault: Fault? = nil) {
        (self.interval, self.capacity, self.fault) = (interval, capacity, fault)
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
            if state.line.isEmpty, delay(state, now) == .zero {
                state.full = max(state.full, now) + interval
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
            if fault == .cancelledWaiterTakesToken { state.withLock { $0.full += interval } }
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
                let wait = delay(state, now)
                if wait == .zero { state.full = max(state.full, now) + interval }
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

    private func delay(_ state: State, _ now: Duration) -> Duration {
        max(.zero, max(state.full, now) - interval * (capacity - 1) - now)
    }

    private func leave(_ waiter: Once<Void>) {
        let next = state.withLock { state in
            state.line.removeAll { $0 === waiter }
            return state.line.first
        }
        // Only the first resumption counts.
        next?.resume(.success(()))
    }

    struct Late: HTTPError {
        let code = HTTPErrorCode.timedOut
        let message = "No token in time."
        var sentNothing: Bool { true }
        var context = HTTPContext()
    }
}
