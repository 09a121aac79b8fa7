import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// When the user changes, responses under way reach neither the next user nor the next user's store.
@Suite(.againstHanging) struct AccountChangeTests {
    private let server = Recorder { request in
        HTTPResponse(
            status: 200,
            headers: [.cacheControl: "max-age=3600"],
            body: HTTPBody(request.headers[.authorization] ?? ""),
            url: request.url
        )
    }

    /// A server that asks for a user's password.
    private static func passwordServer(of user: Shared<String>) -> Recorder {
        Recorder { request in
            let field = request.headers[.authorization] ?? ""
            guard isCredential(of: user.value, field) else {
                return HTTPResponse(status: 401, headers: [.wwwAuthenticate: "Basic realm=r"], url: request.url)
            }
            return HTTPResponse(status: 200, body: HTTPBody(field), url: request.url)
        }
    }

    private func get(_ chain: InterceptorChain) async throws -> String {
        let response = try await chain.send(HTTPRequest(url: apiURL))
        return String(decoding: response.body.data ?? Data(), as: UTF8.self)
    }

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
        let request = HTTPRequest(url: apiURL)
        _ = try await tokens.value(rejecting: tokens.generation, for: request, because: "it has expired")
        #expect(tokens.current?.account == "ada" && tokens.current?.value == "Ada 2")
        #expect(try await get(tokenChain(tokens, store)).contains("Ada"))
        #expect(server.requests.count == 1)
    }

    @Test func requestOfOneAccountIsNotSentAgainWithTheTokenOfAnother() async throws {
        let tokens = TokenStore(.init("Ada", account: "ada"), origins: [apiOrigin]) { _ in .init("renewed") }
        let rejecting = Recorder { request in
            if request.headers[.authorization] == "Bearer Ada" {
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
            if request.headers[.cookie] == "sid=ada" {
                jar.removeAll()
                jar.insert(Cookie(name: "sid", value: "bob", domain: "api.example.com"))
                return HTTPResponse(
                    status: 200,
                    headers: [.setCookie: "sid=ada-renewed; Path=/"],
                    url: request.url
                )
            }
            return HTTPResponse(
                status: 200,
                headers: [.setCookie: "sid=bob-renewed; Path=/"],
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
        let session = PasswordSession()
        let auth = AnyInterceptor.httpAuth(schemes: [.basic], origins: [apiOrigin], session: session) { _, _ in
            PasswordCredential(username: user.value, password: "x")
        }
        let server = Self.passwordServer(of: user)
        let chain = InterceptorChain([auth], transport: server)
        #expect(isCredential(of: "Ada", try await get(chain)))
        user.value = "Bob"
        session.signOut()
        #expect(isCredential(of: "Bob", try await get(chain)))
        #expect(server.requests.map { $0.headers.contains(.authorization) } == [false, true, false, true])
    }

    @Test func oneSignOutEndsTheSessionInAllItsInterceptors() async throws {
        let (user, session) = (Shared("Ada"), PasswordSession())
        let chains = (0..<2).map { _ in
            InterceptorChain(
                [
                    .httpAuth(origins: [apiOrigin], session: session) { _, _ in
                        PasswordCredential(username: user.value, password: "x")
                    }
                ],
                transport: Self.passwordServer(of: user)
            )
        }
        for name in ["Ada", "Bob"] {
            user.value = name
            session.signOut()
            for chain in chains { #expect(isCredential(of: name, try await get(chain))) }
        }
    }

    @Test func interceptorsOfASessionShareNoCredential() async throws {
        let (user, session) = (Shared("Ada"), PasswordSession())
        let credentials: @Sendable (String, Origin) async throws -> PasswordCredential? = { _, _ in
            PasswordCredential(username: "Ada", password: "x")
        }
        let basic: AnyInterceptor = .httpAuth(
            schemes: [.basic],
            origins: [apiOrigin],
            session: session,
            credentials: credentials
        )
        _ = try await get(InterceptorChain([basic], transport: Self.passwordServer(of: user)))
        let digest: AnyInterceptor = .httpAuth(
            schemes: [.digest],
            origins: [apiOrigin],
            session: session,
            credentials: credentials
        )
        let other = Self.passwordServer(of: user)
        #expect(try await InterceptorChain([digest], transport: other).get() == 401)
        #expect(other.requests.map { $0.headers.contains(.authorization) } == [false])
    }

    @Test func requestFromBeforeASignOutIsNotAnsweredWithTheNextUsersPassword() async throws {
        let user = Shared("Ada")
        let session = PasswordSession()
        let auth = AnyInterceptor.httpAuth(schemes: [.basic], origins: [apiOrigin], session: session) { _, _ in
            user.value = "Bob"
            session.signOut()
            return PasswordCredential(username: user.value, password: "x")
        }
        let server = Self.passwordServer(of: user)
        #expect(try await InterceptorChain([auth], transport: server).get() == 401)
        #expect(server.requests.count == 1)
    }

    @Test func responseToARequestWithoutItsTokenIsNotStoredForTheAccount() async throws {
        let tokens = TokenStore(.init("Ada", account: "ada"), origins: [apiOrigin]) { _ in throw CancellationError() }
        let store = MemoryCacheStore()
        var request = HTTPRequest(url: apiURL)
        request.context.authorization = .omitted
        _ = try await tokenChain(tokens, store).send(request)
        #expect(try await store.listing().map(\.key.partition) == ["(no token)"])
        #expect(try await get(tokenChain(tokens, store)).contains("Ada"))
    }
}
