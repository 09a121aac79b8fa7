internal import Foundation
public import Interceptors

/// The promises of ``Transport``, each as a check against a ``MockServer``.
///
/// For authors of transports. With Swift Testing, each rule becomes a separate test:
///
/// ```swift
/// @Test(.timeLimit(.minutes(1)), arguments: TransportConformance.rules)
/// func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
///     try await rule.check { time in MyTransport(time: time) }
/// }
/// ```
/// Time moves only when a rule advances the clock, so a transport that measures its time limits by another clock fails those
/// rules. If a transport never ends a call, the rule waits forever: give the test a time limit.
///
/// If your transport documents that it can't keep a rule, leave the rule out by name: `TransportConformance.rules.filter {
/// $0.name != "repeatedFieldsStayApart" }`.
///
/// ## Without a network
/// A transport that answers in memory has no connections that could break or be kept alive. Check it only against the rules
/// that need no connections. A closure provides the same server's responses:
///
/// ```swift
/// @Test(.timeLimit(.minutes(1)), arguments: TransportConformance.rulesInMemory)
/// func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
///     try await rule.check(inMemory: { time, answer in StubTransport(time: time, answer) })
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

    /// One promise of a transport.
    public struct Rule: Sendable, Hashable, CustomStringConvertible {
        /// The promise, in the form of a test's name.
        public let name: String
        /// Whether the promise concerns connections and their bytes, so that only a transport with connections can break it.
        public let needsConnections: Bool
        let body: @Sendable (Bench) async throws -> Void

        /// Checks over loopback that a transport keeps the promise.
        ///
        /// - Throws: an error with the expected and the actual value if the transport breaks the promise. Rethrows unexpected
        ///   errors of the transport.
        public func check(_ make: @escaping Factory) async throws {
            let clock = ManualClock()
            let server = try MockServer()
            defer { server.stop() }
            try await body(Bench(server: server, clock: clock, transport: try make(.manual(clock))))
        }

        /// Checks that a transport without connections keeps the promise.
        ///
        /// - Throws: an error with the expected and the actual value if the transport breaks the promise, or an error if the
        ///   rule ``needsConnections``. Rethrows unexpected errors of the transport.
        public func check(inMemory make: @escaping MemoryFactory) async throws {
            guard !needsConnections else {
                throw Violation(description: "\(name) can't be checked in memory: it needs connections.")
            }
            let clock = ManualClock()
            let server = try MockServer()
            defer { server.stop() }
            let peer = server.memoryPeer
            let transport = try make(.manual(clock)) { try await peer.answer($0) }
            try await body(Bench(server: server, clock: clock, transport: transport))
            try TransportConformance.expect(server.connectionsOpened, is: 0, "connections of a transport in memory")
        }

        /// Whether both rules have the same name.
        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name.
        public var description: String { name }
    }

    /// Thrown when a transport breaks a promise.
    struct Violation: Error, Sendable, CustomStringConvertible {
        /// The expected and the actual value.
        let description: String
    }

    /// Every rule.
    public static let rules: [Rule] = messageRules + bodyRules + failureRules + timeRules + cancellationRules

    /// The rules that a transport without connections can keep.
    public static let rulesInMemory: [Rule] = rules.filter { !$0.needsConnections }
}

extension TransportConformance {
    /// The server, clock and transport of one check.
    struct Bench: Sendable {
        let server: MockServer
        let clock: ManualClock
        let transport: any Transport

        func request(
            _ path: String = "/",
            _ method: HTTPRequest.Method = .get,
            fields: HTTPFields = [:],
            body: HTTPBody = .empty,
            mode: ResponseBodyMode = .buffered,
            timeouts: Timeouts? = nil
        ) throws -> HTTPRequest {
            guard let url = URL(string: server.url.absoluteString + path) else {
                throw Violation(description: "The check's path \(path) is wrong.")
            }
            var request = HTTPRequest(method: method, url: url, headerFields: fields, body: body)
            request.context.responseBody = mode
            request.context.timeouts = timeouts
            return request
        }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse { try await transport.send(request) }

        func text(_ response: HTTPResponse) async throws -> String {
            String(decoding: try await response.body.collect(upTo: 64 << 20), as: UTF8.self)
        }

        /// Runs a check in both response body modes.
        func inBothModes(_ check: (ResponseBodyMode) async throws -> Void) async throws {
            for mode in [ResponseBodyMode.buffered, .streamed] { try await check(mode) }
        }
    }

    static func expect<Value: Equatable>(_ value: Value, is expected: Value, _ what: String) throws {
        guard value != expected else { return }
        throw Violation(description: "\(what): expected \(expected), got \(value)")
    }

    static func expect(_ condition: Bool, _ what: String) throws {
        guard !condition else { return }
        throw Violation(description: what)
    }

    /// Runs a call, including reading its content, that must fail with one of the given codes.
    static func expectFailure(_ codes: HTTPErrorCode..., of call: () async throws -> Void) async throws {
        do {
            try await call()
        } catch let error as TransportError {
            return try expect(codes.contains(error.code), "expected one of \(codes), got \(error)")
        } catch {
            throw Violation(description: "expected a TransportError with one of \(codes), got \(error)")
        }
        throw Violation(description: "expected a TransportError with one of \(codes), but the call succeeded")
    }

    static func rule(_ name: String, _ body: @escaping @Sendable (Bench) async throws -> Void) -> Rule {
        Rule(name: name, needsConnections: false, body: body)
    }

    /// A rule about connections and their bytes.
    static func wireRule(_ name: String, _ body: @escaping @Sendable (Bench) async throws -> Void) -> Rule {
        Rule(name: name, needsConnections: true, body: body)
    }
}
