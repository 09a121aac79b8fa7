internal import Foundation
public import Interceptors

/// The promises of ``Transport``, each as a check that runs against a ``MockServer``.
///
/// For authors of transports. With Swift Testing, each rule becomes a test of its own:
///
/// ```swift
/// @Test(.timeLimit(.minutes(1)), arguments: TransportConformance.rules)
/// func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
///     try await rule.check { clock in MyTransport(clock: clock) }
/// }
/// ```
/// The clock stands still until a rule moves it: a transport that measures its time limits by another will not be seen to
/// keep them. A transport that never ends a call makes its rule wait: give the test a time limit.
///
/// A rule that your transport can't keep, and documents, is left out by its name:
/// `TransportConformance.rules.filter { $0.name != "repeatedFieldsStayApart" }`.
///
/// ## Without a network
/// A transport that answers in memory opens no connection that could break or be kept alive. It is held to the rules that
/// need none, and gets its answers, those of the same server, from a closure:
///
/// ```swift
/// @Test(.timeLimit(.minutes(1)), arguments: TransportConformance.rulesInMemory)
/// func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
///     try await rule.check(inMemory: { clock, answer in StubTransport(clock: clock, answer) })
/// }
/// ```
public enum TransportConformance {
    /// Makes the transport under test; its time limits run on the given clock.
    public typealias Factory = @Sendable (_ clock: any Clock<Duration>) throws -> any Transport

    /// Makes a transport that answers in memory, by the given closure; its time limits run on the given clock.
    public typealias MemoryFactory =
        @Sendable (
            _ clock: any Clock<Duration>,
            _ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse
        ) throws -> any Transport

    /// One promise.
    public struct Rule: Sendable, Hashable, CustomStringConvertible {
        /// The promise, as the name of a test.
        public let name: String
        /// Whether the promise is about connections and what travels on them, so that only a transport that opens some can
        /// break it.
        public let needsConnections: Bool
        let body: @Sendable (Bench) async throws -> Void

        /// Checks that a transport keeps the promise, over loopback.
        ///
        /// - Throws: ``Violation`` if it doesn't, or what the transport throws where it shouldn't.
        public func check(_ make: @escaping Factory) async throws {
            let clock = ManualClock()
            let server = try MockServer()
            defer { server.stop() }
            try await body(Bench(server: server, clock: clock, transport: try make(clock)))
        }

        /// Checks that a transport without connections keeps the promise.
        ///
        /// - Throws: ``Violation`` if it doesn't, or if the rule ``needsConnections``; or what the transport throws where it
        ///   shouldn't.
        public func check(inMemory make: @escaping MemoryFactory) async throws {
            guard !needsConnections else {
                throw Violation(description: "\(name) can't be checked in memory: it needs connections.")
            }
            let clock = ManualClock()
            let server = try MockServer()
            defer { server.stop() }
            let peer = server.memoryPeer
            let transport = try make(clock) { try await peer.answer($0) }
            try await body(Bench(server: server, clock: clock, transport: transport))
            try TransportConformance.expect(server.connectionsOpened, is: 0, "connections of a transport in memory")
        }

        /// Rules are told apart by their names.
        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }

        /// Hashes the name.
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }

        /// The name.
        public var description: String { name }
    }

    /// How a transport broke a promise.
    public struct Violation: Error, Sendable, CustomStringConvertible {
        /// What was expected, and what came.
        public let description: String
    }

    /// Every rule.
    public static let rules: [Rule] = messageRules + bodyRules + failureRules + timeRules + cancellationRules

    /// The rules that a transport without connections can keep.
    public static let rulesInMemory: [Rule] = rules.filter { !$0.needsConnections }
}

extension TransportConformance {
    /// What a check works with.
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

        /// Both ways in which content can be asked for.
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

    /// Runs what must fail with one of these codes, content included.
    static func expectFailure(_ codes: TransportError.Code..., of call: () async throws -> Void) async throws {
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

    /// A rule about connections and what travels on them.
    static func wireRule(_ name: String, _ body: @escaping @Sendable (Bench) async throws -> Void) -> Rule {
        Rule(name: name, needsConnections: true, body: body)
    }
}
