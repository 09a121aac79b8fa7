internal import Foundation
internal import Interceptors
internal import Synchronization

/// The shared state of one seed: time, randomness, and records that show broken properties.
final class SimulationCore: Sendable {
    typealias Property = Simulation.Property

    struct Violation {
        let property: Property
        let text: String
    }

    struct State {
        var trace: [String] = []
        var omitted = 0
        var violations: [Violation] = []
        var lastID = 0
        var calls: [Int: SimulatedCall] = [:]
        /// Calls on which a server may have acted. They must not be sent again.
        var acted: Set<Int> = []
        /// The number of exchanges that haven't ended.
        var running = 0
        var openBodies: Set<Int> = []
        /// The paths to which a redirect may have led, by the path of the request.
        var redirects: [String: Set<String>] = [:]

        /// All tokens, with their accounts.
        var tokens: [(value: String, account: String)] = []
        /// The token that the server accepts for each account.
        var valid: [String: String] = [:]
        /// The accounts that were signed in, with the time of each change.
        var signIns: [(since: Duration, account: String?)] = []
        var onSignIn: [@Sendable (Simulation.Account?) -> Void] = []
        var setDeadline: (@Sendable (inout HTTPRequest, Duration) -> Void)?

        var networks: [WeakNetwork] = []
    }

    struct WeakNetwork: Sendable {
        weak let network: SimulatedNetwork?
    }

    static let names = ["ada", "bob"]
    private static let traceLimit = 400

    let seed: UInt64
    let clock: ManualClock
    /// The randomness of the chain, apart from that of the network, so that a repaired chain meets a similar network.
    let time: TimeSource
    let random: RandomSource
    let url: URL
    let otherURL: URL
    let origin: Origin
    let content: Data
    /// The percentage of exchanges that go wrong.
    let trouble: Int
    let state = Mutex(State())

    init(seed: UInt64, content: Data) throws {
        guard let url = URL(string: "https://api.example.com"), let origin = Origin(url),
            let otherURL = URL(string: "https://other.example")
        else { throw TransportError(.unsupportedURL, "The simulation's URL is wrong.") }
        self.seed = seed
        (self.url, self.otherURL, self.origin, self.content) = (url, otherURL, origin, content)
        clock = ManualClock()
        time = .manual(clock, seed: seed)
        random = .seeded(~seed)
        trouble = Int(random.next() % 91)
        for name in Self.names { _ = makeToken(of: name) }
    }

    var now: Duration { clock.now.elapsed }

    /// The latest events.
    var trace: [String] {
        state.withLock { ($0.omitted > 0 ? ["(\($0.omitted) earlier events)"] : []) + $0.trace }
    }

    var violations: [Violation] { state.withLock(\.violations) }

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
        state.withLock { $0.violations.append(Violation(property: property, text: text)) }
    }

    func nextID() -> Int {
        state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
    }

    func makeNetwork() -> SimulatedNetwork {
        let network = SimulatedNetwork(core: self)
        state.withLock { $0.networks.append(WeakNetwork(network: network)) }
        return network
    }
}

/// Randomness.
extension SimulationCore {
    /// Returns `true` in `percent` of a hundred cases.
    func chance(_ percent: Int) -> Bool { Int(random.next() % 100) < percent }

    func number(in range: ClosedRange<Int>) -> Int {
        range.lowerBound + Int(random.next() % UInt64(range.count))
    }

    func oneOf<Element>(_ elements: [Element]) -> Element { elements[number(in: 0...elements.count - 1)] }
}

/// Accounts.
extension SimulationCore {
    /// Whether the chain follows sign-ins, so that calls bring no credentials.
    var followsSignIns: Bool { state.withLock { !$0.onSignIn.isEmpty } }

    /// A token that the server accepts from now on, instead of the account's older one.
    func makeToken(of account: String) -> Simulation.Account {
        let token = "secret-\(account)-\(nextID())-end"
        state.withLock { state in
            state.tokens.append((token, account))
            state.valid[account] = token
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

    func onSignIn(_ change: @escaping @Sendable (Simulation.Account?) -> Void) {
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

    func newToken(insteadOf rejected: String?) async throws -> Simulation.Account {
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
    func accounts(since start: Duration) -> Set<String> {
        state.withLock { state in
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
}

/// The progress of a whole simulation, for the thread that watches it.
final class SimulationProgress: Sendable {
    private let beat = Atomic<Int>(0)
    private let core = Mutex<SimulationCore?>(nil)

    /// The number of jobs that began, doubled, plus one while a job runs.
    var jobs: Int { beat.load(ordering: .relaxed) }
    func step() { beat.add(1, ordering: .relaxed) }
    func begin(_ core: SimulationCore) { self.core.withLock { $0 = core } }

    func blockedFailure() -> any Error {
        let core = core.withLock(\.self)
        return Simulation.Failure(
            seed: core?.seed ?? 0,
            property: .noThreadIsBlocked,
            observed: "A job blocks its thread, so that no other task can go on.",
            trace: core?.trace ?? [],
            otherThreadsCount: 0
        )
    }
}
