import Foundation
import Synchronization
import TestSupport

@testable import Middlewares

/// Interceptors of random choice, settings and order, and what is known of them beforehand.
struct RandomChain {
    private(set) var interceptors: [any Interceptor] = []
    private(set) var names: [String] = []
    /// The most times that one call can reach the transport.
    private(set) var mostSends = 1
    /// The time limit of the outermost interceptor, if it is one.
    private(set) var wholeLimit: Duration?
    private(set) var pools: [PermitPool] = []
    private(set) var tokens: TokenStore?
    private(set) var logged: [Shared<[LogEntry]>] = []

    private let world: World
    private let origin = Origin(URL(string: ScriptedTransport.hosts[0])!)!
    private let budget = RetryBudget(share: 0.5, reserve: 3)

    init(_ world: World, _ random: inout SeededGenerator, refresher: Refresher) {
        self.world = world
        let count = Int.random(in: 1...8, using: &random)
        var kinds = (0..<count).map { _ in Kind.allCases.randomElement(using: &random) ?? .headers }
        if kinds.contains(.unauthorized) || kinds.contains(.bearer) {
            tokens = refresher.makeStore()
            // Usually both, in the order that works, somewhere among the others.
            if Int.random(in: 0..<5, using: &random) > 0 {
                kinds.removeAll { $0 == .unauthorized || $0 == .bearer }
                let place = Int.random(in: 0...kinds.count, using: &random)
                kinds.insert(.unauthorized, at: place)
                kinds.insert(.bearer, at: Int.random(in: place + 1...kinds.count, using: &random))
            }
        }
        for kind in kinds { add(kind, &random) }
    }

    private enum Kind: CaseIterable {
        case redirects, retry, timeout, unauthorized, bearer, limit, logging, headers, transactionID, cookies, sign,
            basic
        case cache, status
    }

    private mutating func add(_ interceptor: any Interceptor, _ name: String, sends: Int = 1) {
        interceptors.append(interceptor)
        names.append(name)
        mostSends *= sends
    }

    private mutating func add(_ kind: Kind, _ random: inout SeededGenerator) {
        switch kind {
        case .redirects:
            let limit = Int.random(in: 0...4, using: &random)
            add(
                .followRedirects(limit: limit, allowsDowngrade: .random(using: &random)),
                "redirects(\(limit))",
                sends: limit + 1
            )
        case .retry: addRetry(&random)
        case .timeout:
            let limit = Duration.milliseconds(Int.random(in: 1...20_000, using: &random))
            if interceptors.isEmpty { wholeLimit = limit }
            add(.timeout(limit, clock: world.clock), "timeout(\(limit))")
        case .unauthorized, .bearer: addAuthentication(kind)
        case .limit: addLimit(&random)
        case .logging:
            let entries = Shared<[LogEntry]>([])
            logged.append(entries)
            add(.logging(.body, to: LogSink { entry in entries.change { $0.append(entry) } }), "logging")
        case .headers: add(.headers(["X-Client": "simulated"]), "headers")
        case .transactionID:
            let identify: TransactionIDInterceptor = .transactionID(named: "X-Transaction") { [world] in
                "\(world.nextID())"
            }
            add(identify, "transactionID")
        case .cookies:
            let jar = CookieJar(now: { [world] in world.now })
            add(CookiesInterceptor(jar), "cookies")
        case .sign:
            world.keep(secret: "signature-secret", of: origin.description)
            let sign: SignInterceptor = .sign(origins: [origin], now: { [world] in world.now }) { request, _ in
                request.headerFields["Signature"] = "signature-secret"
            }
            add(sign, "sign")
        case .basic:
            world.keep(secret: Data("ada:password".utf8).base64EncodedString(), of: origin.description)
            add(.basicAuth(username: "ada", password: "password", origins: [origin]), "basicAuth", sends: 2)
        case .cache:
            let cache = CacheInterceptor(store: MemoryCacheStore(), clock: world.clock, now: { [world] in world.now })
            add(cache, "cache", sends: 2)
        case .status: add(.validateStatus(), "validateStatus")
        }
    }

    private mutating func addRetry(_ random: inout SeededGenerator) {
        let attempts = Int.random(in: 1...4, using: &random)
        var policy = RetryPolicy(maxAttempts: attempts, backoff: .exponential(base: .seconds(1), cap: .seconds(8)))
        if Bool.random(using: &random) { policy.retryAfter = .refused(over: .seconds(5)) }
        let makeKey: @Sendable () -> String = { [world] in "key-\(world.nextID())" }
        let makesKeys = Bool.random(using: &random)
        let isBudgeted = Bool.random(using: &random)
        let retry = RetryInterceptor(
            policy,
            budget: isBudgeted ? budget : nil,
            idempotencyKey: makesKeys ? makeKey : nil,
            clock: world.clock,
            random: world.random,
            now: { [world] in world.now }
        )
        add(retry, "retry(\(attempts))", sends: max(1, attempts))
    }

    private mutating func addAuthentication(_ kind: Kind) {
        guard let tokens else { return }
        if kind == .bearer {
            add(.bearerAuth(tokens), "bearerAuth")
        } else {
            add(.retryOnUnauthorized(tokens), "retryOnUnauthorized", sends: 2)
        }
    }

    private mutating func addLimit(_ random: inout SeededGenerator) {
        // A limit inside of another with the same permits would wait for itself; each has its own.
        let total = Int.random(in: 1...3, using: &random)
        let limit = LimitConcurrencyInterceptor(total, perHost: Bool.random(using: &random) ? 1 : nil)
        pools.append(limit.pool)
        add(limit, "limit(\(total))")
    }
}

/// Gets tokens, through the simulated chain or past it.
final class Refresher: Sendable {
    let world: World
    /// What the refresh sends through; set once the chain is made, and taken away at the end.
    let client = Shared<Client?>(nil)

    init(_ world: World) { self.world = world }

    func makeStore() -> TokenStore {
        let origin = Origin(URL(string: ScriptedTransport.hosts[0])!)!
        return TokenStore(
            .init("token-secret-0"),
            origins: [origin],
            now: { [world] in world.now },
            refresh: { [self] _ in try await self.refresh() }
        )
    }

    private func refresh() async throws -> TokenStore.Token {
        let id = world.nextID() + 1_000
        world.note("refresh #\(id) begins")
        defer { world.note("refresh #\(id) ends") }
        var request = HTTPRequest(method: .post, url: URL(string: "https://api.test/token")!)
        request.context.simulatedCall = SimulatedCall(id: id, method: .post, body: "")
        guard let client = client.value else { throw Ended() }
        let response = try await client.send(request)
        response.body.discard()
        guard response.status == 200 else { throw Refused() }
        let value = "token-secret-\(id)-end"
        world.keep(secret: value, of: "https://api.test:443")
        world.validToken = value
        return .init(value, expiresAt: world.chance(30) ? world.now.addingTimeInterval(60) : nil)
    }

    struct Refused: Error {}
    struct Ended: Error {}
}

/// A value that tasks of a test share.
final class Shared<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }

    func change(_ body: (inout Value) -> Void) { mutex.withLock { body(&$0) } }
}
