public import Foundation
internal import Synchronization

extension Simulation {
    /// The surroundings of the client in one seed of a simulation: its network, its time, and its accounts.
    public final class World: Sendable {
        typealias Property = Simulation.Property

        /// The records that show broken properties.
        struct State {
            var trace: [String] = []
            var omitted = 0
            var violations: [(property: Property, text: String)] = []
            var calls: [Int: SimulatedCall] = [:]
            var exchanges: [SimulatedExchange] = []
            /// The number of calls that got a 2xx response.
            var successes = 0
            /// The POSTs on which a server may have acted, with their idempotency keys, by the number of the exchange.
            var acted: [Int: (call: Int, key: String?)] = [:]
            /// The number of exchanges that haven't ended.
            var running = 0
            var streams: [ScriptedStream] = []

            /// All tokens, with their accounts.
            var tokens: [(value: String, account: String)] = []
            /// The token that the server accepts for each account.
            var valid: [String: String] = [:]
            /// The accounts that were signed in, with the time of each change.
            var signIns: [(since: Duration, account: String?)] = []
            var onSignIn: [@Sendable (Account?) -> Void] = []
            var setDeadline: (@Sendable (inout HTTPRequest, Duration) -> Void)?

            /// Whether something holds each network.
            var networks: [@Sendable () -> Bool] = []
        }

        private static let traceLimit = 400

        /// The clock of ``time``. The simulation advances it.
        public let clock = ManualClock()
        /// The time of the simulation, with random numbers that the seed determines. Pass it to each interceptor that has a
        /// parameter for the time.
        public let time: TimeSource
        /// The base URL of the server that knows the accounts.
        public let url: URL
        /// The origin of the server that knows the accounts.
        public let origin: Origin
        let seed: Int
        /// Apart from the randomness of the chain, so that a repaired chain meets a similar network.
        let networkRandom: RandomSource
        let otherURL: URL
        /// The content of each response; `nil` for content that differs by exchange.
        let content: Data?
        /// The percentage of exchanges that go wrong.
        let trouble: Int
        let state = Mutex(State())

        init(seed: Int, content: Data?) throws {
            guard let url = URL(string: "https://api.example.com"), let origin = Origin(url),
                let otherURL = URL(string: "https://other.example")
            else { throw TransportError(.unsupportedURL, "The simulation's URL is wrong.") }
            self.seed = seed
            (self.url, self.otherURL, self.origin, self.content) = (url, otherURL, origin, content)
            let number = UInt64(bitPattern: Int64(seed))
            time = .manual(clock, seed: number)
            networkRandom = .seeded(~number)
            trouble = Int(networkRandom.next() % 91)
            for name in ["ada", "bob"] { _ = makeToken(of: name) }
        }

        /// Random numbers that the seed determines, for example to choose the interceptors of a chain.
        public var random: RandomSource { time.random }
    }

    /// An account of a simulation: its name, `ada` or `bob`, and the credential that its server accepts at present or has accepted
    /// before. No error may show the credential, and only ``World/origin`` may get it.
    public typealias Account = (name: String, token: String)
}

extension Simulation.World {
    /// A client with these interceptors, whose transport is the simulated network.
    public func client(interceptors: [any Interceptor]) -> Client {
        Client(baseURL: url, interceptors: interceptors, transport: network())
    }

    /// The simulated network, for a client with other settings.
    public func network() -> any Transport {
        let network = SimulatedNetwork(world: self)
        state.withLock { $0.networks.append({ [weak network] in network != nil }) }
        return network
    }

    /// Lets the simulation give some calls a deadline, which the chain must honour.
    ///
    /// ```swift
    /// let simulation = Simulation { world in
    ///     world.giveDeadlines { request, limit in
    ///         request.context.deadline = Deadline(after: limit, time: world.time)
    ///     }
    ///     return world.client(interceptors: [.timeout(time: world.time), .retry(time: world.time)])
    /// }
    /// ```
    /// - Parameter set: sets the deadline on a request: the call must end within this time from now.
    public func giveDeadlines(_ set: @escaping @Sendable (_ request: inout HTTPRequest, _ limit: Duration) -> Void) {
        state.withLock { $0.setDeadline = set }
    }

    var now: Duration { clock.now.elapsed }

    /// The latest events.
    var trace: [String] {
        state.withLock { ($0.omitted > 0 ? ["(\($0.omitted) earlier events)"] : []) + $0.trace }
    }

    func note(_ text: String) {
        let line = "\(now): \(text)"
        state.withLock { state in
            state.trace.append(line)
            guard state.trace.count > 2 * Self.traceLimit else { return }
            state.trace.removeFirst(Self.traceLimit)
            state.omitted += Self.traceLimit
        }
    }

    func violate(_ property: Property, _ text: String) {
        note("BROKEN: \(property): \(text)")
        state.withLock { $0.violations.append((property, text)) }
    }

    /// Whether the chain follows sign-ins, so that calls bring no credentials.
    var followsSignIns: Bool { state.withLock { !$0.onSignIn.isEmpty } }

    /// A token that the server accepts from now on, instead of the account's older one.
    func makeToken(of account: String) -> Simulation.Account {
        let token = state.withLock { state in
            let token = "secret-\(account)-\(state.tokens.count + 1)-of-\(seed)-end"
            state.tokens.append((token, account))
            state.valid[account] = token
            return token
        }
        return (account, token)
    }

    /// The account with the token that the server accepts, or, at random, with one that it rejects.
    private func credentials(of name: String) -> Simulation.Account {
        if chance(50) { return makeToken(of: name) }
        let rejected = makeToken(of: name)
        _ = makeToken(of: name)
        return rejected
    }

    /// Calls a closure with the account that is signed in, now and after each change; with `nil` when nobody is signed in.
    ///
    /// Calls then bring no credentials, because the chain adds them:
    ///
    /// ```swift
    /// let simulation = Simulation(seeds: 1...1_000) { world in
    ///     let tokens = TokenStore(origins: [world.origin], time: world.time) { rejected in
    ///         let account = try await world.newToken(insteadOf: rejected?.value)
    ///         return TokenStore.Token(account.token, account: account.name)
    ///     }
    ///     world.onSignIn { account in
    ///         guard let account else { return tokens.signOut() }
    ///         tokens.signIn(TokenStore.Token(account.token, account: account.name))
    ///     }
    ///     return world.client(interceptors: [.retryOnUnauthorized(tokens), .bearerAuth(tokens)])
    /// }
    /// ```
    /// Accounts change while calls run. The server rejects some of their tokens with 401, and expects a new one.
    public func onSignIn(_ change: @escaping @Sendable (Simulation.Account?) -> Void) {
        let name: String?
        if let last = state.withLock(\.signIns.last) {
            name = last.account
        } else {
            name = oneOf([nil, "ada", "ada", "bob"])
            state.withLock { $0.signIns.append((.zero, name)) }
        }
        state.withLock { $0.onSignIn.append(change) }
        change(name.map(credentials))
    }

    /// Drops the closures that the chain gave the world, because they may hold the client.
    func dropClosures() {
        let closures = state.withLock { state in
            let closures = (state.onSignIn, state.setDeadline)
            (state.onSignIn, state.setDeadline) = ([], nil)
            return closures
        }
        // Released here, outside the lock.
        withExtendedLifetime(closures) {}
    }

    func signIn(_ name: String?) {
        note("\(name ?? "nobody") is signed in")
        let (now, account) = (now, name.map(credentials))
        let changes = state.withLock { state in
            state.signIns.append((now, name))
            return state.onSignIn
        }
        for change in changes { change(account) }
    }

    /// Asks the server for a new token, which takes time and may fail. The account's older tokens become invalid.
    ///
    /// - Parameter rejected: a token of the account; `nil` for the account that is signed in.
    /// - Throws: an error if the network fails or nobody is signed in; `CancellationError` if the task is cancelled.
    public func newToken(insteadOf rejected: String?) async throws -> Simulation.Account {
        if let rejected { checkSeed(ofTokensIn: rejected, at: "A request for a new token") }
        let owner = state.withLock { state in
            rejected.map { rejected in state.tokens.first { $0.value == rejected }?.account }
                ?? state.signIns.last?.account
        }
        note("a new token is asked for")
        try await clock.sleep(for: .milliseconds(number(in: 0...1_500)))
        guard let owner, !chance(trouble / 3) else {
            note("no new token is given")
            throw TransportError(.connectionLost, "The simulated server gives no new token.")
        }
        note("a new token is given")
        return makeToken(of: owner)
    }

    /// The accounts whose responses a call may get that began at `start`.
    func accounts(of call: SimulatedCall, since start: Duration) -> Set<String> {
        guard followsSignIns else { return Set([call.account].compactMap(\.self)) }
        return state.withLock { state in
            let before = state.signIns.last { $0.since < start }
            let during = state.signIns.filter { $0.since >= start }
            return Set(([before].compactMap(\.self) + during).compactMap(\.account))
        }
    }

    /// The accounts whose tokens a text contains.
    func accounts(in text: String) -> Set<String> {
        guard text.contains("secret-") else { return [] }
        return Set(state.withLock(\.tokens).filter { text.contains($0.value) }.map(\.account))
    }

    /// Whether a text contains a credential that the server accepts.
    func isValid(_ text: String) -> Bool { state.withLock(\.valid).values.contains { text.contains($0) } }

    /// Reports a token of another seed.
    func checkSeed(ofTokensIn text: String, at place: String) {
        guard text.contains("secret-") else { return }
        for part in text.components(separatedBy: "-of-").dropFirst() {
            guard let other = Int(part.components(separatedBy: "-end")[0]), other != seed else { continue }
            violate(.seedsShareNoState, "\(place) has a credential of seed \(other). State is shared between seeds.")
        }
    }
}

/// Randomness.
extension Simulation.World {
    /// Returns `true` in `percent` of a hundred cases.
    func chance(_ percent: Int) -> Bool { Int(networkRandom.next() % 100) < percent }

    func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(networkRandom.next() % UInt64(range.count))
    }

    func oneOf<Element>(_ elements: [Element]) -> Element { elements[number(in: 0...elements.count - 1)] }
}
