import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Synchronization

@testable import InterceptorsTesting

/// Wrong about calls that wait, or that end while they wait.
extension BrokenInterceptor {
    static let waits: [Self] = [
        bucket("aCancelledWaiterCostsNothing", fault: .cancelledWaiterTakesToken),
        Self("aCancelledWaiterCostsNothing", [.limitsRate, .waits], fault: "turn that is reserved") { world in
            let next = Shared(Duration.zero)
            let elapsed = world.time.startMeasuring()
            return AnyInterceptor.intercept { request, rest in
                let now = elapsed()
                var wait = Duration.zero
                next.change { next in
                    wait = max(.zero, next - now)
                    next = max(now, next) + .milliseconds(10)
                }
                if wait > .zero { try await world.clock.sleep(for: wait) }
                return try await rest(request)
            }
        },
        bucket("aCancelledWaiterCostsNothing", .allAtOnce, fault: .cancelledWaiterTakesToken),
        bucket("aCancelledWaiterCostsNothing", fault: .cancelledLeaderEndsTheLine),
        bucket("waitersGoOnInOrder", .allAtOnce, fault: .lastComeFirstServed),
        bucket("cancellationEndsACallAtOnce", fault: .leaderIgnoresCancellation),
        limit("noCallWaitsForEver", "line that is joined too late") { LatePermits(5) },
        limit("noCallWaitsForEver", "permit for a waiter that has left") { Permits(5, fault: .servesTheGone) },
        limit("waitersGoOnInOrder", "last come, first served") { Permits(5, fault: .lastFirst) },
        limit("waitersGoOnInOrder", "newcomer that takes a permit before the line") { BargingPermits(5) },
        limit("everyPermitComesBack", "kept by a waiter that was cancelled in its turn") {
            Permits(5, fault: .forgetsTheCancelled)
        },
        Self("noWaitOutlastsTheDeadline", [.limitsRate, .waits]) { world in
            world.giveTestDeadlines()
            let bucket = TestBucket(every: .milliseconds(50), world)
            return AnyInterceptor.intercept { request, next in
                try await bucket.acquire()
                return try await next(request)
            }
        },
        Self("noWaitOutlastsTheDeadline", [.setsDeadline], fault: "call that isn't ended") { world in
            world.giveTestDeadlines()
            return AnyInterceptor.intercept { try await $1($0) }
        },
        Self("aCancelledCallIsNotSentAgain", [.retries], fault: "retry of each error") { request, next in
            do { return try await next(request) } catch {
                guard request.method.isSafe, request.body.isRestartable else { throw error }
                return try await next(request)
            }
        },
        Self("aCancelledCallIsNotSentAgain", [.retries], fault: "wait that ends with the task") { world in
            AnyInterceptor.intercept { request, next in
                let response = try await next(request)
                guard response.status == 503, request.method.isSafe, request.body.isRestartable else { return response }
                response.body.discard()
                try? await world.clock.sleep(for: .seconds(2))
                return try await next(request)
            }
        },
        Self("theEndOfAStreamArrives", [.changesResponse], fault: "last chunk again and again") { request, next in
            try await endless(request, next) { $0 }
        },
    ]

    private static func bucket(_ rule: String, _ refill: TestBucket.Refill = .oneByOne, fault: TestBucket.Fault) -> Self
    {
        let roles: [ChainRole] = [.limitsRate, .waits] + (fault == .lastComeFirstServed ? [.keepsOrder] : [])
        return Self(rule, roles, fault: "\(fault), tokens \(refill)") { world in
            // Tokens that come together are more than three waiters can waste.
            let capacity = refill == .allAtOnce ? 20 : 5
            let bucket = TestBucket(every: .milliseconds(50), capacity: capacity, world, refill: refill, fault: fault)
            return AnyInterceptor.intercept { request, next in
                try await bucket.acquire()
                return try await next(request)
            }
        }
    }

    private static func limit(
        _ rule: String,
        _ fault: String,
        _ permits: @escaping @Sendable () -> some PermitLine
    ) -> Self {
        Self(rule, [.limitsConcurrency, .waits, .keepsOrder], fault: fault) { _ in
            let permits = permits()
            return AnyInterceptor.intercept { request, next in
                try await permits.acquire()
                var response: HTTPResponse
                do { response = try await next(request) } catch {
                    permits.release()
                    throw error
                }
                response.body = response.body.onEnd { _ in permits.release() }
                return response
            }
        }
    }

    private static func endless(
        _ request: HTTPRequest,
        _ next: Next,
        _ change: @escaping @Sendable (Data) -> Data
    ) async throws -> HTTPResponse {
        var response = try await next(request)
        guard response.body.data == nil else { return response }
        response.headers.remove(.contentLength)
        response.body = response.body.wrapped { Repeating(body: $0, change: change) }
        return response
    }

    /// Has more chunks after its end.
    private struct Repeating: AsyncSequence, Sendable {
        let body: HTTPBody
        let change: @Sendable (Data) -> Data
        func makeAsyncIterator() -> Iterator { Iterator(source: body.makeAsyncIterator(), change: change) }

        struct Iterator: AsyncIteratorProtocol {
            var source: HTTPBody.AsyncIterator
            let change: @Sendable (Data) -> Data
            var last = Data()

            mutating func next() async throws -> Data? {
                guard let chunk = try await source.next() else { return change(last) }
                last = chunk
                return chunk
            }
        }
    }
}

protocol PermitLine: Sendable {
    func acquire() async throws
    func release()
}

/// Loses the wake-up of a call that finds no permit and joins the line later.
private final class LatePermits: PermitLine {
    private struct State {
        var free: Int
        var line: [Once<Void>] = []
    }

    private let state: Mutex<State>
    init(_ count: Int) { state = Mutex(State(free: count)) }

    func acquire() async throws {
        let isFree = state.withLock { state in
            guard state.free > 0 else { return false }
            state.free -= 1
            return true
        }
        if isFree { return }
        await Task.yield()
        let waiter = Once<Void>()
        state.withLock { $0.line.append(waiter) }
        try await withTaskCancellationHandler {
            try await waiter.value()
        } onCancel: {
            _ = waiter.resume(.failure(CancellationError()))
        }
    }

    func release() {
        while let waiter = state.withLock({ $0.line.isEmpty ? nil : $0.line.removeFirst() }) {
            if waiter.resume(.success(())) { return }
        }
        state.withLock { $0.free += 1 }
    }
}

/// Lets a call that comes together with a permit take the permit, although others wait.
private final class BargingPermits: PermitLine {
    private struct State {
        var free: Int
        var line: [Once<Void>] = []
    }

    private let state: Mutex<State>
    init(_ count: Int) { state = Mutex(State(free: count)) }

    func acquire() async throws {
        var isNew = true
        while let waiter = join(isNew: isNew) {
            isNew = false
            try await withTaskCancellationHandler {
                try await waiter.value()
            } onCancel: {
                _ = waiter.resume(.failure(CancellationError()))
            }
        }
    }

    /// Takes a permit, or joins the line; a waiter that was woken in vain joins as the first.
    private func join(isNew: Bool) -> Once<Void>? {
        state.withLock { state in
            guard state.free == 0 else {
                state.free -= 1
                return nil
            }
            let waiter = Once<Void>()
            state.line.insert(waiter, at: isNew ? state.line.count : 0)
            return waiter
        }
    }

    func release() {
        state.withLock { $0.free += 1 }
        while let waiter = state.withLock({ $0.line.isEmpty ? nil : $0.line.removeFirst() }) {
            if waiter.resume(.success(())) { return }
        }
    }
}

extension InterceptorConformance.World {
    func giveTestDeadlines() {
        giveDeadlines { [clock] request, limit in request.context.testDeadline = clock.now.advanced(by: limit) }
    }
}

extension HTTPContext {
    private enum DeadlineKey: HTTPContextKey { static var defaultValue: ManualClock.Instant? { nil } }

    var testDeadline: ManualClock.Instant? {
        get { self[DeadlineKey.self] }
        set { self[DeadlineKey.self] = newValue }
    }
}
