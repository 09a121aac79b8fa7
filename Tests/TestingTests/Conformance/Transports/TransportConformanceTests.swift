import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

/// The kit itself: each broken transport is found by its rule, and no check hangs.
@Suite(.againstHanging, .heavy) struct TransportConformanceTests {
    private typealias Failure = RuleFailure
    private typealias Capability = TransportConformance.Capability

    private static func rule(_ name: String) throws -> TransportConformance.Rule {
        try #require(TransportConformance.rules.first { $0.name == name })
    }

    private static func ruleInMemory(_ name: String) throws -> TransportConformance.MemoryRule {
        try #require(TransportConformance.rulesInMemory.first { $0.name == name })
    }

    /// The rules in memory that a transport breaks, with what they say.
    private static func failures(
        _ rules: [TransportConformance.MemoryRule] = TransportConformance.rulesInMemory,
        inMemory make: @escaping @Sendable (any Transport) -> any Transport
    ) async throws -> [String: String] {
        var failures: [String: String] = [:]
        for rule in rules {
            do {
                // Nothing here waits for another thread.
                try await rule.check(patience: .zero) { make(StubTransport(time: $0, $1)) }
            } catch let failure as Failure {
                failures[rule.name] = failure.observed
            }
        }
        return failures
    }

    @Test(.againstHanging, arguments: BrokenTransport.inMemory)
    func brokenTransportIsFoundByTheRuleNamedForItAndByNoOther(broken: BrokenTransport) async throws {
        let failures = try await Self.failures { broken.bent($0) }
        #expect(Set(failures.keys) == [broken.rule], "\(failures)")
    }

    @Test func everyRuleInMemoryHasABrokenTransport() {
        #expect(Set(BrokenTransport.inMemory.map(\.rule)) == Set(TransportConformance.rulesInMemory.map(\.name)))
    }

    #if os(Linux)
    @Test(.againstHanging, arguments: BrokenTransport.overConnections)
    func transportBrokenOverConnectionsIsFoundByTheRuleNamedForItAndByNoOther(broken: BrokenTransport) async throws {
        var failures: [String: String] = [:]
        for rule in TransportConformance.rules where Self.needs(rule, .connections) {
            do {
                // Short only for its own rule: a transport without a time limit makes the rule wait this long.
                let patience = Duration.seconds(rule.name == broken.rule ? 2 : 10)
                try await rule.check(patience: patience) { broken.bent(CurlTransport(time: $0)) }
            } catch let failure as Failure {
                failures[rule.name] = failure.observed
            }
        }
        #expect(Set(failures.keys) == [broken.rule], "\(failures)")
    }
    #endif

    @Test(arguments: TransportConformance.rules)
    func everyRuleSaysTheRepair(rule: TransportConformance.Rule) {
        let law = rule.text
        let repair = law.repair
        #expect(repair.hasSuffix(".") && repair.count > 20 && !repair.dropLast().contains(". "), "\(repair)")
        let failure = Failure(rule: law, observed: "It did so.")
        #expect("\(failure)" == "\(rule.name): It did so. \(law.repair)")
    }

    // MARK: Capabilities

    @Test func transportWithoutResponseStreamsKeepsTheOtherRules() async throws {
        @Sendable func buffering(_ base: any Transport) -> any Transport {
            BrokenTransport("buffers") { request, send in
                var response = try await send(request)
                response.body = HTTPBody(try await response.body.collect(upTo: 1 << 24))
                return response
            }.bent(base)
        }
        let failures = try await Self.failures { buffering($0) }
        #expect(
            Set(failures.keys) == [
                "aStreamBeginsBeforeItsEnd", "aCancelledReaderEndsItsTransfer", "aDiscardedBodyEndsItsTransfer",
                "aDroppedBodyEndsItsTransfer",
            ],
            "\(failures)"
        )
        let rules = TransportConformance.rulesInMemory(without: [.responseStreams])
        #expect(try await Self.failures(rules) { buffering($0) }.isEmpty)
    }

    private static func needs(_ rule: TransportConformance.Rule, _ capability: Capability) -> Bool {
        TransportConformance.laws.contains { $0.text.name == rule.name && $0.needs([capability]) }
    }

    @Test func rulesAreChosenByWhatTheyRequire() {
        let all = TransportConformance.rules
        #expect(TransportConformance.rules(without: []) == all)
        #expect(Set(all).count == all.count)
        let capabilities: [Capability] = [
            .connections, .connectionReuse, .repeatedFields, .requestStreams, .responseStreams, .discards, .sizeLimits,
            .timeLimits, .idleLimits, .progress, .trailers, .interimResponses,
        ]
        #expect(Set(TransportConformance.laws.flatMap { $0.scope ?? [] }) == Set(capabilities))
        for capability in capabilities {
            let rules = TransportConformance.rules(without: [capability])
            #expect(rules == all.filter { !Self.needs($0, capability) })
        }
        #expect(TransportConformance.rules(without: [Capability(rawValue: "http3")]) == all)
    }

    // MARK: No check hangs

    private struct Silent: Transport {
        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            for await _ in AsyncStream(Int.self, { _ in }) {}
            throw TransportError(.transportFailed, "Cancelled too late.")
        }
    }

    @Test func callThatNeverEndsIsReportedWithWhatWaits() async throws {
        let rule = try Self.rule("nothingIsCached")
        let error = await #expect(throws: Failure.self) {
            try await rule.check(patience: .milliseconds(200)) { _ in Silent() }
        }
        let report = """
            Nothing goes on. The check waits for: the response to GET /. \
            Requests at the server: 0. Connections: 0, closed by the transport: 0.
            """
        #expect(error?.observed == report)
        let ruleInMemory = try Self.ruleInMemory("nothingIsCached")
        let inMemory = await #expect(throws: Failure.self) {
            try await ruleInMemory.check(patience: .zero) { _, _ in Silent() }
        }
        #expect(inMemory?.observed == report)
    }

    @Test func transportWithAnotherClockIsReported() async throws {
        let rule = try Self.rule("theWholeCallHasALimit")
        let error = await #expect(throws: Failure.self) {
            try await rule.check(patience: .milliseconds(300)) { _ in
                StubTransport { _ in
                    for await _ in AsyncStream(Int.self, { _ in }) {}
                    throw CancellationError()
                }
            }
        }
        #expect(error?.observed.contains("request 1 at the server") == true)
    }

    @Test func callThatBlocksItsThreadIsReported() async throws {
        let rule = try Self.ruleInMemory("nothingIsCached")
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let error = await #expect(throws: Failure.self) {
            let patience = RulePatience(otherThreads: .zero, blockedThread: .milliseconds(200))
            try await rule.check(answering: nil, patience: patience) { _, _ in Blocking(end: end) }
        }
        #expect(error?.observed.hasPrefix("A task blocks its thread, so that no other can go on.") == true)
    }

    private struct Blocking: Transport {
        let end: DispatchSemaphore
        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            let end = end
            _ = { end.wait() }()
            throw TransportError(.transportFailed, "It was blocked.")
        }
    }

    @Test func errorOfTheFactoryIsRethrown() async throws {
        struct NoTransport: Error {}
        let rule = try Self.rule("nothingIsCached")
        await #expect(throws: NoTransport.self) { try await rule.check { _ in throw NoTransport() } }
        let ruleInMemory = try Self.ruleInMemory("nothingIsCached")
        await #expect(throws: NoTransport.self) { try await ruleInMemory.check { _, _ in throw NoTransport() } }
    }

    @Test func ruleThatNeedsConnectionsIsNotPassedInMemory() {
        let names = Set(TransportConformance.rulesInMemory.map(\.name))
        #expect(names.isDisjoint(with: TransportConformance.rules.filter { Self.needs($0, .connections) }.map(\.name)))
    }
}
