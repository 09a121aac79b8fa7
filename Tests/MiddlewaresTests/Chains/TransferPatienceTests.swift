import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import InterceptorsTransfers
import Testing

/// Transfers without a network, in a chain that would end them sooner.
@Suite(.againstHanging) struct TransferPatienceTests {
    @Test func downloadOutlastsAnOpenCircuit() async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        let time = TimeSource.manual(clock)
        let stub = StubTransport { _ in
            guard clock.now.elapsed >= .seconds(60) else { throw TransportError(.cannotConnect, "Gone.") }
            return HTTPResponse(status: 200, body: HTTPBody(Data("film".utf8)))
        }
        let client = Client(
            baseURL: URL(string: "https://api.example.com"),
            interceptors: [.circuitBreaker(time: time)],
            transport: stub
        )
        _ = try await clock.run {
            try await client.download("/film", to: folder.file("film"), resuming: .withinCall.trying(time: time))
        }
        #expect(try Data(contentsOf: folder.file("film")) == Data("film".utf8))
        #expect(clock.now.elapsed <= .seconds(120))
    }
}
