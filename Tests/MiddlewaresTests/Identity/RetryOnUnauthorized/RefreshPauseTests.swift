import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// If a server rejects every new token, not every request causes a refresh.
@Suite(.againstHanging) struct RefreshPauseTests {
    private let clock = ManualClock()
    private let refreshes = Tally()

    private func tokens(
        _ initial: TokenStore.Token? = .old,
        pause: Duration = .seconds(10)
    ) -> TokenStore {
        TokenStore(initial, origins: [apiOrigin], options: .init(pause: pause), time: .manual(clock)) { [refreshes] _ in
            .init("new-\(refreshes.count())")
        }
    }

    @Test func twentyRequestsThatAreAlwaysRejectedMakeOneRefreshInAPause() async throws {
        let server = TokenServer(accepting: [])
        let chain = authenticatingChain(tokens(), server)
        for _ in 0..<20 { #expect(try await chain.get() == 401) }
        #expect(refreshes.value == 1)
        #expect(server.requests.value.count == 21)
        clock.advance(by: .milliseconds(9_999))
        #expect(try await chain.get() == 401)
        #expect(refreshes.value == 1)
        clock.advance(by: .milliseconds(1))
        for _ in 0..<20 { #expect(try await chain.get() == 401) }
        #expect(refreshes.value == 2)
    }

    @Test func aLateRejectionOfTheOldTokenUsesTheNewOneThatNoServerHasAcceptedYet() async throws {
        let (late, first) = (try url("https://api.example.com/late"), try url("https://api.example.com/first"))
        let (lateArrived, firstIsSentAgain, mayAnswerLate, mayAnswerFirst) = (Latch(), Latch(), Latch(), Latch())
        let server = TokenServer(accepting: ["new-1"]) { request in
            switch (request.url, request.headers[.authorization]) {
            case (late, "Bearer old"):
                lateArrived.open()
                await mayAnswerLate.opened()
            case (first, "Bearer new-1"):
                firstIsSentAgain.open()
                await mayAnswerFirst.opened()
            default: break
            }
        }
        let chain = authenticatingChain(tokens(), server)
        async let lateStatus = chain.get(late)
        await lateArrived.opened()
        async let firstStatus = chain.get(first)
        await firstIsSentAgain.opened()
        mayAnswerLate.open()
        #expect(try await lateStatus == 200)
        mayAnswerFirst.open()
        #expect(try await firstStatus == 200)
        #expect(refreshes.value == 1)
    }

    @Test func manyAtOnceWhoseNewTokenIsRejectedMakeOneRefresh() async throws {
        let server = TokenServer(accepting: [])
        let chain = authenticatingChain(tokens(), server)
        let statuses = try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await chain.get() } }
            return try await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(statuses == [401: 100])
        #expect(refreshes.value == 1)
    }

    @Test func aTokenThatWasAcceptedIsRefreshedAtOnceWhenItIsRejected() async throws {
        let server = TokenServer(accepting: ["new-1"])
        let chain = authenticatingChain(tokens(), server)
        #expect(try await chain.get() == 200)
        server.accepted.value = ["new-2"]
        #expect(try await chain.get() == 200)
        server.accepted.value = ["new-3"]
        #expect(try await chain.get() == 200)
        #expect(refreshes.value == 3)
    }

    @Test func anEndpointThatRejectsEveryTokenMakesOneRefreshInAPauseAlsoBesideOthersThatAccept() async throws {
        let server = Recorder { request in
            HTTPResponse(status: request.url.path == "/forbidden" ? 401 : 200, url: request.url)
        }
        let chain = authenticatingChain(tokens(), server)
        let forbidden = try url("https://api.example.com/forbidden")
        for _ in 0..<20 {
            #expect(try await chain.get(forbidden) == 401)
            #expect(try await chain.get() == 200)
        }
        #expect(refreshes.value == 1)
        clock.advance(by: .seconds(10))
        #expect(try await chain.get(forbidden) == 401)
        #expect(refreshes.value == 2)
    }

    @Test func aTokenThatIsAcceptedLaterIsRefreshedAfterThePause() async throws {
        let server = TokenServer(accepting: [])
        let chain = authenticatingChain(tokens(), server)
        #expect(try await chain.get() == 401)
        server.accepted.value = ["new-1"]
        #expect(try await chain.get() == 200)
        server.accepted.value = ["new-2"]
        #expect(try await chain.get() == 401)
        clock.advance(by: .seconds(10))
        #expect(try await chain.get() == 200)
        #expect(refreshes.value == 2)
    }

    @Test func serverThatAcceptsAnOlderTokenDoesNotEndThePause() async throws {
        let (arrived, gate) = (Latch(), Latch())
        let server = Recorder { request in
            switch request.url.path {
            case "/slow":
                arrived.open()
                await gate.opened()
                return HTTPResponse(status: 200, url: request.url)
            case "/down" where request.headers[.authorization] != "Bearer old":
                return HTTPResponse(status: 503, url: request.url)
            default: return HTTPResponse(status: 401, url: request.url)
            }
        }
        let chain = authenticatingChain(tokens(), server)
        let (slow, down) = (try url("https://api.example.com/slow"), try url("https://api.example.com/down"))
        async let late = chain.get(slow)
        await arrived.opened()
        #expect(try await chain.get(down) == 503)
        #expect(refreshes.value == 1)
        gate.open()
        #expect(try await late == 200)
        #expect(try await chain.get() == 401)
        #expect(refreshes.value == 1)
    }

    @Test(arguments: [407, 408, 429]) func answerThatDoesNotConcernTheTokenDoesNotEndThePause(status: Int) async throws
    {
        let server = Recorder { request in
            let code = request.url.path == "/gateway" ? status : 401
            return HTTPResponse(status: try #require(HTTPResponse.Status(code: code)), url: request.url)
        }
        let tokens = tokens(.init("old", expiresAt: .distantPast))
        let chain = authenticatingChain(tokens, server)
        #expect(try await chain.get(try url("https://api.example.com/gateway")).code == status)
        #expect(refreshes.value == 1)
        #expect(try await chain.get() == 401)
        #expect(refreshes.value == 1)
    }

    @Test func aTokenFromOutsideIsRefreshedWhenItIsRejected() async throws {
        let tokens = tokens()
        let chain = authenticatingChain(tokens, TokenServer(accepting: []))
        #expect(try await chain.get() == 401)
        tokens.signIn(.init("signed-in"))
        #expect(try await chain.get() == 401)
        #expect(refreshes.value == 2)
        tokens.signOut()
        tokens.signIn(.init("signed-in-again"))
        #expect(try await chain.get() == 401)
        #expect(refreshes.value == 3)
    }

    @Test func failingServerAndCacheHitDoNotEndThePause() async throws {
        let server = Recorder { request in
            switch request.url.path {
            case "/cached": HTTPResponse(status: 200, headers: [.cacheControl: "max-age=60"], url: request.url)
            case "/down": HTTPResponse(status: 503, url: request.url)
            default: HTTPResponse(status: 401, url: request.url)
            }
        }
        let tokens = tokens()
        let chain = InterceptorChain(
            [
                .intercept { request, next in
                    var request = request
                    request.context.cachePartition = "ada"
                    return try await next(request)
                },
                .retryOnUnauthorized(tokens), .bearerAuth(tokens), .cache(.memory(), report: { _ in }),
            ],
            transport: server
        )
        let (cached, down) = (try url("https://api.example.com/cached"), try url("https://api.example.com/down"))
        #expect(try await chain.get(cached) == 200)
        #expect(try await chain.get() == 401)
        #expect(try await chain.get(cached) == 200)
        #expect(try await chain.get(down) == 503)
        #expect(try await chain.get() == 401)
        #expect(refreshes.value == 1)
        #expect(server.requests.filter { $0.url == cached }.count == 1)
    }

    @Test func withoutAPauseEachRejectionIsRefreshed() async throws {
        let chain = authenticatingChain(tokens(pause: .zero), TokenServer(accepting: []))
        for _ in 0..<3 { #expect(try await chain.get() == 401) }
        #expect(refreshes.value == 3)
    }

    @Test func aRefreshThatFailsBeginsNoPause() async throws {
        let failing = TokenStore(.old, origins: [apiOrigin], time: .manual(clock)) { [refreshes] _ in
            throw RefreshRefused(attempt: refreshes.count())
        }
        let chain = authenticatingChain(failing, TokenServer(accepting: []))
        for attempt in 1...3 {
            await expectRefreshFailed(RefreshRefused(attempt: attempt)) { try await chain.get() }
        }
    }

    @Test func logInsPauseTooIfTheServerRejectsTheNewSession() async throws {
        let status = Shared(HTTPResponse.Status(401))
        let server = Recorder { HTTPResponse(status: status.value, url: $0.url) }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(time: .manual(clock)) { [refreshes] in refreshes.count() }],
            transport: server
        )
        for _ in 0..<20 { #expect(try await chain.get() == 401) }
        #expect(refreshes.value == 1)
        status.value = 200
        #expect(try await chain.get() == 200)
        status.value = 401
        #expect(try await chain.get() == 401)
        #expect(refreshes.value == 1)
        clock.advance(by: .seconds(10))
        #expect(try await chain.get() == 401)
        #expect(refreshes.value == 2)
    }
}
