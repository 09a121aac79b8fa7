import InterceptorsAsyncHTTPClient
import InterceptorsTesting
import Testing

@Suite(.timeLimit(.minutes(10))) struct ConformanceTests {
    /// AsyncHTTPClient drops trailer fields and interim responses. Every other rule applies.
    @Test(
        .timeLimit(.minutes(10)),
        arguments: TransportConformance.rules(without: [.trailers, .interimResponses])
    )
    func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
        try await rule.check { time in AsyncHTTPClientTransport(time: time) }
    }
}
