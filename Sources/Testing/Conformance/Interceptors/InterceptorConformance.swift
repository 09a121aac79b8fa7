internal import Foundation

/// The promises of an `Interceptor`, each as a check.
///
/// For authors of interceptors. With Swift Testing, each rule becomes a separate test:
///
/// ```swift
/// @Test(arguments: InterceptorConformance.rules(for: [.retries]))
/// func keepsThePromisesOfAnInterceptor(rule: InterceptorConformance.Rule) async throws {
///     try await rule.check { world in MyRetry(time: world.time) }
/// }
/// ```
/// The roles say what the interceptor does by contract: which rules apply, and how. Without roles, an interceptor passes on what it
/// gets, once. An interceptor that declares its placement (`PlacedInterceptor`) needs no list: `rules(for: MyRetry())` asks the
/// interceptor.
///
/// A failed check says what the interceptor did, and the usual repair.
///
/// ## No check hangs
/// Tasks run one at a time, in an order that a seed determines, on a thread that belongs to the check. Time passes only when no
/// task can go on. When nothing can go on and no time is left to pass, the check fails and says which calls wait: as
/// `noCallWaitsForEver`, whichever rule was checked. A stream that goes on without end fails as `theEndOfAStreamArrives`. A failure
/// names its seed; the same seed repeats the order.
///
/// The check can't see work on threads, dispatch queues, and actors with a custom executor, and their order isn't repeatable. When
/// nothing else can go on, the check waits some seconds for them. But while a sleep is left on the clock, time passes: without
/// another thread at once, and after the first return from another thread 2 ms later in real time. If work elsewhere takes
/// longer, give the interceptor of the test a value in memory instead.
///
/// Each rule is checked in one or several orders of tasks, and each order ends after two minutes at the latest. A check notices a
/// blocked thread after 30 to 60 seconds, and takes a stream of empty chunks without end for one. Shorter work that belongs in a
/// `@concurrent` function isn't found.
///
/// ## Content
/// By default the server answers with JSON. If the interceptor understands one format only, pass content of that format to
/// ``ConformanceRule/check(answering:_:)``. The rules about chunks use text, events, JSON and binary content too, and accept an
/// interceptor that refuses some of them in any chunks.
public enum InterceptorConformance {
    /// Creates the interceptor under test. A check may create several.
    public typealias Factory = @Sendable (_ world: World) throws -> any Interceptor

    /// The world of the interceptor under test: the time, the server's origin, and a credential.
    public struct World: Sendable {
        /// The clock of ``time``. The rule advances it.
        public let clock: ManualClock
        /// The time and the random numbers of the check.
        public let time: TimeSource
        /// The origin of the server, for a credential that belongs to one server only.
        public let origin: Origin
        /// A credential for the server, for an interceptor that adds one. No description, error or note may show it.
        public let secret: String
        /// Sets the deadline of a request, if the author says how.
        let deadlines = Guarded<SetDeadline?>(nil)

        typealias SetDeadline = @Sendable (_ request: inout HTTPRequest, _ limit: Duration) -> Void

        /// Lets `noWaitOutlastsTheDeadline` give calls a deadline. Without it, the rule checks nothing.
        ///
        /// ```swift
        /// @Test(arguments: InterceptorConformance.rules(for: [.retries]))
        /// func keepsDeadlines(rule: InterceptorConformance.Rule) async throws {
        ///     try await rule.check { world in
        ///         world.giveDeadlines { request, limit in
        ///             request.context.deadline = Deadline(after: limit, time: world.time)
        ///         }
        ///         return MyRetry(time: world.time)
        ///     }
        /// }
        /// ```
        /// - Parameter set: sets the deadline on a request: the call must end within this time from now.
        public func giveDeadlines(
            _ set: @escaping @Sendable (_ request: inout HTTPRequest, _ limit: Duration) -> Void
        ) {
            deadlines.change { $0 = set }
        }
    }

    /// One promise of an interceptor.
    public typealias Rule = ConformanceRule<Factory>

    /// The rules for an interceptor with these roles.
    ///
    /// - Parameter roles: what the interceptor does by contract, such as `.resends`; no roles for an interceptor that passes on
    ///   each request once, and each response as it comes.
    public static func rules(for roles: [ChainRole] = []) -> [Rule] {
        let roles = Placement(roles)
        return laws.filter { $0.scope?(roles) ?? true }.map { law in
            Rule(law.text, patience: RulePatience()) { try await law.check(roles, answering: $0, patience: $1, $2) }
        }
    }

    /// The rules for an interceptor with the roles that its `PlacedInterceptor.placement` declares.
    ///
    /// - Parameter interceptor: the interceptor, of which only the roles matter. One without a placement has no roles.
    public static func rules(for interceptor: any Interceptor) -> [Rule] {
        let base = (interceptor as? AnyInterceptor)?.base ?? interceptor
        return rules(for: (base as? any PlacedInterceptor)?.placement ?? [])
    }

    typealias Law = ConformanceLaw<Bench, @Sendable (Placement) -> Bool>

    static let laws: [Law] =
        requestLaws + responseLaws + streamLaws + cancellationLaws + concurrencyLaws + callerLaws + waitingLaws
}

extension Placement {
    /// Whether fields, the URL or the content of a request may change in any way.
    var rewritesRequest: Bool { declares(.changesRequest) || includes(.compresses) || includes(.followsRedirects) }
    /// Whether fields may be added to a request.
    var addsFields: Bool {
        includes(.changesRequest) || includes(.signs) || includes(.resends) || includes(.shares) || includes(.measures)
    }
    /// Whether a response may come without an exchange, or an exchange may serve several calls.
    var answersItself: Bool { includes(.answers) || includes(.shares) }
    /// Whether a call may be refused or wait for other calls.
    var limits: Bool { includes(.limits) || includes(.waits) || includes(.supersedes) }
    /// Whether a response may become an error.
    var validates: Bool { includes(.validates) || includes(.changesResponse) || includes(.buffers) }
}
