import Foundation
import InterceptorsTestSupport
import Synchronization
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging)
struct BearerAuthInterceptorTests {
    private func chain(_ tokens: TokenStore, _ server: TokenServer) -> InterceptorChain {
        InterceptorChain([.bearerAuth(tokens)], transport: server)
    }

    @Test func tokenGoesToItsOrigin() async throws {
        let server = TokenServer(accepting: ["old"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        #expect(try await chain(tokens, server).get() == 200)
        #expect(server.authorizations == ["Bearer old"])
    }

    @Test(arguments: [
        "http://api.example.com/", "https://api.example.com:8443/", "https://example.com/", "https://evil.example.com/",
        "https://api.example.com.evil.example/", "https://evil.example/?https://api.example.com",
    ])
    func credentialsAreNeverSentToAnotherOrigin(url: String) async throws {
        let server = TokenServer(accepting: ["old"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        #expect(try await chain(tokens, server).get(try #require(URL(string: url))) == 401)
        #expect(server.authorizations == ["-"])
    }

    @Test(arguments: ["https://API.example.com/", "https://api.example.com:443/x", "HTTPS://api.example.com"])
    func sameOriginInAnotherSpellingIsTheSame(url: String) async throws {
        let server = TokenServer(accepting: ["old"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        #expect(try await chain(tokens, server).get(try #require(URL(string: url))) == 200)
    }

    @Test func originOfTheClientIsTheDefault() async throws {
        let server = TokenServer(accepting: ["old"])
        let tokens = TokenStore(.old) { _ in .new }
        var request = HTTPRequest(url: apiURL)
        request.context.clientOrigin = apiOrigin
        #expect(try await chain(tokens, server).send(request).status == 200)
        request.url = URL(string: "https://other.example.com/")!
        #expect(try await chain(tokens, server).send(request).status == 401)
        #expect(server.authorizations == ["Bearer old", "-"])
    }

    @Test func clientsTokenGoesToItsBaseURLButToNoAbsoluteURLElsewhere() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(refresh: { _ in .new })
        let client = Client(
            baseURL: URL(string: "https://api.example.com/v1")!,
            interceptors: [.retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            transport: server
        )
        #expect(try await client.send(HTTPRequest(url: URL(string: "/users/42")!)).status == 200)
        #expect(try await client.send(HTTPRequest(url: URL(string: "https://other.example.com/")!)).status == 401)
        #expect(server.authorizations == ["-", "Bearer new", "-"])
    }

    @Test func originsOfTheStoreWinOverThatOfTheClient() async throws {
        let server = TokenServer(accepting: ["old"])
        let tokens = TokenStore(.old, origins: [Origin(URL(string: "https://other.example.com/")!)!]) { _ in .new }
        var request = HTTPRequest(url: apiURL)
        request.context.clientOrigin = apiOrigin
        #expect(try await chain(tokens, server).send(request).status == 401)
        #expect(server.authorizations == ["-"])
    }

    @Test func unknownOriginIsExplainedBeforeAnythingIsSent() async throws {
        let server = TokenServer(accepting: ["old"])
        let tokens = TokenStore(.old) { _ in .new }
        let error = await #expect(throws: AuthenticationError.self) { try await chain(tokens, server).get() }
        #expect(error?.code == .unknownOrigin)
        #expect(error?.description.contains("TokenStore(origins:") == true)
        #expect(error?.description.contains("(GET https://api.example.com/users/42)") == true)
        #expect(server.requests.value.isEmpty)
    }

    @Test func requestKeepsAnAuthorizationOfItsOwn() async throws {
        let server = TokenServer(accepting: [])
        let tokens = TokenStore(.old) { _ in .new }
        let request = HTTPRequest(url: apiURL, headers: [.authorization: "Basic abc"])
        _ = try await chain(tokens, server).send(request)
        #expect(server.authorizations == ["Basic abc"])
    }

    @Test(arguments: ["", " ", "a b", "a\r\nX-Injected: 1", "a\u{0}", "a\n"])
    func tokenThatCannotStandInAFieldIsRefusedBeforeAnythingIsSent(value: String) async throws {
        let server = TokenServer(accepting: [])
        let tokens = TokenStore(.init(value), origins: [apiOrigin]) { _ in .new }
        let error = await #expect(throws: AuthenticationError.self) { try await chain(tokens, server).get() }
        #expect(error?.code == .invalidCredential)
        #expect(server.requests.value.isEmpty)
    }

    @Test func expiredTokenIsRefreshedBeforeSending() async throws {
        let server = TokenServer(accepting: ["old", "new"])
        let now = Shared(Date(timeIntervalSince1970: 0))
        let token = TokenStore.Token("old", expiresAt: Date(timeIntervalSince1970: 100))
        let tokens = TokenStore(token, origins: [apiOrigin], time: TimeSource(now: { now.value })) { rejected in
            #expect(rejected == token)
            return .new
        }
        now.value = Date(timeIntervalSince1970: 69.9)
        #expect(try await chain(tokens, server).get() == 200)
        now.value = Date(timeIntervalSince1970: 70)
        #expect(try await chain(tokens, server).get() == 200)
        #expect(server.authorizations == ["Bearer old", "Bearer new"])
    }

    @Test func tokenThatIsOverOnArrivalDoesNotCauseARefreshForEachRequest() async throws {
        let server = TokenServer(accepting: ["new"])
        let refreshes = Tally()
        let over = Date(timeIntervalSince1970: 0)
        let tokens = TokenStore(.init("old", expiresAt: over), origins: [apiOrigin]) { _ in
            refreshes.count()
            return .init("new", expiresAt: over)
        }
        for _ in 0..<10 { #expect(try await chain(tokens, server).get() == 200) }
        #expect(refreshes.value == 1)
    }

    @Test func parallelRequestsWithAnExpiredTokenWaitForOneRefresh() async throws {
        let count = 500
        let (refreshes, allWait) = (Tally(), Latch())
        let server = TokenServer(accepting: ["new"])
        let expired = TokenStore.Token("old", expiresAt: Date(timeIntervalSince1970: 0))
        let tokens = TokenStore(expired, origins: [apiOrigin], observe: opening(allWait, when: count)) { _ in
            refreshes.count()
            await allWait.opened()
            return .new
        }
        let chain = chain(tokens, server)
        try await withThrowingTaskGroup { group in
            for _ in 0..<count { group.addTask { try await chain.get() } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(refreshes.value == 1)
        #expect(server.requests.value.count == count)
    }

    @Test func newRequestWaitsForARefreshUnderWayInsteadOfSendingTheRejectedToken() async throws {
        let bothWait = Latch()
        let server = TokenServer(accepting: ["new"])
        let (began, second) = (Latch(), URL(string: "https://api.example.com/second")!)
        let tokens = TokenStore(.old, origins: [apiOrigin], observe: opening(bothWait, when: 2)) { _ in
            began.open()
            await bothWait.opened()
            return .new
        }
        let chain = authenticatingChain(tokens, server)
        async let first = chain.get()
        await began.opened()
        #expect(try await chain.get(second) == 200)
        #expect(try await first == 200)
        #expect(
            server.requests.value.filter { $0.url == second }.map { $0.headers[.authorization] } == ["Bearer new"]
        )
    }

    @Test func withoutATokenTheRequestGoesWithout() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(origins: [apiOrigin]) { _ in
            Issue.record("Nothing was rejected.")
            return .new
        }
        #expect(try await chain(tokens, server).get() == 401)
        #expect(server.authorizations == ["-"])
    }

    @Test func firstTokenIsFetchedBeforeSendingWhereAskedFor() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(origins: [apiOrigin], options: .init(fetchesFirstToken: true)) { rejected in
            #expect(rejected == nil)
            return .new
        }
        #expect(try await chain(tokens, server).get() == 200)
        tokens.signOut()
        #expect(try await chain(tokens, server).get() == 401)
        #expect(server.authorizations == ["Bearer new", "-"])
    }

    @Test func secretsNeverShowInErrors() async throws {
        let server = TokenServer(accepting: [])
        let tokens = TokenStore(.init("s3cr3t token"), origins: [apiOrigin]) { _ in .new }
        let url = URL(string: "https://user:s3cr3t@api.example.com/?api_key=s3cr3t")!
        let error = await #expect(throws: AuthenticationError.self) { try await chain(tokens, server).get(url) }
        var texts = [
            try #require(error?.description), String(reflecting: error), try #require(error?.localizedDescription),
        ]
        var dumped = ""
        dump(error, to: &dumped)
        texts.append(dumped)
        for text in texts { #expect(!text.contains("s3cr3t")) }
    }
}
