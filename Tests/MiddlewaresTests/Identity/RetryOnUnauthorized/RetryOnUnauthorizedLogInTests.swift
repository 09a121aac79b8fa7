import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// `retryOnUnauthorized` with a closure, for credentials other than bearer tokens.
@Suite(.againstHanging)
struct RetryOnUnauthorizedLogInTests {
    /// A server with cookie sessions, and the interceptor that sends the cookie.
    private struct CookieAPI {
        let session = Shared("stale")
        let logIns = Tally()
        let server: TokenServer

        init(onRequest: @escaping @Sendable (HTTPRequest) async throws -> Void = { _ in }) {
            server = TokenServer(accepting: ["good"], onRequest: onRequest)
        }

        func logIn() {
            logIns.count()
            session.value = "good"
        }

        func chain(_ retry: any Interceptor) -> InterceptorChain {
            let cookies: AnyInterceptor = .intercept { [session] request, next in
                var request = request
                request.headers[.authorization] = "Cookie \(session.value)".replacing("Cookie ", with: "Bearer ")
                return try await next(request)
            }
            return InterceptorChain([retry, cookies], transport: server)
        }
    }

    @Test func parallel401sCauseOneLogIn() async throws {
        let count = 1000
        let (arrived, allWait) = (Tally(), Latch())
        let api = CookieAPI { request in
            guard request.headers[.authorization] == "Bearer stale" else { return }
            arrived.count()
            await arrived.reached(count)
        }
        var options = TokenStore.Options()
        options.observe = opening(allWait, when: count)
        let logIn: @Sendable () async throws -> Void = {
            await allWait.opened()
            api.logIn()
        }
        let chain = api.chain(.retryOnUnauthorized(TokenStore(nil, nil, options, .system, .logIn(logIn))))
        try await withThrowingTaskGroup { group in
            for _ in 0..<count { group.addTask { try await chain.get() } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(api.logIns.value == 1)
        #expect(api.server.requests.value.count == 2 * count)
    }

    @Test func late401OfARequestFromBeforeTheLogInIsJustSentAgain() async throws {
        let late = URL(string: "https://api.example.com/late")!
        let (arrived, mayAnswer) = (Latch(), Latch())
        let api = CookieAPI { request in
            guard request.url == late else { return }
            arrived.open()
            await mayAnswer.opened()
        }
        let chain = api.chain(.retryOnUnauthorized { api.logIn() })
        async let status = chain.get(late)
        await arrived.opened()
        #expect(try await chain.get() == 200)
        mayAnswer.open()
        #expect(try await status == 200)
        #expect(api.logIns.value == 1)
    }

    @Test func sessionThatEndsAgainIsBegunAgain() async throws {
        let api = CookieAPI()
        let chain = api.chain(.retryOnUnauthorized { api.logIn() })
        #expect(try await chain.get() == 200)
        api.session.value = "stale"
        #expect(try await chain.get() == 200)
        #expect(api.logIns.value == 2)
    }

    @Test func logInThatDoesNotHelpSurfacesThe401() async throws {
        let api = CookieAPI()
        let chain = api.chain(.retryOnUnauthorized { api.logIns.count() })
        #expect(try await chain.get() == 401)
        #expect(api.logIns.value == 1)
    }

    @Test func failedLogInFailsTheRequestAndTheNextTriesAnew() async throws {
        let api = CookieAPI()
        let chain = api.chain(
            .retryOnUnauthorized {
                if api.logIns.value == 0 {
                    api.logIns.count()
                    throw RefreshRefused()
                }
                api.logIn()
            }
        )
        await expectRefreshFailed(RefreshRefused()) { try await chain.get() }
        #expect(try await chain.get() == 200)
    }

    @Test func logInThroughTheSameChainNeitherWaitsOnItselfNorRecurses() async throws {
        let api = CookieAPI()
        let chain = Shared<InterceptorChain?>(nil)
        chain.value = api.chain(
            .retryOnUnauthorized {
                #expect(Task.isRefreshingCredential)
                let status = try await chain.value?.get()
                #expect(status == 401)
                api.logIn()
            }
        )
        #expect(try await chain.value?.get() == 200)
        #expect(api.logIns.value == 1)
        chain.value = nil
    }

    @Test func oneInterceptorInTwoChainsLogsInOnce() async throws {
        let api = CookieAPI()
        let retry: AnyInterceptor = .retryOnUnauthorized { api.logIn() }
        #expect(try await api.chain(retry).get() == 200)
        api.session.value = "good"
        #expect(try await api.chain(retry).get() == 200)
        #expect(api.logIns.value == 1)
    }

    @Test func anotherOrigins401CausesNoLogIn() async throws {
        let api = CookieAPI()
        let chain = api.chain(.retryOnUnauthorized { Issue.record("Not our 401.") })
        var request = HTTPRequest(url: URL(string: "https://other.example.com/")!)
        request.context.clientOrigin = apiOrigin
        #expect(try await chain.send(request).status == 401)
        let named = api.chain(.retryOnUnauthorized(origins: [apiOrigin]) { Issue.record("Not our 401.") })
        #expect(try await named.get(request.url) == 401)
    }

    @Test func hopToAnotherOriginThatIsRejectedCausesNoLogIn() async throws {
        let elsewhere = URL(string: "https://other.example.com/")
        let chain = InterceptorChain(
            [.retryOnUnauthorized { Issue.record("Not our 401.") }],
            transport: InterceptorChain(
                [.intercept { _, _ in HTTPResponse(status: 401, url: elsewhere) }],
                transport: TokenServer(accepting: [])
            )
        )
        #expect(try await chain.get() == 401)
    }
}
