public import Foundation
public import InterceptorsCore
internal import Synchronization

extension Simulation {
    /// The surroundings of the client in one seed of a simulation: its network, its time, and its accounts.
    public final class World: Sendable {
        typealias Property = Simulation.Property

        struct Violation {
            let property: Property
            let text: String
        }

        /// The records that show broken properties.
        struct State {
            var trace: [String] = []
            /// How often each kind of event happened, such as `status 302`.
            var counts: [String: Int] = [:]
            var omitted = 0
            var violations: [Violation] = []
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
            var onSignIn: [@Sendable (Account?) -> Void] = []
            var setDeadline: (@Sendable (inout HTTPRequest, Duration) -> Void)?

            /// Whether something holds each network.
            var networks: [@Sendable () -> Bool] = []
        }

        struct Act {
            let call: Int
            /// The idempotency key.
            let key: String?
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
        state.withLock { $0.violations.append(Violation(property: property, text: text)) }
    }

    func count(_ event: String) { state.withLock { $0.counts[event, default: 0] += 1 } }
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
