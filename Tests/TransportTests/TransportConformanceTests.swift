import Foundation
import InterceptorsTesting
import InterceptorsTransport
import Testing

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

@Suite(.againstHanging, .heavy) struct TransportConformanceTests {
    // Foundation joins fields of one name, and reports no trailers, as the documentation of URLSessionTransport says. On Linux it
    // reports no interim responses either.
    #if canImport(FoundationNetworking)
    private static let rulesOfURLSession = TransportConformance.rules(
        without: [.repeatedFields, .trailers, .interimResponses]
    )
    // These crash the process.
    private static let beyondFoundation: Set = [
        "aConnectionClosedWithinTheHeadIsAnError", "trailersAreNotTakenForFields",
    ]
    #else
    private static let rulesOfURLSession = TransportConformance.rules(without: [.repeatedFields, .trailers])
    private static let beyondFoundation: Set<String> = []
    #endif

    @Test(
        .againstHanging,
        arguments: Self.rulesOfURLSession.filter { !Self.beyondFoundation.contains($0.name) }
    )
    func urlSessionTransportKeepsItsPromises(rule: TransportConformance.Rule) async throws {
        try await rule.check { time in URLSessionTransport(time: time) }
    }

    #if !canImport(FoundationNetworking)
    /// Apple has two loaders since these versions.
    @Test(.againstHanging, arguments: Self.rulesOfURLSession, [true, false])
    func urlSessionTransportKeepsItsPromisesOverEachLoader(
        rule: TransportConformance.Rule,
        isClassic: Bool
    ) async throws {
        guard #available(macOS 15.4, iOS 18.4, tvOS 18.4, watchOS 11.4, visionOS 2.4, *) else { return }
        try await rule.check { time in
            URLSessionTransport(time: time, configure: { $0.usesClassicLoadingMode = isClassic })
        }
    }
    #endif

    #if os(Linux)
    @Test(.againstHanging, arguments: TransportConformance.rules)
    func curlTransportKeepsItsPromises(rule: TransportConformance.Rule) async throws {
        try await rule.check { time in
            var configuration = CurlTransport.Configuration()
            configuration.time = time
            return CurlTransport(configuration)
        }
    }
    #endif

    @Test(.againstHanging, arguments: TransportConformance.rulesInMemory)
    func stubTransportKeepsItsPromises(rule: TransportConformance.MemoryRule) async throws {
        try await rule.check { time, answer in StubTransport(time: time, answer) }
    }

    /// A stub that forwards requests to another transport keeps the same promises as that transport.
    @Test(.againstHanging, arguments: TransportConformance.rulesInMemory)
    func stubTransportWithAFallbackKeepsItsPromises(rule: TransportConformance.MemoryRule) async throws {
        try await rule.check { time, answer in
            StubTransport(fallback: StubTransport(time: time, answer), time: time)
        }
    }

    @Test func exemptionsAreOfRulesThatExist() {
        #expect(Self.beyondFoundation.isSubset(of: TransportConformance.rules.map(\.name)))
        #expect(Set(TransportConformance.rules).count == TransportConformance.rules.count)
    }
}
