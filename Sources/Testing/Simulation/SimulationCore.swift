internal import Foundation
internal import InterceptorsCore
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
        /// How often each kind of event happened, such as `status 302`.
        var counts: [String: Int] = [:]
        var omitted = 0
        var violations: [Violation] = []
        var lastID = 0
        var calls: [Int: SimulatedCall] = [:]
        var exchanges: [SimulatedExchange] = []
        /// The number of calls that got a 2xx response.
        var successes = 0
        /// The POSTs on which a server may have acted, by the number of the exchange.
        var acted: [Int: Act] = [:]
        /// The number of exchanges that haven't ended.
        var running = 0
        var streams: [ScriptedStream] = []

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
        // Not a `let`: compilers before Swift 6.2.3 reject it.
        weak var network: SimulatedNetwork?
    }

    struct Act {
        let call: Int
        /// The idempotency key.
        let key: String?
    }

    static let names = ["ada", "bob"]
    private static let traceLimit = 400

    let seed: Int
    let clock: ManualClock
    /// The randomness of the chain, apart from that of the network, so that a repaired chain meets a similar network.
    let time: TimeSource
    let random: RandomSource
    let url: URL
    let otherURL: URL
    let origin: Origin
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
        clock = ManualClock()
        let number = UInt64(bitPattern: Int64(seed))
        time = .manual(clock, seed: number)
        random = .seeded(~number)
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

    func count(_ event: String) { state.withLock { $0.counts[event, default: 0] += 1 } }

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
