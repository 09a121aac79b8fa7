import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging)
struct RetryOnUnauthorizedInterceptorTests {
    @Test func parallel401sCauseExactlyOneRefresh() async throws {
        let count = 10_000
        let (arrived, refreshes, allWait) = (Tally(), Tally(), Latch())
        let server = TokenServer(accepting: ["new"]) { request in
            guard request.headers[.authorization] == "Bearer old" else { return }
            arrived.count()
            await arrived.reached(count)
        }
        let tokens = TokenStore(.old, origins: [apiOrigin], observe: opening(allWait, when: count)) { _ in
            refreshes.count()
            await allWait.opened()
            return .new
        }
        let chain = authenticatingChain(tokens, server)
        let statuses = try await withThrowingTaskGroup { group in
            for _ in 0..<count { group.addTask { try await chain.get() } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [200: count])
        #expect(refreshes.value == 1)
        #expect(server.requests.value.count == 2 * count)
    }

    @Test func lateUnauthorizedWithOldTokenRetriesWithoutRefresh() async throws {
        let (lateArrived, mayAnswer, refreshes) = (Latch(), Latch(), Tally())
        let late = URL(string: "https://api.example.com/late")!
        let server = TokenServer(accepting: ["new"]) { request in
            guard request.url == late, request.headers[.authorization] == "Bearer old" else { return }
            lateArrived.open()
            await mayAnswer.opened()
        }
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            refreshes.count()
            return .new
        }
        let chain = authenticatingChain(tokens, server)
        async let lateStatus = chain.get(late)
        await lateArrived.opened()
        #expect(try await chain.get() == 200)
        mayAnswer.open()
        #expect(try await lateStatus == 200)
        #expect(refreshes.value == 1)
        #expect(server.authorizations == ["Bearer old", "Bearer old", "Bearer new", "Bearer new"])
    }

    @Test func retryRunsTheRestOfTheChainAgainWithTheRequestAsItCame() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let runs = Tally()
        let chain = InterceptorChain(
            [
                .retryOnUnauthorized(tokens),
                .bearerAuth(tokens),
                .intercept { request, next in
                    var request = request
                    request.headers.append("X-Run", "\(runs.count())")
                    request.body = HTTPBody("changed")
                    return try await next(request)
                },
            ],
            transport: server
        )
        var request = HTTPRequest(method: .post, url: apiURL, body: "original")
        request.headers["X-Own"] = "kept"
        #expect(try await chain.send(request).status == 200)
        #expect(server.requests.value.map { $0.headers[values: "X-Run"] } == [["1"], ["2"]])
        #expect(server.requests.value.map { $0.headers["X-Own"] } == ["kept", "kept"])
        #expect(server.authorizations == ["Bearer old", "Bearer new"])
    }

    @Test func refreshThroughTheSameChainNeitherWaitsOnItselfNorRecurses() async throws {
        let logIn = URL(string: "https://api.example.com/login")!
        let server = TokenServer(accepting: ["new"])
        let chain = Shared<InterceptorChain?>(nil)
        let refreshes = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            refreshes.count()
            #expect(Task.isRefreshingCredential)
            // The log-in carries no token, so the server answers 401. The refresh sees this 401; it starts no other
            // refresh.
            let status = try await chain.value?.get(logIn)
            #expect(status == 401)
            return .new
        }
        chain.value = authenticatingChain(tokens, server)
        #expect(try await chain.value?.get() == 200)
        #expect(refreshes.value == 1)
        #expect(server.authorizations == ["Bearer old", "-", "Bearer new"])
        #expect(!Task.isRefreshingCredential)
    }

    @Test func refreshOfOneStoreMayNeedTheRefreshOfAnother() async throws {
        let logIn = URL(string: "https://login.example.com/token")!
        let server = TokenServer(accepting: ["new", "machine-new"])
        let machine = TokenStore(.init("machine-old"), origins: [Origin(logIn)!]) { _ in .init("machine-new") }
        let machineChain = authenticatingChain(machine, server)
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            let status = try await machineChain.get(logIn)
            #expect(status == 200)
            return .new
        }
        #expect(try await authenticatingChain(tokens, server).get() == 200)
        #expect(server.authorizations == ["Bearer old", "Bearer machine-old", "Bearer machine-new", "Bearer new"])
    }

    @Test func taskThatOutlivesItsRefreshIsTreatedAsAnyOther() async throws {
        let server = TokenServer(accepting: ["new"])
        let chain = Shared<InterceptorChain?>(nil)
        let (refreshed, straggler) = (Latch(), Shared<Task<(Bool, HTTPResponse.Status?), any Error>?>(nil))
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            straggler.value = Task {
                await refreshed.opened()
                return (Task.isRefreshingCredential, try await chain.value?.get())
            }
            return .new
        }
        chain.value = authenticatingChain(tokens, server)
        #expect(try await chain.value?.get() == 200)
        refreshed.open()
        let (isCurrent, status) = try #require(try await straggler.value?.value)
        #expect(!isCurrent)
        #expect(status == 200)
    }

    @Test func unauthorizedAfterASuccessfulRefreshSurfacesWithoutALoop() async throws {
        let server = TokenServer(accepting: [])
        let refreshes = Tally()
        let clock = ManualClock()
        let tokens = TokenStore(.old, origins: [apiOrigin], time: .manual(clock)) { _ in
            .init("token \(refreshes.count())".filter { $0 != " " })
        }
        let chain = authenticatingChain(tokens, server)
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(response.status == 401)
        #expect(response.body.data == Data("401".utf8))
        #expect(refreshes.value == 1)
        clock.advance(by: .seconds(10))
        #expect(try await chain.get() == 401)
        #expect(refreshes.value == 2)
        #expect(server.authorizations == ["Bearer old", "Bearer token1", "Bearer token1", "Bearer token2"])
    }

    @Test func failedRefreshFailsEveryWaiterWithItsErrorAndTheNextRequestTriesAnew() async throws {
        let count = 100
        let (arrived, refreshes, allWait) = (Tally(), Tally(), Latch())
        let server = TokenServer(accepting: ["new"]) { _ in
            arrived.count()
            await arrived.reached(count)
        }
        let tokens = TokenStore(.old, origins: [apiOrigin], observe: opening(allWait, when: count)) { _ in
            if refreshes.count() > 1 { return .new }
            await allWait.opened()
            throw RefreshRefused(attempt: 1)
        }
        let chain = authenticatingChain(tokens, server)
        await withTaskGroup { group in
            for _ in 0..<count {
                group.addTask {
                    await expectRefreshFailed(RefreshRefused(attempt: 1)) { try await chain.get() }
                }
            }
        }
        #expect(refreshes.value == 1)
        #expect(tokens.current == .old)
        #expect(try await chain.get() == 200)
        #expect(refreshes.value == 2)
    }

    @Test func tokenThatTheServerRejectsIsRefreshedThoughTheClockThinksItValid() async throws {
        let server = TokenServer(accepting: ["new"])
        let valid = TokenStore.Token("old", expiresAt: Date(timeIntervalSince1970: 1_000_000))
        let tokens = TokenStore(valid, origins: [apiOrigin], time: TimeSource(now: { Date(timeIntervalSince1970: 0) }))
        { rejected in
            #expect(rejected == valid)
            return .new
        }
        #expect(try await authenticatingChain(tokens, server).get() == 200)
    }

    @Test func rejectionWithoutATokenAsksForTheFirst() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(origins: [apiOrigin]) { rejected in
            #expect(rejected == nil)
            return .new
        }
        #expect(try await authenticatingChain(tokens, server).get() == 200)
        #expect(server.authorizations == ["-", "Bearer new"])
    }

    @Test func rejectionFromAnotherOriginSurfaces() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            Issue.record("Another origin's 401 is not about this token.")
            return .new
        }
        let elsewhere = URL(string: "https://other.example.com/")!
        #expect(try await authenticatingChain(tokens, server).get(elsewhere) == 401)
        #expect(server.authorizations == ["-"])
    }

    @Test func rejectionOfTheRequestsOwnAuthorizationSurfaces() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            Issue.record("What the caller sent of its own is not the store's to refresh.")
            return .new
        }
        let request = HTTPRequest(url: apiURL, headers: [.authorization: "Basic QWxhZGRpbg=="])
        #expect(try await authenticatingChain(tokens, server).send(request).status == 401)
        #expect(server.authorizations == ["Basic QWxhZGRpbg=="])
    }

    @Test func rejectionOfARedirectedHopToAnotherOriginSurfaces() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            Issue.record("The hop that was rejected carried no token.")
            return .new
        }
        let elsewhere = URL(string: "https://other.example.com/")!
        let redirects: AnyInterceptor = .intercept { request, next in
            (try await next(request)).body.discard()
            var hop = request
            hop.url = elsewhere
            return try await next(hop)
        }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(tokens), redirects, .bearerAuth(tokens)],
            transport: server
        )
        #expect(try await chain.get() == 401)
        #expect(server.authorizations == ["Bearer old", "-"])
    }

    @Test func withoutBearerAuthInsideARejectionSurfaces() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain([.retryOnUnauthorized(tokens)], transport: TokenServer(accepting: ["new"]))
        #expect(try await chain.get() == 401)
    }

    @Test func wrongOrderIsExplainedBeforeAnythingIsSent() async throws {
        let server = TokenServer(accepting: ["old"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain([.bearerAuth(tokens), .retryOnUnauthorized(tokens)], transport: server)
        let error = await #expect(throws: AuthenticationError.self) { try await chain.get() }
        #expect(error?.code == .wrongOrder)
        #expect(error?.description.contains("[.retryOnUnauthorized(tokens), .bearerAuth(tokens)]") == true)
        #expect(server.requests.value.isEmpty)
    }

    @Test func secondInterceptorWithTheSameStoreAddsNoAttempt() async throws {
        let server = TokenServer(accepting: [])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(tokens), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .bearerAuth(tokens)],
            transport: server
        )
        #expect(try await chain.get() == 401)
        #expect(server.authorizations == ["Bearer old", "Bearer new"])
    }

    @Test func twoStoresInOneChainEachServeTheirOrigin() async throws {
        let server = TokenServer(accepting: ["a-new", "b-new"])
        let other = URL(string: "https://b.example.com/")!
        let a = TokenStore(.init("a-old"), origins: [apiOrigin]) { _ in .init("a-new") }
        let b = TokenStore(.init("b-old"), origins: [Origin(other)!]) { _ in .init("b-new") }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(a), .retryOnUnauthorized(b), .bearerAuth(a), .bearerAuth(b)],
            transport: server
        )
        #expect(try await chain.get() == 200)
        #expect(try await chain.get(other) == 200)
        #expect(server.authorizations == ["Bearer a-old", "Bearer a-new", "Bearer b-old", "Bearer b-new"])
    }

    @Test(arguments: [200, 204, 400, 403, 407, 500])
    func otherStatusesPass(code: Int) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            Issue.record("\(code) is no rejection.")
            return .new
        }
        let chain = authenticatingChain(tokens, StubTransport { _ in HTTPResponse(status: status) })
        #expect(try await chain.get() == status)
    }
}
