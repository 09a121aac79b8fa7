import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// Refreshes whose closure gets the client that needs the token.
@Suite(.againstHanging) struct RefreshClientTests {
    private struct Session: Codable, Sendable {
        var access: String
    }

    /// A server that takes the new token and hands it out at `/v1/token`.
    private func server() -> StubTransport {
        let stub = StubTransport()
        stub.on(.post, "/v1/token", .json(#"{"access": "new"}"#))
        stub.on(.get, "/v1/user") { request in
            request.headers[.authorization] == "Bearer new" ? .text("Ada") : .status(401)
        }
        return stub
    }

    private func client(_ tokens: TokenStore, _ stub: StubTransport) -> Client {
        Client(
            baseURL: URL(string: "https://api.example.com/v1"),
            interceptors: [.headers(["X-App": "1"]), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            transport: stub
        )
    }

    private func tokens(_ token: TokenStore.Token?, time: TimeSource = .system) -> TokenStore {
        TokenStore(token, time: time) { rejected, api in
            let fields: HTTPQuery = ["refresh_token": rejected?.refreshToken]
            let session = try await api.post("/token", body: .form(fields), as: Session.self)
            return TokenStore.Token(session.access)
        }
    }

    @Test func refreshGoesThroughTheWholeChainWithoutAToken() async throws {
        let stub = server()
        let api = client(tokens(.old), stub)
        #expect(try await api.get("/user", as: String.self) == "Ada")
        #expect(stub.requests.map { $0.url.path } == ["/v1/user", "/v1/token", "/v1/user"])
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer old", nil, "Bearer new"])
        #expect(stub.requests.allSatisfy { $0.headers["X-App"] == "1" })
        #expect(stub.requests[1].body.data == Data("refresh_token=refresh-old".utf8))
    }

    @Test func expiredTokenIsRefreshedByTheClientBeforeItIsSent() async throws {
        let stub = server()
        let expired = TokenStore.Token("old", expiresAt: Date(timeIntervalSince1970: 0))
        let api = client(tokens(expired), stub)
        #expect(try await api.get("/user", as: String.self) == "Ada")
        #expect(stub.requests.map { $0.url.path } == ["/v1/token", "/v1/user"])
    }

    @Test func requestOfNoClientFailsWithTheRemedy() async throws {
        let stub = server()
        let chain = authenticatingChain(tokens(.old), stub)
        var request = HTTPRequest(url: try #require(URL(string: "https://api.example.com/v1/user")))
        request.context.clientOrigin = apiOrigin
        let error = await #expect(throws: AuthenticationError.self) { try await chain.send(request) }
        #expect(error?.code == .unsupported)
        #expect(error?.message.contains("TokenStore { rejected in … }") == true)
    }

    @Test func keptRequestKeepsNoClient() async throws {
        weak var transport: StubTransport?
        var kept: [HTTPRequest] = []
        do {
            let stub = server()
            transport = stub
            let api = client(TokenStore(.new) { _ in .new }, stub)
            _ = try await api.get("/user", as: String.self)
            kept = stub.requests
            withExtendedLifetime(api) { #expect(kept.first?.context.client != nil) }
        }
        #expect(transport == nil)
        #expect(kept.count == 1)
        #expect(kept.first?.context.client == nil)
        #expect(kept.first?.context.clientOrigin == apiOrigin)
    }

    @Test func clientWithoutABaseURLIsTheOneWhoseRequestNeedsTheToken() async throws {
        let stub = server()
        let store = TokenStore(.old, origins: [apiOrigin]) { _, api in
            TokenStore.Token(try await api.get("https://api.example.com/v1/token", as: Session.self).access)
        }
        stub.on(.get, "/v1/token", .json(#"{"access": "new"}"#))
        let inner = Client(
            interceptors: [.headers(["X-Client": "inner"]), .retryOnUnauthorized(store), .bearerAuth(store)],
            transport: stub
        )
        let outer = Client(
            baseURL: URL(string: "https://other.example.com"),
            interceptors: [.headers(["X-Client": "outer"])],
            transport: inner
        )
        #expect(try await outer.get("https://api.example.com/v1/user", as: String.self) == "Ada")
        #expect(stub.requests.map { $0.headers["X-Client"] } == ["outer", "inner", "outer"])
        #expect(stub.requests.map { $0.context.clientOrigin?.host } == ["other.example.com", nil, "other.example.com"])
    }

    @Test func changedOriginOfARequestKeepsItsClient() async throws {
        let stub = server()
        let api = client(tokens(.old), stub)
        let changed = Client(
            baseURL: URL(string: "https://other.example.com"),
            interceptors: [
                .intercept { request, next in
                    request.context.clientOrigin = apiOrigin
                    request.context.clientOrigin = nil
                    #expect(request.context.client != nil)
                    return try await next(request)
                }
            ],
            transport: api
        )
        #expect(try await changed.get("https://api.example.com/v1/user", as: String.self) == "Ada")
    }
}
