internal import Foundation
internal import Synchronization

/// Plays random calls through a chain, over a random network, in virtual time. A seed determines everything, so a failure repeats.
///
/// ```swift
/// @Test func theChainKeepsTheRules() async throws {
///     try await Simulation(seeds: 1...1_000) { world in
///         world.client(interceptors: [
///             .cache(.memory(), time: world.time), .retry(maxAttempts: 3, time: world.time), .timeout(.seconds(10), time: world.time),
///         ])
///     }.run()
/// }
/// ```
/// Each seed makes a new client. Up to six calls of two accounts run at once: GET, POST, PUT and DELETE, with bodies in memory,
/// restartable streams and one-shot streams. Responses are buffered or streamed, and read to the end, read in part or
/// discarded. Some calls are cancelled. The servers are slow, hang, redirect to other origins and away from TLS, and respond
/// with the usual errors. Connections break before, during and after a request, and streams stall or break at any chunk.
///
/// Whatever happens, each ``Property`` must hold. If one doesn't, ``run()`` plays the seed again, and throws an error with the
/// seed, the property, the events that led to it, whether they repeated, and the line that repeats them, such as
/// `Simulation(seeds: 42...42)`.
///
/// ## Accounts
/// By default each call brings the credential of its account, in the field `Authorization`. If the chain adds the
/// credentials, follow the sign-ins of the world instead: ``World/onSignIn(_:)`` has the example.
///
/// ## Repeatable
/// Make everything that has state inside the closure, take the time and all randomness from the world, and pass `world.time`
/// to each interceptor that has a parameter for the time. Tasks then run one at a time on one thread, in an order that the seed
/// determines.
///
/// A simulation can't control:
/// - other threads: dispatch queues, threads, and actors with a custom executor. It waits some seconds for them, and the
///   error says that they took part;
/// - clocks of the system. A sleep on them takes real time;
/// - the order of the elements of a `Set` or `Dictionary`, unless the environment has `SWIFT_DETERMINISTIC_HASHING=1`.
///
/// A seed that fails and doesn't repeat shows one of these.
///
/// Once another thread or the main actor has taken part, the simulation waits 2 ms for it before the time moves. Work elsewhere that
/// takes longer may miss its moment.
///
/// ## Not simulated
/// - Cookies, validators (`ETag`, `If-None-Match`), `Vary`, ranges, content codings and informational responses.
/// - Files as bodies, HEAD and other methods, and statuses that servers rarely send.
/// - The credentials of schemes other than a token: the server finds a token anywhere in the fields or in the URL.
/// - The order of fields, HTTP versions, TLS, and connections that calls share.
public struct Simulation: Sendable {
    /// Makes the client under test for one seed.
    public typealias Factory = @Sendable (_ world: World) async throws -> Client

    private let seeds: ClosedRange<Int>
    private let exceptions: Set<Property>
    private let content: HTTPBody?
    private let make: Factory

    /// Creates a simulation.
    ///
    /// - Parameters:
    ///   - seeds: the seeds to play, by default a thousand.
    ///   - exceptions: properties that the chain doesn't promise, such as ``Property/aPostIsActedOnOnce`` of a chain that repeats
    ///     a POST on purpose.
    ///   - content: the content of all responses, as `application/json`, up to 16 MiB. By default each response has another
    ///     small object as its content, so that a response with another's content is found. Choose the content only if the chain
    ///     needs a certain form.
    ///   - make: makes the client, once for each seed, and again for a seed that fails.
    public init(
        seeds: ClosedRange<Int> = 1...1_000,
        except exceptions: Set<Property> = [],
        answering content: HTTPBody? = nil,
        _ make: @escaping Factory
    ) {
        self.seeds = seeds
        self.exceptions = exceptions
        self.content = content
        self.make = make
    }

    /// Plays each seed, until one breaks a property.
    ///
    /// - Throws: an error that describes the first seed that breaks a property. `CancellationError` if the task is cancelled.
    ///   An error if the simulation tests nothing: the client doesn't use the world's network or, in 20 seeds or more, no call
    ///   reaches the network or none gets a 2xx response. Another error if the runtime doesn't let a program order its tasks.
    ///   Rethrows errors of the closure.
    public func run() async throws { try await run(patience: RulePatience()) }

    /// The longest content of a response or a request.
    static let contentLimit = 16 << 20

    func run(patience: RulePatience, longestSeed: Duration = .seconds(300)) async throws {
        var patience = patience
        (patience.wholeCheck, patience.mostJobs) = (longestSeed, 300_000)
        let content = try await content?.collect(upTo: Self.contentLimit)
        var counts = (seeds: 0, sent: 0, succeeded: 0)
        // Whether other threads have taken part, so that a seed must wait for them before its time moves.
        var waitsForThreads = false
        func play(_ seed: Int) async throws -> (failure: Failure?, threads: Int) {
            let world = try World(seed: seed, content: content)
            var play = SimulationPlay(world: world, exceptions: exceptions, patience: patience)
            play.waitsForThreads = waitsForThreads
            let result = try await play.run(make)
            counts.sent += world.state.withLock(\.exchanges.count)
            counts.succeeded += world.state.withLock(\.successes)
            return result
        }
        for seed in seeds {
            try Task.checkCancellation()
            var (failure, threads) = try await play(seed)
            if threads > 0, !waitsForThreads {
                waitsForThreads = true
                // The time may have moved on while another thread worked for a call.
                if failure != nil { failure = try await play(seed).failure }
            }
            counts.seeds += 1
            guard var failure else { continue }
            failure.isRepeated = failure.isSame(as: try await play(seed).failure)
            throw failure
        }
        // With fewer seeds a good chain may meet no success.
        guard counts.seeds >= 20, counts.sent == 0 || counts.succeeded == 0 else { return }
        throw NothingTested(
            description: counts.sent == 0
                ? "No call of any seed reached the network, so nothing was tested."
                : "No call of any seed got a response with a 2xx status, so little was tested."
        )
    }
}

extension Simulation {
    /// Something that must hold in each simulation.
    public struct Property: OpenSet {
        /// The name of the property, such as `everyCallEnds`.
        public let rawValue: String
        /// Creates a property from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Each call ends, with a response or an error.
        public static let everyCallEnds = Self(rawValue: "everyCallEnds")
        /// When the calls have ended, no work goes on without end.
        public static let timeEnds = Self(rawValue: "timeEnds")
        /// No job blocks its thread.
        public static let noThreadIsBlocked = Self(rawValue: "noThreadIsBlocked")
        /// A cancelled call ends at once, is not sent again, and if it fails, throws `CancellationError`.
        public static let cancellationEndsACall = Self(rawValue: "cancellationEndsACall")
        /// A call has its response, or its error, by its deadline (``World/giveDeadlines(_:)``).
        public static let aDeadlineEndsACall = Self(rawValue: "aDeadlineEndsACall")
        /// At the end no exchange goes on, and each response's stream was read to its end or discarded.
        public static let nothingStaysOpen = Self(rawValue: "nothingStaysOpen")
        /// At the end nothing holds the client's transport any more, such as a task that waits for ever.
        public static let theChainIsReleased = Self(rawValue: "theChainIsReleased")
        /// A server receives the whole content of a call, and a caller the whole content that the server sent, or an error.
        ///
        /// Except this property if the chain changes content, such as a chain that unwraps an envelope.
        public static let contentComesWhole = Self(rawValue: "contentComesWhole")
        /// A one-shot body is never sent again.
        public static let aOneShotBodyIsSentOnce = Self(rawValue: "aOneShotBodyIsSentOnce")
        /// A POST is sent again after a server may have acted on it only if both requests have the same idempotency key.
        ///
        /// Except this property if the chain declares that its POSTs may be repeated, for example by `isIdempotent`.
        public static let aPostIsActedOnOnce = Self(rawValue: "aPostIsActedOnOnce")
        /// No call gets a response that was made for another account, or is sent with another account's credential.
        ///
        /// If the chain follows sign-ins (``World/onSignIn(_:)``), the account of a call is any that was signed in when the call
        /// began or while it ran.
        public static let accountsStayApart = Self(rawValue: "accountsStayApart")
        /// Each call gets the response to its method and URL, or to those that its redirects led to. Query items that the chain
        /// adds don't count. The chain may also move a request to another server or below another base path.
        public static let responsesBelongToTheirCalls = Self(rawValue: "responsesBelongToTheirCalls")
        /// No credential and no response of one seed occurs in another seed.
        public static let seedsShareNoState = Self(rawValue: "seedsShareNoState")
        /// A credential is sent to its own origin only.
        public static let secretsStayAtTheirOrigin = Self(rawValue: "secretsStayAtTheirOrigin")
        /// No error shows a credential.
        public static let secretsAreNotPrinted = Self(rawValue: "secretsAreNotPrinted")
        /// A buffered response has its content in memory.
        public static let aBufferedResponseStaysBuffered = Self(rawValue: "aBufferedResponseStaysBuffered")
    }

    /// A seed that broke a property.
    struct Failure: Error, CustomStringConvertible {
        let seed: Int
        let property: Property
        /// The calls' behavior, as a sentence.
        let observed: String
        let trace: [String]
        /// How often another thread took part.
        let otherThreadsCount: Int
        /// Whether the seed did the same when it was played again; `nil` if it wasn't.
        var isRepeated: Bool?

        var description: String {
            """
            Simulation: \(property): \(observed)
            Seed \(seed) repeats it: Simulation(seeds: \(seed)...\(seed)).\(repetition)
            \(trace.joined(separator: "\n"))
            """
        }

        private var repetition: String {
            let threads = otherThreadsCount > 0 ? " Other threads took part." : ""
            switch isRepeated {
            case true?: return " Played again, it did the same." + threads
            case false?:
                return " But played again, it did something else, because of state outside the closure, a clock of the"
                    + " system or another thread." + threads
            case nil: return threads
            }
        }

        func isSame(as other: Self?) -> Bool {
            other.map { ($0.property, $0.observed) == (property, observed) && $0.trace == trace } ?? false
        }
    }

    /// A simulation that passes whatever the chain does.
    struct NothingTested: Error, CustomStringConvertible {
        let description: String
    }
}
