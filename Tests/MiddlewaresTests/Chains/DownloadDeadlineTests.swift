import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

@Suite(.againstHanging) struct DownloadDeadlineTests {
    @Test(arguments: [[], [.timeout()]] as [[AnyInterceptor]])
    func aDownloadStartsNoWaitThatEndsAfterTheDeadline(interceptors: [AnyInterceptor]) async throws {
        let folder = try TemporaryFolder()
        let clock = ManualClock()
        // Without chance, the waits are 0.2 and 0.4 seconds.
        let time = TimeSource(clock: clock, random: RandomSource { .max })
        let stub = StubTransport { _ in throw TransportError(.connectionLost, "Gone.") }
        let client = Client(
            baseURL: URL(string: "https://api.example.com"),
            interceptors: interceptors,
            transport: stub
        )
        let error = await #expect(throws: TransportError.self) {
            try await clock.run {
                try await client.download(
                    "/film",
                    to: folder.file("film"),
                    resuming: .withinCall.trying(time: time),
                    context: .with(\.deadline, Deadline(after: .milliseconds(500), time: time))
                )
            }
        }
        #expect(error?.code == .connectionLost)
        #expect(stub.requests.count == 2)
        #expect(clock.now.elapsed <= .milliseconds(200))
    }
}
