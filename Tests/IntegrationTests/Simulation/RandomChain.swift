import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTraffic
import Synchronization

@testable import InterceptorsMiddlewares

/// Interceptors chosen at random, with random settings and in random order, and the facts that the checks need to know.
struct RandomChain {
    var interceptors: [any Interceptor] = []
    var names: [String] = []
    /// The maximum number of times that one call can reach the transport.
    var mostSends = 1
    /// Whether a timeout is outside of all interceptors that take time.
    var isWholeTimed = false
    /// The limit of that timeout, if it has one.
    var wholeLimit: Duration?
    /// Where a newer call can overtake a call.
    var overtaking = Overtaking.never
    /// One store that follows sign-ins, or one for each account.
    var stores: [TokenStore] = []
    /// The monitors whose paths change while calls are under way.
    var networks: [NetworkPathMonitor] = []
    /// Checks that run when everything has ended.
    var finalChecks: [() -> Void] = []

    let accounts: Accounts
    let world: World
    let origin = Origin(URL(string: ScriptedTransport.hosts[0])!)!
    private let budget = RetryBudget(share: 0.5, reserve: 3)
    private var isOutermost = true
    // The only one, shared by all its positions, because two of them would each count a server's nonces from 1.
    private var digest: AnyInterceptor?

    enum Overtaking { case never, outermost, inside }

    init(_ accounts: Accounts, _ random: inout SeededGenerator, refresher: Refresher) {
        self.accounts = accounts
        world = accounts.world
        if accounts.isOfEachCall { add(Accounts.partition, "partition") }
        let kinds = Self.kinds(isPartitioned: !accounts.isOfEachCall, &random)
        if kinds.contains(.unauthorized) || kinds.contains(.bearer) {
            stores =
                accounts.isOfEachCall
                ? Accounts.names.map { refresher.makeStore(of: $0, accounts) }
                : [refresher.makeStore(of: nil, accounts)]
        }
        for kind in kinds {
            add(kind, &random)
            if kind.takesTime { isOutermost = false }
        }
    }

    /// Random kinds in random order.
    ///
    /// - Parameter isPartitioned: whether a chain may name partitions by its tokens.
    private static func kinds(isPartitioned: Bool, _ random: inout SeededGenerator) -> [Kind] {
        let count = Int.random(in: 1...10, using: &random)
        let anywhere = Kind.allCases.filter { $0 != .tokenPartition }
        var kinds = (0..<count).map { _ in anywhere.randomElement(using: &random) ?? .headers }
        // Often includes an element that shares responses and one that tells accounts apart, in either order.
        if Bool.random(using: &random) {
            let credentials: [Kind] = [.cookies, .bearer, .accountKey, .silentKey, .sign]
            for kind in [random.oneOf([.cache, .cache, .coalesce]), random.oneOf(credentials)]
            where !kinds.contains(kind) {
                kinds.insert(kind, at: Int.random(in: 0...kinds.count, using: &random))
            }
        }
        if kinds.contains(.unauthorized) || kinds.contains(.bearer) {
            // Usually includes both, in the order that works, at random positions.
            if Int.random(in: 0..<5, using: &random) > 0 {
                kinds.removeAll { $0 == .unauthorized || $0 == .bearer }
                let place = Int.random(in: 0...kinds.count, using: &random)
                kinds.insert(.unauthorized, at: place)
                kinds.insert(.bearer, at: Int.random(in: place + 1...kinds.count, using: &random))
            }
        }
        // The token must be the only credential: cookies, keys and signatures may change between naming and sending.
        let credentials: Set<Kind> = [.cookies, .accountKey, .silentKey, .sign]
        if isPartitioned, let bearer = kinds.firstIndex(of: .bearer), credentials.isDisjoint(with: kinds),
            Bool.random(using: &random)
        {
            kinds.insert(.tokenPartition, at: Int.random(in: 0...bearer, using: &random))
        }
        // Often uses the documented order, as most programs do.
        if Int.random(in: 0..<3, using: &random) == 0 { kinds.sort { $0.rawValue < $1.rawValue } }
        return kinds
    }

    /// The kinds, in the documented order.
    private enum Kind: Int, CaseIterable {
        case cancelPrevious, status, headers, transactionID, tracing, timeout, compress, redirects, tokenPartition
        case cookies, unauthorized, bearer, digest, basic, accountKey, silentKey, coalesce, cache, network, retry, hedge
        case rate, limit, circuit, sign, metrics, logging

        var takesTime: Bool { ![.cancelPrevious, .headers, .transactionID, .tracing, .tokenPartition].contains(self) }
    }

    mutating func add(_ interceptor: any Interceptor, _ name: String, sends: Int = 1) {
        interceptors.append(interceptor)
        names.append(name)
        mostSends *= sends
    }

    private mutating func add(_ kind: Kind, _ random: inout SeededGenerator) {
        switch kind {
        case .redirects:
            let limit = Int.random(in: 0...4, using: &random)
            let redirects: AnyInterceptor = .followRedirects(limit: limit, allowsDowngrade: .random(using: &random))
            add(redirects, "redirects(\(limit))", sends: limit + 1)
        case .retry: addRetry(&random)
        case .timeout: addTimeout(&random)
        case .unauthorized, .bearer, .basic, .digest, .cookies, .sign, .accountKey, .silentKey, .tokenPartition:
            addIdentity(kind)
        case .limit: addLimit(&random)
        case .rate: addRateLimit(&random)
        case .circuit: addCircuitBreaker(&random)
        case .hedge: addHedge(&random)
        case .coalesce: addCoalesce()
        case .cancelPrevious: addLatestWins()
        case .network: addNetwork(&random)
        case .logging: addLogging()
        case .metrics: addMetrics()
        case .headers: add(.headers(["X-Client": "simulated"]), "headers")
        case .tracing: add(.tracing(time: world.time), "tracing")
        case .transactionID:
            let identify: AnyInterceptor = .transactionID(named: "X-Transaction") { [world] in
                "\(world.nextID())"
            }
            add(identify, "transactionID")
        case .compress: add(.compressRequest(above: 0), "compressRequest")
        case .cache:
            let cache = CacheInterceptor(
                store: MemoryCacheStore(),
                time: world.time,
                report: { _ in }
            )
            add(cache, "cache", sends: 2)
        case .status: add(.validateStatus(), "validateStatus")
        }
    }

    private mutating func addTimeout(_ random: inout SeededGenerator) {
        let milliseconds = Int.random(in: 1...20_000, using: &random)
        let limit: Duration? = Int.random(in: 0..<5, using: &random) == 0 ? nil : .milliseconds(milliseconds)
        if isOutermost { (isWholeTimed, wholeLimit) = (true, limit) }
        add(.timeout(limit, time: world.time), "timeout(\(limit.map { "\($0)" } ?? ""))")
    }

    private mutating func addRetry(_ random: inout SeededGenerator) {
        let attempts = Int.random(in: 1...4, using: &random)
        var policy = RetryPolicy.exponential(maxAttempts: attempts, base: .seconds(1), cap: .seconds(8))
        if Bool.random(using: &random) { policy.maxRetryAfter = .seconds(5) }
        let makeKey: @Sendable () -> String = { [world] in "key-\(world.nextID())" }
        let makesKeys = Bool.random(using: &random)
        let isBudgeted = Bool.random(using: &random)
        let retry: AnyInterceptor = .retry(
            policy,
            budget: isBudgeted ? budget : nil,
            time: world.time,
            idempotencyKey: makesKeys ? makeKey : nil
        )
        add(retry, "retry(\(attempts)\(makesKeys ? ", with keys" : ""))", sends: max(1, attempts))
    }

    private mutating func addIdentity(_ kind: Kind) {
        switch kind {
        case .bearer: add(accounts.interceptor { .bearerAuth(store(of: $0)) }, "bearerAuth")
        case .unauthorized:
            add(accounts.interceptor { .retryOnUnauthorized(store(of: $0)) }, "retryOnUnauthorized", sends: 2)
        case .tokenPartition:
            accounts.areNamedByTokens = true
            add(.partition(by: store(of: nil)), "partition(by: tokens)")
        case .cookies: add(accounts.interceptor(makeCookies), "cookies")
        case .sign: addSign()
        case .accountKey, .silentKey:
            for account in Accounts.names {
                world.keep(credential: AccountKeyInterceptor.secret(of: account), of: account)
            }
            let key = AccountKeyInterceptor(accounts: accounts, origin: origin, asksBefore: kind == .accountKey)
            add(key, kind == .accountKey ? "accountKey" : "silentKey")
        case .basic:
            world.keep(secret: ScriptedTransport.basicSecret, of: origin.description)
            add(.basicAuth(username: "ada", password: "password", origins: [origin]), "basicAuth", sends: 2)
        default:
            world.keep(secret: "digest-password", of: "nobody")
            let digest: AnyInterceptor =
                self.digest
                ?? .digestAuth(
                    username: "ada",
                    password: "digest-password",
                    origins: [origin],
                    time: world.time
                )
            self.digest = digest
            add(digest, "digestAuth", sends: 3)
        }
    }

    private func store(of account: String?) -> TokenStore { stores[account == "bob" ? 1 : 0] }

    private func makeCookies(of account: String?) -> any Interceptor {
        let jar = CookieJar(time: world.time)
        let setSession: @Sendable (String?) -> Void = { [world] account in
            jar.removeAll()
            guard let account else { return }
            let value = "session-secret-\(world.nextID())-end"
            world.keep(secret: value, of: "https api.test")
            world.keep(credential: value, of: account)
            jar.insert(Cookie(name: "session", value: value, domain: "api.test"))
        }
        if let account { setSession(account) } else { accounts.follow(setSession) }
        return .cookies(jar)
    }

    private mutating func addSign() {
        for account in Accounts.names + ["nobody"] {
            let secret = "signature-secret-\(account)-end"
            world.keep(secret: secret, of: origin.description)
            if account != "nobody" { world.keep(credential: secret, of: account) }
        }
        let sign: AnyInterceptor = .sign(origins: [origin], time: world.time) { [accounts] request, _ in
            let account = accounts.account(of: request) ?? "nobody"
            request.headers["Signature"] = "signature-secret-\(account)-end"
        }
        add(sign, "sign")
    }

    private mutating func addLogging() {
        let entries = Shared<[LogEntry]>([])
        add(.logging(.body, to: LogSink { entry in entries.change { $0.append(entry) } }), "logging")
        finalChecks.append { [world] in
            for entry in entries.value { world.check(printed: entry.text, of: "The log") }
            for (number, entries) in Dictionary(grouping: entries.value, by: \.number) {
                let isRight = entries.count == 2 && entries[0].event == .request && entries[1].event != .request
                if !isRight { world.violate("Exchange \(number) of a log has the entries \(entries.map(\.event)).") }
            }
        }
    }

    private mutating func addMetrics() {
        let events = Shared<[UInt64: [String]]>([:])
        let metrics: AnyInterceptor = .metrics(time: world.time) { event in
            switch event {
            case .began(let start): events.change { $0[start.number, default: []].append("began") }
            case .ended(let end): events.change { $0[end.number, default: []].append("ended") }
            case .decodingFailed: break
            }
        }
        add(metrics, "metrics")
        finalChecks.append { [world] in
            for (number, events) in events.value where events != ["began", "ended"] {
                world.violate("Exchange \(number) of the metrics has the events \(events).")
            }
        }
    }
}

/// Gets tokens, through the simulated chain or directly.
final class Refresher: Sendable {
    let world: World
    /// The client for refreshes. It is set once the chain exists, and removed at the end.
    let client = Shared<Client?>(nil)

    init(_ world: World) { self.world = world }

    /// - Parameter account: the account whose tokens the store holds; `nil` for the signed-in account.
    func makeStore(of account: String?, _ accounts: Accounts) -> TokenStore {
        let origin = Origin(URL(string: ScriptedTransport.hosts[0])!)!
        let store = TokenStore(
            account.map { .init(world.makeToken(of: $0), account: $0) },
            origins: [origin],
            time: world.time,
            refresh: { [self, world] rejected in
                let owner = Accounts.names.first { world.secrets(of: $0).contains(rejected?.value ?? "") }
                guard let owner else { throw Refused() }
                return try await self.refresh(of: owner)
            }
        )
        accounts.follow { [world] account in
            guard let account else { return store.signOut() }
            // Half of the time the server doesn't accept this token.
            let value = world.chance(50) ? world.makeToken(of: account) : "token-secret-\(world.nextID())-end"
            world.keep(secret: value, of: "https://api.test:443")
            world.keep(credential: value, of: account)
            store.signIn(.init(value, account: account))
        }
        return store
    }

    private func refresh(of account: String) async throws -> TokenStore.Token {
        let id = world.nextID() + 1_000
        world.note("refresh #\(id) begins")
        defer { world.note("refresh #\(id) ends") }
        var request = HTTPRequest(method: .post, url: URL(string: "https://api.test/token")!)
        request.context.simulatedCall = SimulatedCall(id: id, method: .post, body: "")
        request.context.simulatedAccount = account
        guard let client = client.value else { throw Ended() }
        let response = try await client.send(request)
        response.body.discard()
        guard response.status == 200 else { throw Refused() }
        let value = world.makeToken(of: account)
        return .init(value, expiresAt: world.chance(30) ? world.now.addingTimeInterval(60) : nil)
    }

    struct Refused: Error {}
    struct Ended: Error {}
}
