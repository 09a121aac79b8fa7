import Foundation
import InterceptorsTestSupport
import InterceptorsTesting

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// Interceptors that limit, share or abandon requests. Inside each, a watch checks that it does.
extension RandomChain {
    /// Observes the requests that the last interceptor lets through.
    private mutating func watch(
        _ body: @escaping @Sendable (HTTPRequest, Next) async throws -> HTTPResponse
    ) {
        interceptors.append(AnyInterceptor.intercept { request, next in try await body(request, next) })
    }

    mutating func addLimit(_ random: inout SeededGenerator) {
        // Each limit has separate permits, because a limit inside another with the same permits would wait for itself.
        let total = Int.random(in: 1...3, using: &random)
        let perHost = Bool.random(using: &random) ? 1 : nil
        let maxQueued = Int.random(in: 0..<4, using: &random) == 0 ? 2 : nil
        let limit = LimitConcurrencyInterceptor(total, perHost: perHost, maxQueued: maxQueued)
        add(limit, "limit(\(total)\(perHost == nil ? "" : ", perHost"))")
        let running = Shared<[String: Int]>([:])
        watch { [world] request, next in
            // Requests of a refresh pass without a permit.
            if Task.isRefreshingCredential { return try await next(request) }
            let host = Origin(request.url)?.description ?? ""
            running.change { $0[host, default: 0] += 1 }
            defer { running.change { $0[host, default: 0] -= 1 } }
            let now = running.value
            if now.values.reduce(0, +) > total || now[host, default: 0] > perHost ?? .max {
                world.violate("A limit of \(total) let \(now.filter { $0.value > 0 }) go at once.")
            }
            return try await next(request)
        }
        finalChecks.append { [world] in
            if limit.pool.counts != (0, 0, 0) { world.violate("Permits are lost: \(limit.pool.counts).") }
        }
    }

    mutating func addNetwork(_ random: inout SeededGenerator) {
        let network = NetworkPathMonitor(random.oneOf([.satisfied, .unsatisfied, .unknown]))
        networks.append(network)
        let limit = Duration.milliseconds(Int.random(in: 1...10_000, using: &random))
        add(.waitForNetwork(upTo: limit, monitor: network, time: world.time), "waitForNetwork(\(limit))")
        let begins = Shared<[Int: Duration]>([:])
        // Outside the interceptor, this watch notes when a request reaches it.
        let outside: AnyInterceptor = .intercept { [world] request, next in
            let id = world.nextID()
            request.context.networkTrial = id
            begins.change { $0[id] = world.clock.now.elapsed }
            return try await next(request)
        }
        interceptors.insert(outside, at: interceptors.count - 1)
        watch { [world] request, next in
            let waited = begins.value[request.context.networkTrial].map { world.clock.now.elapsed - $0 } ?? .zero
            if waited > limit { world.violate("A request waited \(waited) for a network, with a limit of \(limit).") }
            return try await next(request)
        }
        finalChecks.append { [world] in
            if network.waiting != 0 { world.violate("Somebody waits for a network for ever.") }
        }
    }

    mutating func addRateLimit(_ random: inout SeededGenerator) {
        let count = Int.random(in: 1...3, using: &random), burst = Int.random(in: 1...3, using: &random)
        let period = Duration.seconds(Int.random(in: 1...3, using: &random))
        let isPerHost = Bool.random(using: &random)
        let limit = AnyInterceptor.rateLimit(
            count,
            per: period,
            burst: burst,
            perHost: isPerHost,
            maxQueued: Int.random(in: 0..<4, using: &random) == 0 ? 2 : nil,
            maxWait: Int.random(in: 0..<4, using: &random) == 0 ? .seconds(3) : nil,
            time: world.time
        )
        add(limit, "rateLimit(\(count) per \(period), burst \(burst))")
        let passed = Shared<[String: [Duration]]>([:])
        watch { [world] request, next in
            // Requests of a refresh don't wait.
            if !Task.isRefreshingCredential {
                let host = isPerHost ? Origin(request.url)?.description ?? "" : ""
                passed.change { $0[host, default: []].append(world.clock.now.elapsed) }
            }
            return try await next(request)
        }
        finalChecks.append { [world] in
            if (limit.base as? RateLimitInterceptor)?.limiter.counts.waiting != 0 {
                world.violate("Somebody waits for a rate limit for ever.")
            }
            for times in passed.value.values where !Self.keep(times, interval: period / count, burst: burst) {
                world.violate("A rate of \(count) per \(period) with a burst of \(burst) let go at \(times).")
            }
        }
    }

    /// Whether any span of time contains at most `burst` requests, and one more for each token that arrives in it.
    private static func keep(_ times: [Duration], interval: Duration, burst: Int) -> Bool {
        times.indices.allSatisfy { first in
            (first..<times.count).allSatisfy { last in
                times[last] - times[first] >= interval * (last - first + 1 - burst)
            }
        }
    }

    mutating func addCircuitBreaker(_ random: inout SeededGenerator) {
        let openFor = Duration.milliseconds(Int.random(in: 1...3_000, using: &random))
        let trip: CircuitTrip =
            Bool.random(using: &random)
            ? .consecutiveFailures(Int.random(in: 1...3, using: &random))
            : .failureRate(0.5, ofAtLeast: 3, within: .seconds(5))
        let states = Shared<[Origin: CircuitState]>([:])
        let breaker = CircuitBreakerInterceptor(
            trip,
            openFor: openFor,
            probes: Int.random(in: 1...2, using: &random),
            time: world.time
        ) { origin, _, state in states.change { $0[origin] = state } }
        add(breaker, "circuitBreaker(\(openFor))")
        watch { [world] request, next in
            if let origin = Origin(request.url), states.value[origin] == .open {
                world.violate("A request to \(origin) passed an open circuit.")
            }
            return try await next(request)
        }
        finalChecks.append { [world] in
            world.clock.advance(by: openFor)
            for url in ScriptedTransport.hosts.compactMap({ URL(string: $0) }) {
                guard let origin = Origin(url) else { continue }
                do {
                    _ = try breaker.breaker.admit(HTTPRequest(url: url), to: origin)
                } catch {
                    world.violate("A circuit is shut for ever: \(error)")
                }
            }
        }
    }

    mutating func addHedge(_ random: inout SeededGenerator) {
        let delay = Duration.milliseconds(Int.random(in: 0...2_000, using: &random))
        let budget = Bool.random(using: &random) ? RetryBudget(share: 0.5, reserve: 1) : nil
        add(.hedge(after: delay, budget: budget, time: world.time), "hedge(\(delay))", sends: 2)
    }

    mutating func addCoalesce() {
        let coalesce = CoalesceInterceptor(observe: { _ in })
        add(coalesce, "coalesce")
        finalChecks.append { [world] in
            let counts = coalesce.coalescer.counts
            if counts != (0, 0) { world.violate("Shared exchanges never ended: \(counts).") }
        }
    }

    mutating func addLatestWins() {
        overtaking = interceptors.isEmpty ? .outermost : .inside
        let latest = CancelPreviousInterceptor()
        add(latest, "cancelPrevious")
        finalChecks.append { [world] in
            if latest.calls.count != 0 { world.violate("\(latest.calls.count) keys were not forgotten.") }
        }
    }
}

extension HTTPContext {
    private enum NetworkTrialKey: HTTPContextKey { static let defaultValue = 0 }

    /// The number of a request's passage through `waitForNetwork`.
    fileprivate var networkTrial: Int {
        get { self[NetworkTrialKey.self] }
        set { self[NetworkTrialKey.self] = newValue }
    }
}
