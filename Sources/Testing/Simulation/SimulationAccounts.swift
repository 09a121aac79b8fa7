internal import Foundation
internal import InterceptorsCore
internal import Synchronization

/// Accounts.
extension Simulation.World {
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
        return Simulation.Account(name: account, token: token)
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
