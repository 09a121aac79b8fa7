import Testing
import Transport
import TransportTesting

@Suite struct TransportConformanceTests {
    // What Foundation can't do on Linux, as the documentation of URLSessionTransport says.
    #if canImport(FoundationNetworking)
    private static let beyondFoundation: Set = [
        "repeatedFieldsStayApart",
        // It ends the process.
        "aConnectionClosedWithinTheHeadIsAnError",
    ]
    #else
    private static let beyondFoundation: Set = ["repeatedFieldsStayApart"]
    #endif

    @Test(
        .timeLimit(.minutes(2)),
        arguments: TransportConformance.rules.filter { !Self.beyondFoundation.contains($0.name) }
    )
    func urlSessionTransportKeepsItsPromises(rule: TransportConformance.Rule) async throws {
        try await rule.check { clock in URLSessionTransport(clock: clock) }
    }

    #if os(Linux)
    @Test(.timeLimit(.minutes(2)), arguments: TransportConformance.rules)
    func curlTransportKeepsItsPromises(rule: TransportConformance.Rule) async throws {
        try await rule.check { clock in
            var configuration = CurlTransport.Configuration()
            configuration.clock = clock
            return CurlTransport(configuration)
        }
    }
    #endif
}
