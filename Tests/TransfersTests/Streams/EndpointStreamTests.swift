import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

@Suite(.againstHanging) struct EndpointStreamTests {
    @Test func errorOfAnEndpointReachesTheReader() async throws {
        struct NoFile: Error {}
        struct Failing: Endpoint {
            var request: EndpointRequest<User> { get throws { throw NoFile() } }
        }
        let client = makeClient(StubTransport())
        await #expect(throws: NoFile.self) { for try await _ in client.events(from: Failing()) {} }
        await #expect(throws: NoFile.self) { for try await _ in client.lines(from: Failing(), as: User.self) {} }
    }
}
