#if os(Linux)
import Testing
import Transport
import TransportTesting

@Suite struct CurlConformanceTests {
    @Test(.timeLimit(.minutes(1)), arguments: TransportConformance.rules)
    func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
        try await rule.check { clock in
            var configuration = CurlTransport.Configuration()
            configuration.clock = clock
            return CurlTransport(configuration)
        }
    }
}
#endif
