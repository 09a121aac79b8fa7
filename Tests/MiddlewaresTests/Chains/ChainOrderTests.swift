import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// A cache or `coalesce` outside of an interceptor that adds credentials throws before anything is sent.
@Suite(.againstHanging) struct ChainOrderTests {
    /// An interceptor as a user of the package might write it.
    struct APIKeyInterceptor: Interceptor {
        let key: Shared<String>

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try request.identifyCaller(by: "apiKey", as: key.value)
            request.headers["X-Anything"] = key.value
            return try await next(request)
        }
    }

    /// Interceptors that add an account's credential. `signIn` changes the account.
    struct Account: Sendable, CustomTestStringConvertible {
        let element: String
        let interceptors: [any Interceptor]
        let signIn: @Sendable (String) -> Void
        /// The user whose password the server accepts, if it asks for one.
        var user: Shared<String>?
        var testDescription: String { element }
    }

    enum Kind: String, CaseIterable, Sendable {
        case bearerAuth, cookies, basicAuth, digestAuth, sign, signInQuery, apiKey, field

        func account() -> Account {
            let user = Shared("nobody")
            let set: @Sendable (String) -> Void = { user.value = $0 }
            switch self {
            case .bearerAuth:
                let tokens = TokenStore(origins: [apiOrigin]) { _ in throw CancellationError() }
                return Account(
                    element: "bearerAuth",
                    interceptors: [.retryOnUnauthorized(tokens), .bearerAuth(tokens)],
                    signIn: { user in
                        tokens.signOut()
                        tokens.signIn(.init(user))
                    }
                )
            case .cookies:
                let jar = CookieJar()
                return Account(element: "cookies", interceptors: [.cookies(jar)]) { user in
                    jar.removeAll()
                    jar.insert(Cookie(name: "sid", value: user, domain: "api.example.com"))
                }
            case .basicAuth, .digestAuth:
                let scheme: PasswordScheme = self == .basicAuth ? .basic : .digest
                let accounts = ["nobody", "Ada", "Bob"].map { user in
                    let credential = PasswordCredential(username: user, password: "x")
                    let auth = AnyInterceptor.httpAuth(schemes: [scheme], origins: [apiOrigin]) { _, _ in
                        credential
                    }
                    return (user, auth)
                }
                let auths = Dictionary(uniqueKeysWithValues: accounts)
                let current: some Interceptor = .intercept { request, next in
                    guard let auth = auths[user.value] else { return HTTPResponse(status: 500) }
                    return try await auth.intercept(request, next: next)
                }
                return Account(element: rawValue, interceptors: [current], signIn: set, user: user)
            case .sign:
                let sign: AnyInterceptor = .sign(origins: [apiOrigin]) { request, _ in
                    request.headers["Signature"] = user.value
                }
                return Account(element: "sign", interceptors: [sign], signIn: set)
            case .signInQuery:
                let sign: AnyInterceptor = .sign(origins: [apiOrigin]) { request, _ in
                    request.url.append(queryItems: [URLQueryItem(name: "by", value: user.value)])
                }
                return Account(element: "sign", interceptors: [sign], signIn: set)
            case .apiKey:
                return Account(element: "apiKey", interceptors: [APIKeyInterceptor(key: user)], signIn: set)
            case .field:
                let headers: AnyInterceptor = .headers { _ in ["X-API-Key": user.value] }
                return Account(element: "X-API-Key", interceptors: [headers], signIn: set)
            }
        }
    }

    /// A server that asks for a user's password, and answers with the credentials that it received.
    private static func server(of user: Shared<String>? = nil) -> Recorder {
        Recorder { request in
            let names: [HTTPField.Name] = [.authorization, .cookie, "Signature", "X-API-Key", "X-Anything"]
            let text = names.compactMap { request.headers[$0] }.joined() + (request.url.query() ?? "")
            if let user, !isCredential(of: user.value, text) {
                let challenges = "Basic realm=r, Digest realm=r, nonce=n, qop=auth"
                return HTTPResponse(status: 401, headers: [.wwwAuthenticate: challenges], url: request.url)
            }
            return HTTPResponse(
                status: 200,
                headers: [.cacheControl: "max-age=3600"],
                body: HTTPBody(text),
                url: request.url
            )
        }
    }

    private let server = Self.server()

    private func get(_ chain: InterceptorChain, partition: String? = nil) async throws -> String {
        var request = HTTPRequest(url: apiURL)
        request.context.cachePartition = partition
        let response = try await chain.send(request)
        return String(decoding: response.body.data ?? Data(), as: UTF8.self)
    }

    @Test(arguments: Kind.allCases)
    func cacheOutsideOfACredentialIsRefusedBeforeAnythingIsSent(kind: Kind) async throws {
        let account = kind.account()
        let chain = InterceptorChain([.cache(.memory())] + account.interceptors, transport: server)
        for user in ["Ada", "Bob"] {
            account.signIn(user)
            let error = await expectUnseenCaller { try await get(chain) }
            #expect(error?.code == .sharedResponse)
            let message = error?.message ?? ""
            #expect(message.hasPrefix("cache is outside of "))
            #expect(message.contains(account.element))
            #expect(message.contains("request.context.cachePartition = account.id"))
            #expect(!"\(try #require(error))".contains(user))
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func cacheInsideOfACredentialKeepsAccountsApart(kind: Kind) async throws {
        let account = kind.account()
        let server = Self.server(of: account.user)
        let store = MemoryCacheStore()
        let chain = InterceptorChain(account.interceptors + [.cache(store)], transport: server)
        for _ in 0..<2 {
            for user in ["Ada", "Bob"] {
                account.signIn(user)
                let text = try await get(chain)
                #expect(isCredential(of: user, text), "\(text)")
            }
        }
        #expect(store.count >= 2)
    }

    @Test(arguments: Kind.allCases, [false, true])
    func namedPartitionLetsTheCacheStandOutsideAndKeepsAccountsApart(kind: Kind, isCoalesced: Bool) async throws {
        let account = kind.account()
        let server = Self.server(of: account.user)
        let store = MemoryCacheStore()
        let outer: [any Interceptor] = isCoalesced ? [.coalesce(), .cache(store)] : [.cache(store), .coalesce()]
        let chain = InterceptorChain(outer + account.interceptors, transport: server)
        var counts: [Int] = []
        for _ in 0..<2 {
            for user in ["Ada", "Bob"] {
                account.signIn(user)
                let text = try await get(chain, partition: user)
                #expect(isCredential(of: user, text), "\(text)")
            }
            counts.append(server.requests.count)
        }
        #expect(counts[0] == counts[1], "The second round is answered from the store.")
        #expect(Set(try await store.listing().map(\.key.partition)) == ["Ada", "Bob"])
        // Nobody is signed in now.
        account.signIn("nobody")
        #expect(isCredential(of: "Ada", try await get(chain, partition: "Ada")))
        await expectUnseenCaller { try await get(chain) }
    }

    @Test func emptyJarIsRefusedLikeAFullOne() async throws {
        let chain = InterceptorChain([.cache(.memory()), .cookies()], transport: server)
        await expectUnseenCaller { try await chain.get() }
        let elsewhere = InterceptorChain([.cache(.memory()), .cookies(origins: [])], transport: server)
        #expect(try await elsewhere.get() == 200)
    }

    @Test func requestsThatGoWithoutACredentialPass() async throws {
        let tokens = TokenStore(.new, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain([.cache(.memory()), .bearerAuth(tokens)], transport: server)
        var request = HTTPRequest(url: apiURL)
        request.context.authorization = .omitted
        #expect(try await chain.send(request).status == 200)
        request = HTTPRequest(url: apiURL, headers: [.authorization: "Bearer own"])
        #expect(try await chain.send(request).status == 200)
        #expect(try await chain.get(url("https://elsewhere.example.com/")) == 200)
        // A cache never keeps the response to a POST, so no other caller can get it.
        request = HTTPRequest(method: .post, url: apiURL)
        #expect(try await chain.send(request).status == 200)
        await expectUnseenCaller { try await chain.get() }
    }

    @Test func secondCacheInsideOfTheCredentialIsFineAndOneOutsideIsNot() async throws {
        let tokens = TokenStore(.new, origins: [apiOrigin]) { _ in .new }
        let right = InterceptorChain([.bearerAuth(tokens), .cache(.memory()), .cache(.memory())], transport: server)
        #expect(try await right.get() == 200)
        let wrong = InterceptorChain([.cache(.memory()), .bearerAuth(tokens), .cache(.memory())], transport: server)
        await expectUnseenCaller { try await wrong.get() }
        let nested = InterceptorChain(
            [.cache(.memory())],
            transport: InterceptorChain([.bearerAuth(tokens)], transport: server)
        )
        await expectUnseenCaller { try await nested.get() }
    }

    @Test func attemptsHedgesAndRedirectsInsideOfTheCacheAreRefusedLikeTheFirst() async throws {
        let tokens = TokenStore(.new, origins: [apiOrigin]) { _ in .new }
        let between: [any Interceptor] = [
            .retry(.exponential(maxAttempts: 3)), .hedge(after: .seconds(10)), .followRedirects(), sendTwice,
        ]
        for interceptor in between {
            let chain = InterceptorChain([.cache(.memory()), interceptor, .bearerAuth(tokens)], transport: server)
            await expectUnseenCaller { try await chain.get() }
        }
        #expect(server.requests.isEmpty)
        // The first request goes to an origin without a token; the redirect leads to an origin with one.
        let redirecting = Recorder { request in
            request.url.host() == "elsewhere.example.com"
                ? HTTPResponse(status: 302, headers: [.location: "https://api.example.com/"], url: request.url)
                : HTTPResponse(status: 200)
        }
        let chain = InterceptorChain(
            [.cache(.memory()), .followRedirects(), .bearerAuth(tokens)],
            transport: redirecting
        )
        await expectUnseenCaller { try await chain.get(url("https://elsewhere.example.com/")) }
        #expect(redirecting.requests.count == 1)
    }

    @Test func staleResponseIsNotRevalidatedInTheBackgroundWithACredentialOfAnother() async throws {
        let clock = ManualClock()
        let tokens = TokenStore(.new, origins: [apiOrigin]) { _ in .new }
        let store = MemoryCacheStore()
        let plain = Recorder { _ in
            HTTPResponse(status: 200, headers: [.cacheControl: "max-age=1, stale-while-revalidate=60"])
        }
        _ = try await InterceptorChain([.cache(store, time: TimeSource(clock: clock))], transport: plain).get()
        let reports = Shared<[String]>([])
        let cache = CacheInterceptor(
            store: store,
            time: TimeSource(clock: clock, now: { Date(timeIntervalSinceNow: 5) }),
            report: { error in reports.change { $0.append("\(error)") } }
        )
        #expect(try await InterceptorChain([cache, .bearerAuth(tokens)], transport: plain).get() == 200)
        await cache.backgroundValidations.end()
        #expect(plain.requests.count == 1)
        #expect(reports.value.count == 1 && reports.value[0].contains("TransportError.sharedResponse"))
    }

    @Test func keyOfTheProgramMaySignInsideOfACache() async throws {
        let chain = InterceptorChain(
            [
                .cache(.memory()),
                .sign(
                    RequestSigner { request, _ in request.headers["Signature"] = "x" },
                    origins: [apiOrigin],
                    identifiesCaller: false
                ),
            ],
            transport: server
        )
        #expect(try await chain.get() == 200)
        #expect(try await chain.get() == 200)
        #expect(server.requests.count == 1 && server.requests[0].headers["Signature"] == "x")
    }

    @Test func refusedRequestIsNeitherRetriedNorCountedAgainstTheHost() async throws {
        let tokens = TokenStore(.new, origins: [apiOrigin]) { _ in .new }
        let breaker = CircuitBreakerInterceptor(.consecutiveFailures(1))
        let count = Tally()
        let counting: some Interceptor = .intercept { request, next in
            count.count()
            return try await next(request)
        }
        let chain = InterceptorChain(
            [.cache(.memory()), .retry(.exponential(maxAttempts: 3)), breaker, counting, .bearerAuth(tokens)],
            transport: server
        )
        for _ in 0..<3 { await expectUnseenCaller { try await chain.get() } }
        #expect(count.value == 3)
    }
}

/// Whether a text contains a user's name, or the name and the password "x" as basic credentials.
func isCredential(of user: String, _ text: String) -> Bool {
    text.contains(user) || text.contains(Data("\(user):x".utf8).base64EncodedString())
}
