internal import Foundation

/// The promises of a `Transport`, each as a check against a ``MockServer``.
///
/// For authors of transports. With Swift Testing, each rule becomes a separate test:
///
/// ```swift
/// @Test(arguments: TransportConformance.rules)
/// func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
///     try await rule.check { time in MyTransport(time: time) }
/// }
/// ```
/// A failed check says what the transport did, and the usual repair.
///
/// ## Say what a transport can't do
/// A bridge to another HTTP client may have no progress, or measure time limits by a clock that no test can move. Name the
/// missing ``Capability`` values, and only the other rules are checked:
///
/// ```swift
/// @Test(arguments: TransportConformance.rules(without: [.progress, .timeLimits, .idleLimits]))
/// func bridgeKeepsItsPromises(rule: TransportConformance.Rule) async throws {
///     try await rule.check { _ in MyBridge() }
/// }
/// ```
/// If your transport documents that it can't keep one rule, leave out that rule by its name.
///
/// ## Checks that stand still
/// Time limits pass only when a rule advances the clock. The check counts what happens at the transport and the server. When
/// nothing has happened for some seconds, the check fails and lists the calls that wait and what the server has seen.
///
/// On Apple's platforms, a transport that blocks each thread of Swift's pool also blocks the test. Such a check hangs.
///
/// ## Without a network
/// A transport that answers in memory has no connections that could break or be kept alive. A closure provides the same
/// server's responses. Tasks run one at a time there, so a failure repeats:
///
/// ```swift
/// @Test(arguments: TransportConformance.rulesInMemory)
/// func keepsThePromisesOfATransport(rule: TransportConformance.MemoryRule) async throws {
///     try await rule.check { time, answer in StubTransport(time: time, answer) }
/// }
/// ```
public enum TransportConformance {
    /// Creates the transport under test. Its time limits must use the given clock (`TimeSource.clock`).
    public typealias Factory = @Sendable (_ time: TimeSource) throws -> any Transport

    /// Creates a transport that gets its answers in memory from the given closure. Its time limits must use the given clock
    /// (`TimeSource.clock`).
    public typealias MemoryFactory =
        @Sendable (
            _ time: TimeSource,
            _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
        ) throws -> any Transport

    /// One promise of a transport, checked over loopback.
    public typealias Rule = ConformanceRule<Factory>

    /// One promise of a transport without connections.
    public typealias MemoryRule = ConformanceRule<MemoryFactory>

    /// Every rule.
    public static let rules: [Rule] = rules(without: [])

    /// Every rule that a transport without connections can keep.
    public static let rulesInMemory: [MemoryRule] = rulesInMemory(without: [])

    /// The rules for a transport that lacks some capabilities.
    ///
    /// - Parameter missing: what the transport can't do. Rules that require one of these capabilities are left out. Without
    ///   ``Capability/responseStreams``, the other rules ask for buffered responses only.
    public static func rules(without missing: Set<Capability>) -> [Rule] {
        laws.filter { !$0.needs(missing) }.map { law in
            Rule(law.text, patience: RulePatience(otherThreads: .seconds(10))) {
                try await law.check(without: missing, patience: $1, $2)
            }
        }
    }

    /// The rules for a transport that has no connections and lacks other capabilities too.
    ///
    /// - Parameter missing: what the transport can't do, as in ``rules(without:)``.
    public static func rulesInMemory(without missing: Set<Capability>) -> [MemoryRule] {
        laws.filter { !$0.needs(missing.union([.connections])) }.map { law in
            MemoryRule(law.text, patience: RulePatience(otherThreads: .seconds(10))) {
                try await law.check(without: missing, inMemory: $2, patience: $1)
            }
        }
    }

    /// The scope of a law is the capabilities that it needs.
    typealias Law = ConformanceLaw<Bench, Set<Capability>>

    static let laws: [Law] = requestLaws + responseLaws + connectionLaws + endLaws
}

extension TransportConformance {
    /// Something that a transport may be unable to do, and that some rules require.
    ///
    /// The set is open: a later version may have more capabilities, and `rules(without:)` then includes their rules.
    public struct Capability: OpenSet {
        /// The capability's name.
        public let rawValue: String
        /// Creates a capability from its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Sends over connections, which can break and carry malformed bytes.
        public static let connections = Self(rawValue: "connections")
        /// Sends several requests over one connection, and handles a kept-alive connection that the server has closed.
        public static let connectionReuse = Self(rawValue: "connectionReuse")
        /// Keeps several fields of the same name apart, on requests and responses.
        public static let repeatedFields = Self(rawValue: "repeatedFields")
        /// Sends content from a file or a stream.
        public static let requestStreams = Self(rawValue: "requestStreams")
        /// Returns a response before its content ends: `ResponseBodyMode.streamed`.
        public static let responseStreams = Self(rawValue: "responseStreams")
        /// Ends a transfer when the response's body is discarded or released.
        public static let discards = Self(rawValue: "discards")
        /// Limits the content of a buffered response: `ResponseBodyMode.buffered(upTo:)`.
        public static let sizeLimits = Self(rawValue: "sizeLimits")
        /// Limits a whole call by the given clock: `Timeouts.total`.
        public static let timeLimits = Self(rawValue: "timeLimits")
        /// Limits the time without a byte by the given clock: `Timeouts.idle`.
        public static let idleLimits = Self(rawValue: "idleLimits")
        /// Reports the progress of transfers: `HTTPContext.uploadProgress` and `HTTPContext.downloadProgress`.
        public static let progress = Self(rawValue: "progress")
        /// Reports the trailer fields of responses: `HTTPResponse.trailers`.
        public static let trailers = Self(rawValue: "trailers")
        /// Reports interim responses: `HTTPContext.interim`.
        public static let interimResponses = Self(rawValue: "interimResponses")
    }
}
