import Foundation
import InMemoryTracing
import Interceptors
import InterceptorsObservability
import InterceptorsTesting
import Logging
import Metrics
import Testing
import Tracing

// The examples of the README.

func makeClient(_ tokens: TokenStore, _ logger: Logger, transport: any Transport = .platform()) -> Client {
    Client(
        baseURL: URL(string: "https://api.example.com"),
        interceptors: [
            .followRedirects(),
            .retryOnUnauthorized(tokens),
            .bearerAuth(tokens),
            .retry(maxAttempts: 3),
            .tracing(with: InstrumentationSystem.tracer),
            .metrics(to: MetricsSystem.factory),
            .logging(.headers, to: .logger(logger)),
        ],
        transport: transport
    )
}

struct User: Decodable, Sendable { let id: Int }

struct GetUser: Endpoint {
    let id: Int
    var request: EndpointRequest<User> { .get("/users/\(id)", context: .with(\.urlTemplate, "/users/{id}")) }
}

@Suite(.timeLimit(.minutes(10))) struct ReadmeTests {
    @Test func clientReportsACall() async throws {
        let tokens = TokenStore(TokenStore.Token("a")) { _ in TokenStore.Token("b") }
        let client = makeClient(tokens, Logger(label: "http"), transport: .stub(.json(#"{"id":1}"#)))
        #expect(try await client.call(GetUser(id: 1)).id == 1)
    }
}
