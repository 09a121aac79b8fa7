import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging)
struct AuthorizationModeTests {
    private func request(_ mode: AuthorizationMode) -> HTTPRequest {
        var request = HTTPRequest(method: .post, url: apiURL, body: "password")
        request.context.authorization = mode
        return request
    }

    private func store(_ token: TokenStore.Token?, fetchesFirstToken: Bool = false) -> TokenStore {
        TokenStore(token, origins: [apiOrigin], options: .init(fetchesFirstToken: fetchesFirstToken)) { _ in
            Issue.record("Nothing is to be refreshed.")
            return .new
        }
    }

    @Test(arguments: [nil, TokenStore.Token.old, .init("old", expiresAt: .distantPast)], [true, false])
    func logInGoesWithoutATokenAndItsRejectionIsTheAnswer(token: TokenStore.Token?, fetchesFirst: Bool) async throws {
        let server = TokenServer(accepting: [])
        let chain = authenticatingChain(store(token, fetchesFirstToken: fetchesFirst), server)
        #expect(try await chain.send(request(.omitted)).status == 401)
        #expect(server.authorizations == ["-"])
    }

    @Test func rejectionThatMeansSomethingElseRefreshesNothingAndSendsNothingAgain() async throws {
        let server = TokenServer(accepting: [])
        let chain = authenticatingChain(store(.old), server)
        #expect(try await chain.send(request(.notRenewed)).status == 401)
        #expect(server.authorizations == ["Bearer old"])
    }

    @Test func expiredTokenIsRefreshedBeforeARequestWhoseRejectionMeansSomethingElse() async throws {
        let server = TokenServer(accepting: ["new"])
        let expired = TokenStore.Token("old", expiresAt: .distantPast)
        let chain = authenticatingChain(TokenStore(expired, origins: [apiOrigin]) { _ in .new }, server)
        #expect(try await chain.send(request(.notRenewed)).status == 200)
        #expect(server.authorizations == ["Bearer new"])
    }

    @Test(arguments: [AuthorizationMode.omitted, .notRenewed]) func rejectionOfALogInLogsNobodyIn(
        mode: AuthorizationMode
    ) async throws {
        let chain = InterceptorChain(
            [.retryOnUnauthorized { Issue.record("Nobody is to be logged in.") }],
            transport: TokenServer(accepting: [])
        )
        #expect(try await chain.send(request(mode)).status == 401)
    }

    @Test func passwordIsNeitherSentNorAskedForWhereItIsOmitted() async throws {
        let server = Recorder { request in
            HTTPResponse(status: 401, headers: [.wwwAuthenticate: "Basic realm=r"], url: request.url)
        }
        let chain = InterceptorChain(
            [.basicAuth(username: "a", password: "b", origins: [apiOrigin], atOnce: true)],
            transport: server
        )
        #expect(try await chain.send(request(.omitted)).status == 401)
        #expect(server.requests.map { $0.headers[.authorization] } == [nil])
        #expect(try await chain.send(request(.automatic)).status == 401)
        #expect(server.requests.last?.headers[.authorization] == "Basic YTpi")
    }

    @Test func rejectionOfAPasswordThatMeansSomethingElseIsTheAnswerAndCostsNoCredential() async throws {
        let server = Recorder { request in
            let isAllowed = request.headers.contains(.authorization) && request.context.authorization == .automatic
            return HTTPResponse(
                status: isAllowed ? 200 : 401,
                headers: isAllowed ? [:] : [.wwwAuthenticate: "Basic realm=r"],
                url: request.url
            )
        }
        let asked = Tally()
        let auth = AnyInterceptor.httpAuth(origins: [apiOrigin]) { _, _ in
            PasswordCredential(username: "a", password: "\(asked.count())")
        }
        let chain = InterceptorChain([auth], transport: server)
        // The interceptor answers the first challenge. Later rejections go to the caller.
        #expect(try await chain.send(request(.notRenewed)).status == 401)
        #expect(try await chain.send(request(.notRenewed)).status == 401)
        #expect(try await chain.send(request(.automatic)).status == 200)
        let first = "Basic YTox"
        #expect(server.requests.map { $0.headers[.authorization] } == [nil, first, first, first])
        #expect(asked.value == 1)
    }

    @Test func staleNonceIsReplacedThoughARejectionMeansSomethingElse() async throws {
        let tally = Tally()
        let server = Recorder { request in
            let number = tally.count()
            guard number < 3 else { return HTTPResponse(status: 200, url: request.url) }
            let challenge = "Digest realm=r, qop=auth, nonce=n\(number), stale=\(number == 2)"
            return HTTPResponse(status: 401, headers: [.wwwAuthenticate: challenge], url: request.url)
        }
        let chain = InterceptorChain(
            [.digestAuth(username: "a", password: "b", origins: [apiOrigin])],
            transport: server
        )
        #expect(try await chain.send(request(.notRenewed)).status == 200)
        #expect(server.requests.count == 3)
    }

    @Test func clientsCallsAndEndpointsSayIt() async throws {
        let server = TokenServer(accepting: ["old"])
        let tokens = store(.old)
        let client = Client(
            baseURL: apiURL,
            interceptors: [.retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            transport: server
        )
        var context = HTTPContext()
        context.authorization = .omitted
        #expect(try await client.head("/public", context: context).status == 401)
        #expect(try await client.head("/private").status == 200)
        #expect(server.authorizations == ["-", "Bearer old"])
    }
}
