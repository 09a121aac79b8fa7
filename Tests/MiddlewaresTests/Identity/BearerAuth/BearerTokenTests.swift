import Foundation
import InterceptorsTestSupport
import InterceptorsTraffic
import Synchronization
import Testing

@testable import InterceptorsMiddlewares

/// `bearerAuth` with a constant and with a closure, which must be as careful as `bearerAuth` with a store.
@Suite(.againstHanging) struct BearerTokenTests {
    enum Kind: CaseIterable {
        case constant, asked

        func bearer(_ origin: Origin?) -> AnyInterceptor {
            switch (self, origin) {
            case (.constant, let origin?): .bearerAuth("old", for: origin)
            case (.constant, nil): .bearerAuth("old")
            case (.asked, let origin?): .bearerAuth(for: origin) { "old" }
            case (.asked, nil): .bearerAuth { "old" }
            }
        }
    }

    @Test(arguments: Kind.allCases)
    func tokenGoesToItsOrigin(kind: Kind) async throws {
        let server = TokenServer(accepting: ["old"])
        #expect(try await InterceptorChain([kind.bearer(apiOrigin)], transport: server).get() == 200)
        #expect(server.authorizations == ["Bearer old"])
    }

    @Test(
        arguments: Kind.allCases,
        [
            "http://api.example.com/", "https://api.example.com:8443/", "https://example.com/",
            "https://evil.example.com/", "https://api.example.com.evil.example/",
            "https://evil.example/?https://api.example.com",
        ]
    )
    func tokenIsNeverSentToAnotherOrigin(
        kind: Kind,
        url: String
    ) async throws {
        let server = TokenServer(accepting: ["old"])
        let chain = InterceptorChain([kind.bearer(apiOrigin)], transport: server)
        #expect(try await chain.get(try #require(URL(string: url))) == 401)
        let client = Client(
            baseURL: URL(string: "https://api.example.com/v1")!,
            interceptors: [kind.bearer(nil)],
            transport: server
        )
        #expect(try await client.send(HTTPRequest(url: try #require(URL(string: url)))).status == 401)
        #expect(server.authorizations == ["-", "-"])
    }

    @Test func a401FromAnotherOriginSaysWhyThereWasNoToken() async throws {
        let server = TokenServer(accepting: ["old"])
        let chain = InterceptorChain([.validateStatus(), .bearerAuth("old", for: apiOrigin)], transport: server)
        let error = await #expect(throws: StatusError.self) {
            try await chain.get(URL(string: "https://other.example/")!)
        }
        let text = "\(error.map { "\($0)" } ?? "")"
        #expect(text.contains("bearerAuth added no token for https://other.example"))
        #expect(text.contains("bearerAuth(_:for:) names the origins"))
    }

    @Test(arguments: Kind.allCases)
    func originOfTheClientIsTheDefault(kind: Kind) async throws {
        let server = TokenServer(accepting: ["old"])
        let client = Client(
            baseURL: URL(string: "https://api.example.com/v1")!,
            interceptors: [kind.bearer(nil)],
            transport: server
        )
        #expect(try await client.send(HTTPRequest(url: URL(string: "/users/42")!)).status == 200)
        #expect(server.authorizations == ["Bearer old"])
    }

    @Test(arguments: Kind.allCases)
    func requestIsNotSentIfNobodyNamesAnOrigin(kind: Kind) async throws {
        let server = TokenServer(accepting: ["old"])
        let error = await #expect(throws: AuthenticationError.self) {
            try await InterceptorChain([kind.bearer(nil)], transport: server).get()
        }
        #expect(error?.code == .unknownOrigin)
        #expect(error?.message.contains(".bearerAuth(token, for: origin)") == true)
        #expect(server.requests.value.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func redirectToAnotherOriginCarriesNoToken(kind: Kind) async throws {
        let server = Recorder { request in
            guard request.url.host() == "api.example.com" else { return HTTPResponse(status: 200, url: request.url) }
            return HTTPResponse(
                status: 302,
                headers: [.location: "https://evil.example/"],
                url: request.url
            )
        }
        let chain = InterceptorChain([.followRedirects(), kind.bearer(apiOrigin)], transport: server)
        #expect(try await chain.get() == 200)
        #expect(server.requests.map { $0.headers[.authorization] } == ["Bearer old", nil])
    }

    @Test(arguments: Kind.allCases)
    func fieldOfTheRequestAndItsModeWin(kind: Kind) async throws {
        let server = TokenServer(accepting: ["own"])
        let chain = InterceptorChain([kind.bearer(apiOrigin)], transport: server)
        let own = HTTPRequest(url: apiURL, headers: [.authorization: "Bearer own"])
        #expect(try await chain.send(own).status == 200)
        var without = HTTPRequest(url: apiURL)
        without.context.authorization = .omitted
        #expect(try await chain.send(without).status == 401)
        #expect(server.authorizations == ["Bearer own", "-"])
    }

    @Test(arguments: Kind.allCases)
    func cacheOutsideIsRefusedUnlessAPartitionIsNamed(
        kind: Kind
    ) async throws {
        let server = TokenServer(accepting: ["old"])
        let chain = InterceptorChain([.cache(.memory()), kind.bearer(apiOrigin)], transport: server)
        await expectUnseenCaller { try await chain.get() }
        #expect(server.requests.value.isEmpty)
        var request = HTTPRequest(url: apiURL)
        request.context.cachePartition = "ada"
        #expect(try await chain.send(request).status == 200)
    }

    @Test func cacheInsideTellsTheTokensApart() async throws {
        let token = Shared("ada")
        let server = Recorder { request in
            HTTPResponse(
                status: 200,
                headers: [.cacheControl: "max-age=60"],
                body: HTTPBody(request.headers[.authorization] ?? "-"),
                url: request.url
            )
        }
        let chain = InterceptorChain(
            [.bearerAuth(for: apiOrigin) { token.value }, .cache(.memory())],
            transport: server
        )
        for name in ["ada", "bob", "ada"] {
            token.value = name
            let response = try await chain.send(HTTPRequest(url: apiURL))
            #expect(try await response.body.collect(upTo: 100) == Data("Bearer \(name)".utf8))
        }
        #expect(server.requests.count == 2, "The third response is Ada's stored one.")
    }

    @Test(arguments: ["", "two words", "line\r\nbreak", " padded"])
    func textThatIsNoTokenIsNotSent(token: String) async throws {
        let server = TokenServer(accepting: [])
        for bearer in [AnyInterceptor.bearerAuth(token, for: apiOrigin), .bearerAuth(for: apiOrigin) { token }] {
            let error = await #expect(throws: AuthenticationError.self) {
                try await InterceptorChain([bearer], transport: server).get()
            }
            #expect(error?.code == .invalidCredential)
            #expect(token.isEmpty || "\(String(describing: error))".contains(token) == false)
            // Another origin gets no token, whatever it is.
            let other = URL(string: "https://other.example/")!
            #expect(try await InterceptorChain([bearer], transport: server).get(other) == 401)
        }
    }

    @Test func closureIsAskedForEachRequestAndMayHaveNoToken() async throws {
        let (asked, token) = (Tally(), Shared<String?>(nil))
        let server = TokenServer(accepting: ["new"])
        let chain = InterceptorChain(
            [
                .bearerAuth(for: apiOrigin) {
                    asked.count()
                    return token.value
                }
            ],
            transport: server
        )
        #expect(try await chain.get() == 401)
        token.value = "new"
        #expect(try await chain.get() == 200)
        #expect(server.authorizations == ["-", "Bearer new"])
        #expect(asked.count() == 3)
    }

    @Test func errorOfTheClosureFailsTheRequestUnsent() async throws {
        let server = TokenServer(accepting: [])
        let chain = InterceptorChain([.bearerAuth(for: apiOrigin) { throw RefreshRefused() }], transport: server)
        await #expect(throws: RefreshRefused.self) { try await chain.get() }
        #expect(server.requests.value.isEmpty)
    }

    @Test func closureMaySendRequestsThroughTheSameChain() async throws {
        let server = TokenServer(accepting: ["new"])
        let chain = Shared<InterceptorChain?>(nil)
        let bearer: AnyInterceptor = .bearerAuth(for: apiOrigin) {
            // With a single permit, a request of the closure that waited for one would wait forever.
            let status = try await chain.value?.get()
            #expect(status == 401)
            return "new"
        }
        chain.value = InterceptorChain([.limitConcurrency(1), bearer], transport: server)
        #expect(try await chain.value?.get() == 200)
        #expect(server.authorizations == ["-", "Bearer new"])
    }

    @Test func taskThatTheClosureLeavesBehindIsNoPartOfIt() async throws {
        let server = TokenServer(accepting: ["new"])
        let (chain, gate) = (Shared<InterceptorChain?>(nil), Gate())
        let left = Shared<Task<HTTPResponse.Status?, any Error>?>(nil)
        chain.value = InterceptorChain(
            [
                .bearerAuth(for: apiOrigin) {
                    if left.value == nil {
                        left.value = Task {
                            await gate.opened()
                            return try await chain.value?.get()
                        }
                    }
                    return "new"
                }
            ],
            transport: server
        )
        #expect(try await chain.value?.get() == 200)
        gate.open()
        #expect(try await left.value?.value == 200)
        #expect(server.authorizations == ["Bearer new", "Bearer new"])
    }

    @Test func logInOutsideIsFollowedByANewQuestion() async throws {
        let (server, token) = (TokenServer(accepting: ["new"]), Shared("old"))
        let chain = InterceptorChain(
            [
                .retryOnUnauthorized(origins: [apiOrigin]) { token.value = "new" },
                .bearerAuth(for: apiOrigin) { token.value },
            ],
            transport: server
        )
        #expect(try await chain.get() == 200)
        #expect(server.authorizations == ["Bearer old", "Bearer new"])
    }

    @Test func tokenIsNotPrinted() {
        let bearer: AnyInterceptor = .bearerAuth("s3cr3t", for: apiOrigin)
        var text = "\(bearer) \(String(reflecting: bearer))"
        dump(bearer, to: &text)
        #expect(!text.contains("s3cr3t"))
    }

    @Test func closureIsNotAskedForARequestThatMustNotBeSent() async throws {
        let asked = Tally()
        let server = TokenServer(accepting: ["old"])
        let chain = InterceptorChain(
            [
                .bearerAuth(for: apiOrigin) {
                    asked.count()
                    return "old"
                },
                .cache(.memory()),
            ],
            transport: server
        )
        var offline = HTTPRequest(url: apiURL)
        offline.context.cacheMode = .offline
        #expect(try await chain.send(offline).status == 504)
        #expect(asked.value == 0)
        _ = try await chain.get()
        #expect(asked.value == 1)
        _ = try await chain.send(offline)
        #expect(asked.value == 1)
    }

    @Test func offlineRequestAfterAnAccountChangeGetsNoResponseOfTheOtherAccount() async throws {
        let account = Mutex<String?>("ada")
        let server = Recorder { request in
            HTTPResponse(
                status: 200,
                headers: [.cacheControl: "max-age=60"],
                body: HTTPBody(request.headers[.authorization] ?? "nobody")
            )
        }
        let chain = InterceptorChain(
            [.bearerAuth(for: apiOrigin) { account.withLock { $0 } }, .cache(.memory())],
            transport: server
        )
        let stored = try await chain.send(HTTPRequest(url: apiURL))
        #expect(stored.body.data == Data("Bearer ada".utf8))
        for next in [nil, "bob"] as [String?] {
            account.withLock { $0 = next }
            let offline = HTTPRequest(url: apiURL, context: .with(\.cacheMode, .offline))
            #expect(try await chain.send(offline).status == 504)
        }
    }

    @Test func offlineRequestWithAPartitionFindsItsResponse() async throws {
        let chain = InterceptorChain(
            [.bearerAuth(for: apiOrigin) { "ada" }, .cache(.memory())],
            transport: Recorder { _ in
                HTTPResponse(status: 200, headers: [.cacheControl: "max-age=60"], body: "stored")
            }
        )
        let named = HTTPContext.with(\.cachePartition, "ada")
        _ = try await chain.send(HTTPRequest(url: apiURL, context: named))
        let offline = HTTPRequest(url: apiURL, context: named.with(\.cacheMode, .offline))
        #expect(try await chain.send(offline).body.data == Data("stored".utf8))
    }

    @Test func cancellationInsideTheClosureDoesNotMakeTheCallLookCancelled() async throws {
        let chain = InterceptorChain(
            [.bearerAuth(for: apiOrigin) { throw CancellationError() }],
            transport: TokenServer(accepting: ["old"])
        )
        let error = await #expect(throws: AuthenticationError.self) { try await chain.get() }
        #expect(error?.code == .refreshCancelled)
    }
}
