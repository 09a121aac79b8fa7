import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

// Interceptors in the place of delegates, plugins and retriers.
extension MigrationRows {
    private struct Language: Interceptor {
        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            request.headers[.acceptLanguage] = "de"
            return try await next(request)
        }
    }

    static let chains: [String: Check] = [
        "RequestInterceptor, RequestAdapter": interceptor, "PluginType": interceptor,
        "endpointClosure, requestClosure": interceptor, "Interceptor(interceptors:)": group,
        "RequestRetrier, RetryPolicy": retry, "validate()": status, "validationType": status,
        "Authenticator, AuthenticationInterceptor": renewal, "AccessTokenPlugin": token,
        "a delegate that provides the token": token, "a delegate that hears of a 401": logIn,
        "CredentialsPlugin": password, "delegate: Basic and Digest challenges": password,
        "a signature in a field or the query": signature, "HTTPCookieStorage": cookies,
        "URLCache, cachePolicy": cache, "CachedResponseHandler": storedByChoice,
        "a table of ETags and data": confirmed, "an offline flag": offline,
        "delegate: redirects": redirects, "RedirectHandler": redirects, "trackInflights": coalesced,
        "OfflineRetrier": waiting, "NetworkReachabilityManager": path,
        "httpMaximumConnectionsPerHost": limited, "OperationQueue, maxConcurrentOperationCount": limited,
    ]

    private static let interceptor: Check = { () async throws in
        let requests = try await sent([Language()]) { _ = try await $0.get("/", as: User.self) }
        #expect(requests.first?.headers[.acceptLanguage] == "de")
    }

    private static let group: Check = { () async throws in
        let requests = try await sent([.group([Language(), .headers(["X-A": "1"])])]) { try await $0.get("/") }
        #expect(requests.first?.headers[.acceptLanguage] == "de")
        #expect(requests.first?.headers["X-A"] == "1")
    }

    private static let retry: Check = { () async throws in
        let retry: AnyInterceptor = .retry(.constant(.zero, maxAttempts: 3), when: .status(503))
        let requests = try await sent([retry], [.status(503), .status(503), ada]) {
            _ = try await $0.get("/", as: User.self)
        }
        #expect(requests.count == 3)
    }

    private static let status: Check = { () async throws in
        try await sent([.validateStatus()], [.status(404)]) { (api) async throws in
            let error = await #expect(throws: StatusError.self) { try await api.get("/") }
            #expect(error?.status == 404)
        }
    }

    private static let renewal: Check = { () async throws in
        let tokens = TokenStore(.init("old", refreshToken: "r1")) { rejected, api in
            try await api.post("/refresh", body: ["token": rejected?.refreshToken])
            return TokenStore.Token("new")
        }
        let requests = try await sent(
            [.retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            [.status(401), .status(204), ada]
        ) { _ = try await $0.get("/users/42", as: User.self) }
        #expect(requests.map { $0.headers[.authorization] } == ["Bearer old", nil, "Bearer new"])
    }

    private static let token: Check = { () async throws in
        let auths: [AnyInterceptor] = [.bearerAuth { "t1" }, .bearerAuth(TokenStore(.init("t1")) { _ in .init("t2") })]
        for auth in auths {
            let requests = try await sent([auth]) { _ = try await $0.get("/", as: User.self) }
            #expect(requests.first?.headers[.authorization] == "Bearer t1")
        }
    }

    private static let logIn: Check = { () async throws in
        let (held, logIns) = (Shared("old"), Tally())
        let requests = try await sent(
            [
                .retryOnUnauthorized {
                    logIns.count()
                    held.change { $0 = "new" }
                },
                .bearerAuth { held.value },
            ],
            [.status(401), ada]
        ) { _ = try await $0.get("/", as: User.self) }
        #expect(requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(logIns.value == 1)
    }

    private static let password: Check = { () async throws in
        let auth: AnyInterceptor = .httpAuth { _, _ in PasswordCredential(username: "ada", password: "x") }
        let challenge = StubAnswer.status(401, headers: [.wwwAuthenticate: "Basic realm=\"a\""])
        let requests = try await sent([auth], [challenge, ada]) { _ = try await $0.get("/", as: User.self) }
        #expect(requests.last?.headers[.authorization] == "Basic YWRhOng=")
    }

    private static let signature: Check = { () async throws in
        let requests = try await sent(
            [
                .sign { request, _ in
                    request.headers["X-Signature"] = "s"
                    request.url.append(queryItems: [URLQueryItem(name: "sig", value: "s")])
                }
            ]
        ) { _ = try await $0.get("/", as: User.self) }
        #expect(requests.first?.headers["X-Signature"] == "s")
        #expect(requests.first?.url.query() == "sig=s")
    }

    private static let cookies: Check = { () async throws in
        try await withFile { file in
            let jar = CookieJar(file: file)
            let setting: HTTPFields = [.setCookie: "a=1; Max-Age=60"]
            try await sent([.cookies(jar)], [.status(204, headers: setting)]) { try await $0.get("/") }
            await jar.waitUntilPersisted()
            let requests = try await sent([.cookies(CookieJar(file: file))]) { try await $0.get("/") }
            #expect(requests.first?.headers[.cookie] == "a=1")
        }
    }

    private static func fresh(_ fields: HTTPFields = [.cacheControl: "max-age=60"]) -> StubAnswer {
        .json(#"{"id":42,"name":"Ada"}"#, headers: fields)
    }

    private static let cache: Check = { () async throws in
        let requests = try await sent([.cache(.memory())], [fresh(), fresh()]) {
            for mode: CacheMode in [.standard, .standard, .reload] {
                _ = try await $0.get("/", as: User.self, context: .with(\.cacheMode, mode))
            }
        }
        #expect(requests.count == 2)
    }

    private static let storedByChoice: Check = { () async throws in
        let cache: AnyInterceptor = .cache(.memory(), stores: { $0.headers["X-Private"] == nil })
        let kept: HTTPFields = [.cacheControl: "max-age=60", "X-Private": "1"]
        let requests = try await sent([cache], [fresh(kept), fresh()]) { (api) async throws in
            for _ in 0..<3 { _ = try await api.get("/", as: User.self) }
        }
        #expect(requests.count == 2)
    }

    private static let confirmed: Check = { () async throws in
        try await withFile { folder in
            let version: HTTPFields = [.eTag: "\"1\"", .cacheControl: "no-cache"]
            let answers: [StubAnswer] = [fresh(version), .status(304, headers: version)]
            let requests = try await sent([.cache(.disk(at: folder))], answers) { (api) async throws in
                for _ in 0..<2 { #expect(try await api.get("/", as: User.self) == User()) }
            }
            #expect(requests.last?.headers[.ifNoneMatch] == "\"1\"")
        }
    }

    private static let offline: Check = { () async throws in
        let requests = try await sent([.cache(.memory())], [fresh()]) {
            _ = try await $0.get("/", as: User.self)
            _ = try await $0.get("/", as: User.self, context: .with(\.cacheMode, .offline))
        }
        #expect(requests.count == 1)
    }

    private static let redirects: Check = { () async throws in
        let moved = StubAnswer.status(302, headers: [.location: "/v1/there"])
        let requests = try await sent([.followRedirects { request, _ in request }], [moved, ada]) {
            _ = try await $0.get("/here", as: User.self)
        }
        #expect(requests.map { $0.url.path() } == ["/v1/here", "/v1/there"])
        let stopped = try await sent([.followRedirects { _, _ in nil }], [moved]) { (api) async throws in
            #expect(try await api.send(HTTPRequest(url: base)).status == 302)
        }
        #expect(stopped.count == 1)
    }

    private static let coalesced: Check = { () async throws in
        let (joined, gate) = (Tally(), Latch())
        let coalesce = CoalesceInterceptor { if case .waiting = $0 { joined.count() } }
        let server = Recorder { request in
            await gate.opened()
            return HTTPResponse(status: 200, url: request.url)
        }
        let api = client([coalesce], server)
        let calls = (0..<5).map { _ in Task { try await api.send(HTTPRequest(url: base)) } }
        await joined.reached(5)
        gate.open()
        for call in calls { #expect(try await call.value.status == 200) }
        #expect(server.requests.count == 1)
    }

    private static let limited: Check = { () async throws in
        for (limit, most) in [(AnyInterceptor.limitConcurrency(perHost: 2), 2), (.limitConcurrency(4), 4)] {
            let (arrived, gate, running) = (Tally(), Latch(), Shared((now: 0, most: 0)))
            let server = Recorder { request in
                running.change { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                defer { running.change { $0.now -= 1 } }
                arrived.count()
                await gate.opened()
                return HTTPResponse(status: 200, url: request.url)
            }
            let api = client([limit], server)
            let calls = (0..<8).map { _ in Task { try await api.send(HTTPRequest(url: base)) } }
            await arrived.reached(most)
            gate.open()
            for call in calls { #expect(try await call.value.status == 200) }
            #expect(running.value.most == most)
        }
    }

    private static let waiting: Check = { () async throws in
        let (clock, network) = (ManualClock(), NetworkPathMonitor(.unsatisfied))
        let wait: AnyInterceptor = .waitForNetwork(upTo: .seconds(5), monitor: network, time: .manual(clock))
        let api = client([.retry(maxAttempts: 3, time: .manual(clock)), wait], .stub(ada))
        #expect(try await clock.run { try await api.get("/", as: User.self) } == User())
        #expect(clock.now.elapsed == .seconds(5))
    }

    private static let path: Check = { () async throws in
        let network = NetworkPathMonitor(.unsatisfied)
        network.update(.satisfied)
        #expect(network.path.isSatisfied == true)
    }
}
