import Foundation
import Testing
import TransportTesting

@testable import Middlewares

/// Where a cache or `coalesce` is outside of what adds credentials, nothing is sent and nobody gets another's response.
@Suite(.againstHanging) struct ChainOrderTests {
    /// An interceptor of an author's own.
    struct APIKeyInterceptor: Interceptor {
        let key: Shared<String>

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try request.identifyCaller(by: "apiKey", as: key.value)
            request.headerFields["X-Anything"] = key.value
            return try await next(request)
        }
    }

    /// What adds the credential of an account that can be changed.
    struct Account: Sendable, CustomTestStringConvertible {
        let element: String
        let interceptors: [any Interceptor]
        let signIn: @Sendable (String) -> Void
        /// Whom the server takes for the right one, if it asks for a password.
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
                let scheme: PasswordAuthInterceptor.Scheme = self == .basicAuth ? .basic : .digest
                let accounts = ["nobody", "Ada", "Bob"].map { user in
                    let credential = PasswordCredential(username: user, password: "x")
                    return (
                        user, PasswordAuthInterceptor(schemes: [scheme], origins: [apiOrigin]) { _, _ in credential }
                    )
                }
                let auths = Dictionary(uniqueKeysWithValues: accounts)
                let current: some Interceptor = .intercept { request, next in
                    guard let auth = auths[user.value] else { return HTTPResponse(status: 500) }
                    return try await auth.intercept(request, next: next)
                }
                return Account(element: rawValue, interceptors: [current], signIn: set, user: user)
            case .sign:
                let sign: SignInterceptor = .sign(origins: [apiOrigin]) { request, _ in
                    request.headerFields["Signature"] = user.value
                }
                return Account(element: "sign", interceptors: [sign], signIn: set)
            case .signInQuery:
                let sign: SignInterceptor = .sign(origins: [apiOrigin]) { request, _ in
                    request.url.append(queryItems: [URLQueryItem(name: "by", value: user.value)])
                }
                return Account(element: "sign", interceptors: [sign], signIn: set)
            case .apiKey:
                return Account(element: "apiKey", interceptors: [APIKeyInterceptor(key: user)], signIn: set)
            case .field:
                let headers: HeadersInterceptor = .headers { _ in ["X-API-Key": user.value] }
                return Account(element: "X-API-Key", interceptors: [headers], signIn: set)
            }
        }
    }

    /// A server that asks for the password of a user, and says to whom it answers.
    private static func server(of user: Shared<String>? = nil) -> Recorder {
        Recorder { request in
            let names: [HTTPField.Name] = [.authorization, .cookie, "Signature", "X-API-Key", "X-Anything"]
            let text = names.compactMap { request.headerFields[$0] }.joined() + (request.url.query() ?? "")
            if let user, !isOf(user.value, text) {
                let challenges = "Basic realm=r, Digest realm=r, nonce=n, qop=auth"
                return HTTPResponse(status: 401, headerFields: [.wwwAuthenticate: challenges], url: request.url)
            }
            return HTTPResponse(
                status: 200,
                headerFields: [.cacheControl: "max-age=3600"],
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
        return String(decoding: response.body.bytes ?? Data(), as: UTF8.self)
    }

    @Test(arguments: Kind.allCases)
    func cacheOutsideOfACredentialIsRefusedBeforeAnythingIsSent(kind: Kind) async throws {
        let account = kind.account()
        let chain = InterceptorChain([.cache(.memory())] + account.interceptors, transport: server)
        for user in ["Ada", "Bob"] {
            account.signIn(user)
            let error = await #expect(throws: ChainOrderError.self) { try await get(chain) }
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
                #expect(Self.isOf(user, text), "\(text)")
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
                #expect(Self.isOf(user, text), "\(text)")
            }
            counts.append(server.requests.count)
        }
        #expect(counts[0] == counts[1], "The second round is answered from the store.")
        #expect(Set(try await store.listing().map(\.key.partition)) == ["Ada", "Bob"])
        // While nobody can sign in.
        account.signIn("nobody")
        #expect(Self.isOf("Ada", try await get(chain, partition: "Ada")))
        await #expect(throws: ChainOrderError.self) { try await get(chain) }
    }

    private static func isOf(_ user: String, _ text: String) -> Bool {
        text.contains(user) || text.contains(Data("\(user):x".utf8).base64EncodedString())
    }

    @Test func emptyJarIsRefusedLikeAFullOne() async throws {
        let chain = InterceptorChain([.cache(.memory()), .cookies()], transport: server)
        await #expect(throws: ChainOrderError.self) { try await chain.get() }
        let elsewhere = InterceptorChain([.cache(.memory()), .cookies(origins: [])], transport: server)
        #expect(try await elsewhere.get() == 200)
    }

    @Test func requestsThatGoWithoutACredentialPass() async throws {
        let tokens = TokenStore(.new, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain([.cache(.memory()), .bearerAuth(tokens)], transport: server)
        var request = HTTPRequest(url: apiURL)
        request.context.authorization = .omitted
        #expect(try await chain.send(request).status == 200)
        request = HTTPRequest(url: apiURL, headerFields: [.authorization: "Bearer own"])
        #expect(try await chain.send(request).status == 200)
        #expect(try await chain.get(url("https://elsewhere.example.com/")) == 200)
        // A response that the cache never keeps may be anyone's.
        request = HTTPRequest(method: .post, url: apiURL)
        #expect(try await chain.send(request).status == 200)
        await #expect(throws: ChainOrderError.self) { try await chain.get() }
    }

    @Test func secondCacheInsideOfTheCredentialIsFineAndOneOutsideIsNot() async throws {
        let tokens = TokenStore(.new, origins: [apiOrigin]) { _ in .new }
        let right = InterceptorChain([.bearerAuth(tokens), .cache(.memory()), .cache(.memory())], transport: server)
        #expect(try await right.get() == 200)
        let wrong = InterceptorChain([.cache(.memory()), .bearerAuth(tokens), .cache(.memory())], transport: server)
        await #expect(throws: ChainOrderError.self) { try await wrong.get() }
        let nested = InterceptorChain(
            [.cache(.memory())],
            transport: InterceptorChain([.bearerAuth(tokens)], transport: server)
        )
        await #expect(throws: ChainOrderError.self) { try await nested.get() }
    }

    @Test func attemptsHedgesAndRedirectsInsideOfTheCacheAreRefusedLikeTheFirst() async throws {
        let tokens = TokenStore(.new, origins: [apiOrigin]) { _ in .new }
        let between: [any Interceptor] = [
            .retry(.exponential(maxAttempts: 3)), .hedge(after: .seconds(10)), .followRedirects(), sendTwice,
        ]
        for interceptor in between {
            let chain = InterceptorChain([.cache(.memory()), interceptor, .bearerAuth(tokens)], transport: server)
            await #expect(throws: ChainOrderError.self) { try await chain.get() }
        }
        #expect(server.requests.isEmpty)
        // The target of a redirect is an origin of the token, the request was for none.
        let redirecting = Recorder { request in
            request.url.host() == "elsewhere.example.com"
                ? HTTPResponse(status: 302, headerFields: [.location: "https://api.example.com/"], url: request.url)
                : HTTPResponse(status: 200)
        }
        let chain = InterceptorChain(
            [.cache(.memory()), .followRedirects(), .bearerAuth(tokens)],
            transport: redirecting
        )
        await #expect(throws: ChainOrderError.self) { try await chain.get(url("https://elsewhere.example.com/")) }
        #expect(redirecting.requests.count == 1)
    }

    @Test func staleResponseIsNotRevalidatedInTheBackgroundWithACredentialOfAnother() async throws {
        let clock = ManualClock()
        let tokens = TokenStore(.new, origins: [apiOrigin]) { _ in .new }
        let store = MemoryCacheStore()
        let plain = Recorder { _ in
            HTTPResponse(status: 200, headerFields: [.cacheControl: "max-age=1, stale-while-revalidate=60"])
        }
        _ = try await InterceptorChain([.cache(store, clock: clock)], transport: plain).get()
        let reports = Shared<[String]>([])
        let cache = CacheInterceptor(
            store: store,
            clock: clock,
            now: { Date(timeIntervalSinceNow: 5) },
            report: { error in reports.change { $0.append("\(error)") } }
        )
        #expect(try await InterceptorChain([cache, .bearerAuth(tokens)], transport: plain).get() == 200)
        await cache.core.revalidations.end()
        #expect(plain.requests.count == 1)
        #expect(reports.value.count == 1 && reports.value[0].contains("ChainOrderError"))
    }

    @Test func keyOfTheProgramMaySignInsideOfACache() async throws {
        let chain = InterceptorChain(
            [
                .cache(.memory()),
                .sign(HMACLikeSigner(), origins: [apiOrigin], identifiesCaller: false),
            ],
            transport: server
        )
        #expect(try await chain.get() == 200)
        #expect(try await chain.get() == 200)
        #expect(server.requests.count == 1 && server.requests[0].headerFields["Signature"] == "x")
    }

    private struct HMACLikeSigner: RequestSigner {
        func sign(_ request: inout HTTPRequest, at date: Date) { request.headerFields["Signature"] = "x" }
    }

    // MARK: A user who changes

    private func tokenChain(
        _ tokens: TokenStore,
        _ store: MemoryCacheStore,
        waiting gate: @escaping @Sendable () async -> Void = {}
    ) -> InterceptorChain {
        let wait: some Interceptor = .intercept { request, next in
            await gate()
            return try await next(request)
        }
        return InterceptorChain(
            [.partition(by: tokens), .cache(store), wait, .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            transport: server
        )
    }

    @Test func requestNamedForOneAccountIsNotSentWithTheTokenOfAnother() async throws {
        let tokens = TokenStore(.init("Ada", account: "ada"), origins: [apiOrigin]) { _ in throw CancellationError() }
        let store = MemoryCacheStore()
        let error = await #expect(throws: AuthenticationError.self) {
            try await get(
                tokenChain(tokens, store) {
                    tokens.signOut()
                    tokens.signIn(.init("Bob", account: "bob"))
                }
            )
        }
        #expect(error?.code == .signedOut)
        #expect(server.requests.isEmpty && store.count == 0)
        #expect(try await get(tokenChain(tokens, store)).contains("Bob"))
        tokens.signIn(.init("Ada-again", account: "ada"))
        #expect(try await get(tokenChain(tokens, store)).contains("Ada-again"))
        tokens.signOut()
        #expect(try await get(tokenChain(tokens, store)) == "")
        #expect(Set(try await store.listing().map(\.key.partition)) == ["ada", "bob", "(no token)"])
    }

    @Test func tokenWithoutAnAccountNamesNoPartition() async throws {
        let tokens = TokenStore(.init("Ada"), origins: [apiOrigin]) { _ in throw CancellationError() }
        let error = await #expect(throws: AuthenticationError.self) {
            try await get(tokenChain(tokens, MemoryCacheStore()))
        }
        #expect(error?.code == .unknownAccount)
        #expect(server.requests.isEmpty)
    }

    @Test func refreshedTokenIsOfTheSameAccountAndAStoredResponseOutlivesIt() async throws {
        let tokens = TokenStore(.init("Ada", account: "ada"), origins: [apiOrigin]) { _ in .init("Ada 2") }
        let store = MemoryCacheStore()
        #expect(try await get(tokenChain(tokens, store)).contains("Ada"))
        _ = try await tokens.refresher.value(rejecting: tokens.refresher.state.current.generation)
        #expect(tokens.current?.account == "ada" && tokens.current?.value == "Ada 2")
        #expect(try await get(tokenChain(tokens, store)).contains("Ada"))
        #expect(server.requests.count == 1)
    }

    @Test func requestOfOneAccountIsNotSentAgainWithTheTokenOfAnother() async throws {
        let tokens = TokenStore(.init("Ada", account: "ada"), origins: [apiOrigin]) { _ in .init("renewed") }
        let rejecting = Recorder { request in
            if request.headerFields[.authorization] == "Bearer Ada" {
                tokens.signIn(.init("Bob", account: "bob"))
                return HTTPResponse(status: 401, url: request.url)
            }
            return HTTPResponse(status: 200, url: request.url)
        }
        let chain = InterceptorChain([.retryOnUnauthorized(tokens), .bearerAuth(tokens)], transport: rejecting)
        let outcome = try? await chain.send(HTTPRequest(method: .post, url: apiURL, body: "Ada's")).status
        #expect(outcome != 200)
        #expect(rejecting.requests.count == 1)
        #expect(try await chain.get() == 200)
    }

    @Test func cookiesOfARequestFromBeforeASignOutAreNotKept() async throws {
        let jar = CookieJar()
        jar.insert(Cookie(name: "sid", value: "ada", domain: "api.example.com"))
        let late = Recorder { request in
            if request.headerFields[.cookie] == "sid=ada" {
                jar.removeAll()
                jar.insert(Cookie(name: "sid", value: "bob", domain: "api.example.com"))
                return HTTPResponse(
                    status: 200,
                    headerFields: [.setCookie: "sid=ada-renewed; Domain=api.example.com; Path=/"],
                    url: request.url
                )
            }
            return HTTPResponse(
                status: 200,
                headerFields: [.setCookie: "sid=bob-renewed; Domain=api.example.com; Path=/"],
                url: request.url
            )
        }
        let chain = InterceptorChain([.cookies(jar)], transport: late)
        #expect(try await chain.get() == 200)
        #expect(jar.cookies.map(\.value) == ["bob"])
        #expect(try await chain.get() == 200)
        #expect(jar.cookies.map(\.value) == ["bob-renewed"])
    }

    @Test func passwordOfTheLastUserIsForgottenAtASignOut() async throws {
        let user = Shared("Ada")
        let auth = PasswordAuthInterceptor(schemes: [.basic], origins: [apiOrigin]) { _, _ in
            PasswordCredential(username: user.value, password: "x")
        }
        let server = Self.server(of: user)
        let chain = InterceptorChain([auth], transport: server)
        #expect(Self.isOf("Ada", try await get(chain)))
        user.value = "Bob"
        auth.signOut()
        #expect(Self.isOf("Bob", try await get(chain)))
        #expect(server.requests.map { $0.headerFields.contains(.authorization) } == [false, true, false, true])
    }

    @Test func requestFromBeforeASignOutIsNotAnsweredWithTheNextUsersPassword() async throws {
        let user = Shared("Ada")
        let holder = Shared<PasswordAuthInterceptor?>(nil)
        let auth = PasswordAuthInterceptor(schemes: [.basic], origins: [apiOrigin]) { _, _ in
            user.value = "Bob"
            holder.value?.signOut()
            return PasswordCredential(username: user.value, password: "x")
        }
        holder.value = auth
        let server = Self.server(of: user)
        #expect(try await InterceptorChain([auth], transport: server).get() == 401)
        #expect(server.requests.count == 1)
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
        for _ in 0..<3 { await #expect(throws: ChainOrderError.self) { try await chain.get() } }
        #expect(count.value == 3)
    }
}
