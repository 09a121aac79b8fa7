import Foundation
import Middlewares
import Testing
import TransportTesting

// The code of the README, as it stands there: that it compiles is the point, that it works is shown too.
@Suite struct ReadmeTests {
    struct User: Decodable, Sendable { let id: Int }

    struct LanguageInterceptor: Interceptor {
        let language: String

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            request.headerFields[.acceptLanguage] = language
            return try await next(request)
        }
    }

    @Test func theFirstExampleWorks() async throws {
        let signIn = SignIn()
        let stub = StubTransport()
        stub.enqueue(.json(#"{"code":200,"object":{"id":42}}"#))

        let tokens = TokenStore { rejected in
            try await signIn.refresh(rejected)
        }

        let api = Client(
            baseURL: URL(string: "https://api.example.com/v1")!,
            interceptors: [
                .unwrapEnvelope(payload: "object"),
                .validateStatus(),
                .headers([.accept: "application/json"]),
                .transactionID(),
                .followRedirects(),
                .retryOnUnauthorized(tokens),
                .bearerAuth(tokens),
                .retry(.exponential(maxAttempts: 3)),
                .logging(.headers, to: LogSink { _ in }),
            ],
            transport: stub
        )

        let user: User = try await api.get("/users/42")
        #expect(user.id == 42)
        #expect(stub.requests.first?.url.absoluteString == "https://api.example.com/v1/users/42")
    }

    @Test func theExampleOfATestWorks() async throws {
        let url = URL(string: "https://api.example.com")
        let tokens = TokenStore(TokenStore.Token("old")) { _ in TokenStore.Token("new") }
        let chain: [any Interceptor] = [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]

        let stub = StubTransport()
        stub.enqueue(.status(401), .json(#"{"id":42,"name":"Ada"}"#))

        let client = Client(baseURL: url, interceptors: chain, transport: stub)
        let user: User = try await client.get("/users/42")

        #expect(user.id == 42)
        #expect(stub.requests.count == 2)
        try stub.verifyAllUsed()
    }

    @Test func theInterceptorOfTheReadmeWorks() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(200))
        let chain = InterceptorChain([LanguageInterceptor(language: "de")], transport: stub)
        _ = try await chain.send(HTTPRequest(url: try #require(URL(string: "https://example.com"))))
        #expect(stub.requests.first?.headerFields[.acceptLanguage] == "de")
    }

    private struct SignIn {
        func refresh(_ rejected: TokenStore.Token?) async throws -> TokenStore.Token { TokenStore.Token("fresh") }
    }
}
