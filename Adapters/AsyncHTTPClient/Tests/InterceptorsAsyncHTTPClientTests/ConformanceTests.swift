import InterceptorsAsyncHTTPClient
import Testing
import TransportTesting

@Suite(.timeLimit(.minutes(10))) struct ConformanceTests {
    /// The rules that the transport can't keep, each with the reason, which its documentation gives, too.
    private static let exemptions: [String: String] = [:]

    @Test(
        .timeLimit(.minutes(10)),
        arguments: TransportConformance.rules.filter { exemptions[$0.name] == nil }
    )
    func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
        try await rule.check { time in AsyncHTTPClientTransport(time: time) }
    }

    @Test func exemptionsAreOfRulesThatExist() {
        #expect(Set(Self.exemptions.keys).isSubset(of: TransportConformance.rules.map(\.name)))
    }
}
