import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Testing

@testable import InterceptorsMiddlewares

/// Modes that forbid the network send nothing, whatever the chain.
@Suite(.againstHanging) struct CacheOfflineTests {
    private static let modes: [CacheMode] = [.offline, .onlyIfCached]
    private let server = Recorder { _ in HTTPResponse(status: 200, headers: [.cacheControl: "max-age=60"]) }

    private func request(_ mode: CacheMode, _ method: HTTPRequest.Method = .get) -> HTTPRequest {
        var request = HTTPRequest(method: method, url: apiURL)
        request.context.cacheMode = mode
        return request
    }

    @Test(arguments: modes)
    func withoutACacheTheTransportRefusesTheRequest(mode: CacheMode) async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .status(200))
        let chains: [[any Interceptor]] = [
            [], [.retry(.exponential(maxAttempts: 3)), .circuitBreaker(.consecutiveFailures(1))], [.coalesce()],
            [.hedge(after: .seconds(1))], [.followRedirects(), .cookies(), .validateStatus()],
        ]
        for interceptors in chains {
            let chain = InterceptorChain(interceptors, transport: stub)
            for method in [HTTPRequest.Method.get, .post] {
                let error = await #expect(throws: TransportError.self) { try await chain.send(request(mode, method)) }
                #expect(error?.code == .sendingForbidden)
                #expect(error?.message.contains("cacheMode \(mode)") == true)
                #expect(error?.message.contains(".cache(store)") == true)
            }
            #expect(try await chain.get() == 200, "The next request may be sent.")
        }
        #expect(stub.requests.count == chains.count)
    }

    @Test func aPullToRefreshFallsBackToTheStoredContent() async throws {
        let stub = StubTransport()
        let api = Client(baseURL: apiURL, interceptors: [.validateStatus(), .cache(.memory())], transport: stub)
        func refreshed() async throws -> (films: [Int], isOld: Bool) {
            do {
                return (try await api.get("films", context: .with(\.cacheMode, .revalidate)), false)
            } catch  where error.isDisconnection {
                return (try await api.get("films", context: .with(\.cacheMode, .offline)), true)
            }
        }
        stub.enqueue(.json("[1]"))
        #expect(try await refreshed() == ([1], false))
        stub.enqueue(.failure(TransportError(.offline, "No network.")))
        #expect(try await refreshed() == ([1], true))
        stub.enqueue(.json("[2]"))
        #expect(try await refreshed() == ([2], false))
        stub.enqueue(.status(500))
        await #expect(throws: StatusError.self) { try await refreshed() }
    }

    @Test func modeThatSendsTakesTheRefusalBackAndLeavesAnother() {
        var context = HTTPContext()
        context.cacheMode = .offline
        #expect(context.sendingForbidden != nil)
        context.cacheMode = .onlyIfCached
        #expect(context.sendingForbidden?.contains("onlyIfCached") == true)
        context.cacheMode = .reload
        #expect(context.sendingForbidden == nil)
        context.sendingForbidden = "Roaming."
        context.cacheMode = .revalidate
        #expect(context.sendingForbidden == "Roaming.")
    }

    @Test(arguments: modes)
    func cacheInAChainWithinTheChainAnswers(mode: CacheMode) async throws {
        let inner = InterceptorChain([.cache(.memory())], transport: server)
        let chain = InterceptorChain([.retry(.exponential(maxAttempts: 3))], transport: inner)
        #expect(try await chain.send(request(mode)).status == 504)
        #expect(try await chain.get() == 200)
        #expect(try await chain.send(request(mode)).status == 200)
        #expect(try await chain.send(request(mode, .post)).status == 504)
        #expect(server.requests.count == 1)
    }

    @Test func expiredTokenIsNotRefreshedForARequestThatSendsNothing() async throws {
        let refreshes = Tally()
        let now = Shared(Date(timeIntervalSince1970: 0))
        let tokens = TokenStore(
            .init("token", expiresAt: Date(timeIntervalSince1970: 1_000)),
            origins: [apiOrigin],
            time: TimeSource(now: { now.value })
        ) { _ in
            refreshes.count()
            return .new
        }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .cache(.memory())],
            transport: server
        )
        #expect(try await chain.get() == 200)
        now.value = Date(timeIntervalSince1970: 5_000)
        let response = try await chain.send(request(.offline))
        #expect(response.status == 200)
        #expect(response.context.cacheOutcome?.result != .miss)
        #expect((refreshes.value, server.requests.count) == (0, 1))
        #expect(try await chain.get() == 200)
        #expect((refreshes.value, server.requests.count) == (1, 2))
    }

    @Test func firstTokenIsNotFetchedForARequestThatSendsNothing() async throws {
        let tokens = TokenStore(origins: [apiOrigin], options: .init(fetchesFirstToken: true)) { _ in
            Issue.record("A refresh was begun.")
            return .new
        }
        let chain = InterceptorChain([.bearerAuth(tokens), .cache(.memory())], transport: server)
        #expect(try await chain.send(request(.offline)).status == 504)
        #expect(server.requests.isEmpty)
    }

    @Test func refusedPostIsKnownToHaveChangedNothing() async throws {
        let store = MemoryCacheStore()
        let chain = InterceptorChain([.cache(store)], transport: server)
        #expect(try await chain.get() == 200)
        let forbidding = InterceptorChain(
            [
                .cache(store),
                .intercept { request, next in
                    var request = request
                    request.context.sendingForbidden = "Roaming."
                    return try await next(request)
                },
            ],
            transport: StubTransport()
        )
        let post = HTTPRequest(method: .post, url: apiURL)
        await #expect(throws: TransportError.self) { try await forbidding.send(post) }
        #expect(store.count == 1)
    }
}
