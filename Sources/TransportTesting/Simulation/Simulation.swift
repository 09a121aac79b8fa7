internal import Foundation
public import Interceptors

/// Plays random calls through a chain, over a random network, in virtual time. A seed determines everything, so a failure repeats.
///
/// ```swift
/// @Test func theChainKeepsTheRules() async throws {
///     try await Simulation(seeds: 1...1_000) { world in
///         world.client(interceptors: [
///             .cache(.memory(), time: world.time), .retry(3, time: world.time), .timeout(.seconds(10), time: world.time),
///         ])
///     }.run()
/// }
/// ```
/// Each seed makes a new client. Several calls of two accounts run at once: with all kinds of bodies, buffered and streamed, read
/// to the end, read in part or discarded. Some are cancelled. The servers are slow, fail, hang, redirect, answer with any
/// status, and lose connections at any point.
///
/// Whatever happens, each ``Property`` must hold. If one doesn't, ``run()`` throws an error with the seed, the property, the
/// events that led to it, and the line that repeats them, such as `Simulation(seeds: 42...42)`.
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
/// - other threads: dispatch queues, threads, and actors with an executor of their own. It waits some seconds for them, and the
///   error says that they took part;
/// - clocks of the system. A sleep on them takes real time;
/// - the order of the elements of a `Set` or `Dictionary`, unless the environment has `SWIFT_DETERMINISTIC_HASHING=1`.
///
/// A seed that fails and doesn't repeat shows one of these.
public struct Simulation: Sendable {
    /// Makes the client under test for one seed.
    public typealias Factory = @Sendable (_ world: World) throws -> Client

    private let seeds: ClosedRange<UInt64>
    let exceptions: Set<Property>
    let content: HTTPBody?
    let make: Factory

    /// Creates a simulation.
    ///
    /// - Parameters:
    ///   - seeds: the seeds to play, by default a thousand.
    ///   - exceptions: properties that the chain doesn't promise, such as ``Property/aPostIsActedOnOnce`` of a chain that repeats
    ///     a POST on purpose.
    ///   - content: the content of the servers' responses, as `application/json`; by default a small object.
    ///   - make: makes the client, once for each seed.
    public init(
        seeds: ClosedRange<UInt64> = 1...1_000,
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
    ///   Another error if the runtime doesn't let a program order its tasks. Rethrows errors of the closure.
    public func run() async throws {
        try await run(patience: RulePatience())
    }

    func run(patience: RulePatience) async throws {
        let content = try await (content ?? #"{"id":42,"name":"Ada","films":[1,2,3]}"#).collect(upTo: 16 << 20)
        let progress = SimulationProgress()
        let isCancelled = Guarded(false)
        try await withTaskCancellationHandler {
            // On a separate thread, because a play owns its thread, and an interceptor may block it.
            try await WatchedThread.run(
                limit: patience.blockedThread,
                progress: { progress.jobs },
                blocked: { progress.blockedFailure() }
            ) {
                for seed in seeds {
                    if isCancelled.value { throw CancellationError() }
                    let core = try SimulationCore(seed: seed, content: content)
                    progress.begin(core)
                    try SimulationPlay(core, progress, patience, exceptions).run(make)
                }
            }
        } onCancel: {
            isCancelled.change { $0 = true }
        }
    }

    /// Plays one seed on the present thread, and returns its events.
    func trace(of seed: UInt64, content: Data = Data("{}".utf8)) throws -> [String] {
        let core = try SimulationCore(seed: seed, content: content)
        try SimulationPlay(core, SimulationProgress(), RulePatience(), exceptions).run(make)
        return core.trace
    }
}

extension Simulation {
    /// Something that must hold in each simulation.
    public struct Property: OpenSet {
        /// The name of the property, such as `everyCallEnds`.
        public let rawValue: String
        /// Creates a property from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Each call ends once, with a response or an error.
        public static let everyCallEnds = Self(rawValue: "everyCallEnds")
        /// When the calls have ended, no work goes on without end.
        public static let timeEnds = Self(rawValue: "timeEnds")
        /// No job blocks its thread.
        public static let noThreadIsBlocked = Self(rawValue: "noThreadIsBlocked")
        /// A cancelled call ends at once, and if it fails, with `CancellationError`.
        public static let cancellationEndsACall = Self(rawValue: "cancellationEndsACall")
        /// A call has its response, or its error, by its deadline (``World/giveDeadlines(_:)``).
        public static let aDeadlineEndsACall = Self(rawValue: "aDeadlineEndsACall")
        /// At the end no exchange goes on, and each response's stream was read to its end or discarded.
        public static let nothingStaysOpen = Self(rawValue: "nothingStaysOpen")
        /// At the end nothing holds the client's transport any more, such as a task that waits for ever.
        public static let theChainIsReleased = Self(rawValue: "theChainIsReleased")
        /// A one-shot body is never sent again.
        public static let aOneShotBodyIsSentOnce = Self(rawValue: "aOneShotBodyIsSentOnce")
        /// A POST without an idempotency key is never sent again after a server may have acted on it.
        public static let aPostIsActedOnOnce = Self(rawValue: "aPostIsActedOnOnce")
        /// No call gets a response that was made for another account, or is sent with another account's credential.
        public static let accountsStayApart = Self(rawValue: "accountsStayApart")
        /// Each call gets the response to its own path, or to one that a redirect led to.
        public static let responsesBelongToTheirCalls = Self(rawValue: "responsesBelongToTheirCalls")
        /// A credential is sent to its own origin only.
        public static let secretsStayAtTheirOrigin = Self(rawValue: "secretsStayAtTheirOrigin")
        /// No error shows a credential.
        public static let secretsAreNotPrinted = Self(rawValue: "secretsAreNotPrinted")
        /// A buffered response has its content in memory.
        public static let aBufferedResponseStaysBuffered = Self(rawValue: "aBufferedResponseStaysBuffered")
    }

    /// A seed that broke a property.
    struct Failure: Error, CustomStringConvertible {
        let seed: UInt64
        let property: Property
        /// What happened, as a sentence.
        let observed: String
        let trace: [String]
        /// How often another thread took part.
        let otherThreadsCount: Int

        var description: String {
            let doubt =
                otherThreadsCount > 0 ? " Other threads took part, so the seed may not repeat." : ""
            return """
                Simulation: \(property): \(observed)
                Seed \(seed) repeats it: Simulation(seeds: \(seed)...\(seed)).\(doubt)
                \(trace.joined(separator: "\n"))
                """
        }
    }
}
