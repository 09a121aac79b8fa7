public import Foundation
public import InterceptorsCore
internal import Synchronization

extension Simulation {
    /// The surroundings of the client in one seed of a simulation: its network, its time, and its accounts.
    public struct World: Sendable {
        let core: SimulationCore

        /// The clock of ``time``. The simulation advances it.
        public var clock: ManualClock { core.clock }
        /// The time of the simulation, with random numbers that the seed determines. Pass it to each interceptor that has a
        /// parameter for the time.
        public var time: TimeSource { core.time }
        /// Random numbers that the seed determines, for example to choose the interceptors of a chain.
        public var random: RandomSource { core.time.random }
        /// The base URL of the server that knows the accounts.
        public var url: URL { core.url }
        /// The origin of the server that knows the accounts.
        public var origin: Origin { core.origin }

        /// A client with these interceptors, whose transport is the simulated network.
        public func client(interceptors: [any Interceptor]) -> Client {
            Client(baseURL: url, interceptors: interceptors, transport: network())
        }

        /// The simulated network, for a client with other settings.
        public func network() -> any Transport { core.makeNetwork() }
    }

    /// An account of a simulation, with the credential that its server accepts at present or has accepted before.
    public struct Account: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        /// The name of the account: `ada` or `bob`.
        public let name: String
        /// The credential. No error may show it, and only ``World/origin`` may get it.
        public let token: String

        /// The name.
        public var description: String { name }
        /// A mirror without the credential.
        public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
    }
}

extension Simulation.World {
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
    public func onSignIn(_ change: @escaping @Sendable (Simulation.Account?) -> Void) { core.onSignIn(change) }

    /// Asks the server for a new token, which takes time and may fail. The account's older tokens become invalid.
    ///
    /// - Parameter rejected: a token of the account; `nil` for the account that is signed in.
    /// - Throws: an error if the network fails or nobody is signed in; `CancellationError` if the task is cancelled.
    public func newToken(insteadOf rejected: String?) async throws -> Simulation.Account {
        try await core.newToken(insteadOf: rejected)
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
        core.state.withLock { $0.setDeadline = set }
    }
}
