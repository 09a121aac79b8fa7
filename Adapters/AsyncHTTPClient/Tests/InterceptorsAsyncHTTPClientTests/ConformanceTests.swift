import InterceptorsAsyncHTTPClient
import Testing
import TransportTesting

@Suite(.timeLimit(.minutes(10))) struct ConformanceTests {
    /// The transport lacks no capability, so every rule applies.
    @Test(.timeLimit(.minutes(10)), arguments: TransportConformance.rules(without: []))
    func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
        try await rule.check { time in AsyncHTTPClientTransport(time: time) }
    }
}
