import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// A refresh that failed for good ends the session.
@Suite(.againstHanging) struct SessionEndTests {
    private struct Refresh {
        let began = Latch()
        let mayEnd = Latch()
        let ended = Latch()
        let calls = Tally()
        let waiting = Tally()
        let persisted = Shared<[TokenStore.Token?]>([])
        let endings = Shared<[AuthenticationError]>([])
        let tokens: TokenStore

        init(_ cause: any Error = RefreshRefused(), endsSession: Bool = true) {
            tokens = TokenStore(
                .old,
                origins: [apiOrigin],
                persist: { [persisted] token in persisted.change { $0.append(token) } },
                onSignOut: { [endings] error in endings.change { $0.append(error) } },
                observe: { [waiting, ended] event in
                    switch event {
                    case .waiting: waiting.count()
                    case .ended: ended.open()
                    case .changed: break
                    }
                },
                refresh: { [began, mayEnd, calls] _ in
                    calls.count()
                    began.open()
                    await mayEnd.opened()
                    throw endsSession ? AuthenticationError.signedOut(because: cause) : cause
                }
            )
        }
    }

    private func expectSignedOut(_ error: AuthenticationError?) {
        #expect(error?.code == .signedOut)
        #expect(error?.underlying as? RefreshRefused == RefreshRefused())
        #expect(error?.errorDescription == "You need to sign in.")
    }

    @Test func everybodyGetsOneErrorAndTheAppLearnsItOnce() async throws {
        let (refresh, server) = (Refresh(), TokenServer(accepting: ["new"]))
        let chain = authenticatingChain(refresh.tokens, server)
        let calls = (0..<50).map { _ in Task { try await chain.get() } }
        await refresh.waiting.reached(50)
        refresh.mayEnd.open()
        for call in calls { expectSignedOut(await #expect(throws: AuthenticationError.self) { try await call.value }) }
        await refresh.tokens.waitUntilPersisted()
        #expect(refresh.endings.value.count == 1)
        expectSignedOut(refresh.endings.value.first)
        #expect(refresh.tokens.current == nil)
        #expect(refresh.persisted.value == [nil])
        #expect(refresh.calls.value == 1)
    }

    @Test func laterCallsDoNotAskTheDeadTokenAgain() async throws {
        let (refresh, server) = (Refresh(), TokenServer(accepting: ["new"]))
        let chain = authenticatingChain(refresh.tokens, server)
        refresh.mayEnd.open()
        await #expect(throws: AuthenticationError.self) { try await chain.get() }
        for _ in 0..<3 { #expect(try await chain.get() == 401) }
        #expect(refresh.calls.value == 1)
        #expect(server.authorizations == ["Bearer old", "-", "-", "-"])
        refresh.tokens.signIn(.new)
        #expect(try await chain.get() == 200)
    }

    @Test func aRejectionThatComesAfterTheEndStartsNoRefresh() async throws {
        let (refresh, late, arrived) = (Refresh(), Latch(), Tally())
        let server = TokenServer(accepting: ["new"]) { _ in
            if arrived.count() == 1 { await late.opened() }
        }
        let chain = authenticatingChain(refresh.tokens, server)
        let slow = Task { try await chain.get() }
        await arrived.reached(1)
        refresh.mayEnd.open()
        await #expect(throws: AuthenticationError.self) { try await chain.get() }
        late.open()
        #expect(try await slow.value == 401)
        #expect(refresh.calls.value == 1)
    }

    @Test func theFailureOfAnOldSessionDoesNotEndANewOne() async throws {
        let (refresh, server) = (Refresh(), TokenServer(accepting: ["signed-in"]))
        let chain = authenticatingChain(refresh.tokens, server)
        let call = Task { try await chain.get() }
        await refresh.began.opened()
        refresh.tokens.signIn(.init("signed-in"))
        #expect(try await call.value == 200)
        refresh.mayEnd.open()
        await refresh.ended.opened()
        await refresh.tokens.waitUntilPersisted()
        #expect(refresh.tokens.current == .init("signed-in"))
        #expect(refresh.persisted.value == [.init("signed-in")])
        #expect(refresh.endings.value.isEmpty)
        #expect(try await chain.get() == 200)
    }

    @Test func aSignOutBeforeTheFailureIsNotReported() async throws {
        let (refresh, server) = (Refresh(), TokenServer(accepting: []))
        let call = Task { [chain = authenticatingChain(refresh.tokens, server)] in try await chain.get() }
        await refresh.began.opened()
        refresh.tokens.signOut()
        let error = await #expect(throws: AuthenticationError.self) { try await call.value }
        #expect(error?.underlying == nil)
        refresh.mayEnd.open()
        await refresh.ended.opened()
        #expect(refresh.endings.value.isEmpty)
    }

    @Test func anErrorOfTheRefreshSaysThatARefreshFailed() async throws {
        let cause = TransportError(.offline, "There is no network.")
        let refresh = Refresh(cause, endsSession: false)
        refresh.mayEnd.open()
        let chain = authenticatingChain(refresh.tokens, TokenServer(accepting: []))
        let error = await #expect(throws: AuthenticationError.self) { try await chain.get() }
        #expect(error?.code == .refreshFailed)
        #expect(
            error?.description.contains("the refresh of its credential failed. Cause: TransportError.offline") == true
        )
        // Conditions look at the cause.
        #expect(error?.isOffline == true)
        #expect(error?.localizedDescription == cause.localizedDescription)
        #expect(refresh.tokens.current == .old)
        #expect(refresh.endings.value.isEmpty)
    }

    @Test func theEndOfAnotherStoresSessionEndsOnlyThatOne() async throws {
        let inner = Refresh()
        inner.mayEnd.open()
        let server = authenticatingChain(inner.tokens, TokenServer(accepting: []))
        let tokens = TokenStore(
            .old,
            origins: [apiOrigin],
            options: .init(onSignOut: { _ in Issue.record("This session goes on.") }),
            refresh: { _ in
                _ = try await server.get()
                return .new
            }
        )
        let error = await #expect(throws: AuthenticationError.self) {
            try await authenticatingChain(tokens, TokenServer(accepting: [])).get()
        }
        #expect(error?.code == .refreshFailed)
        #expect((error?.underlying as? AuthenticationError)?.code == .signedOut)
        #expect(tokens.current == .old)
        #expect(inner.endings.value.count == 1)
    }

    @Test func anExpiredTokenThatCannotBeRefreshedEndsTheSessionToo() async throws {
        let endings = Tally()
        let expired = TokenStore.Token("old", expiresAt: .distantPast)
        let tokens = TokenStore(
            expired,
            origins: [apiOrigin],
            options: .init(onSignOut: { _ in endings.count() }),
            refresh: { _ in throw AuthenticationError.signedOut(because: RefreshRefused()) }
        )
        let server = TokenServer(accepting: [])
        let chain = InterceptorChain([.bearerAuth(tokens)], transport: server)
        expectSignedOut(await #expect(throws: AuthenticationError.self) { try await chain.get() })
        #expect(try await chain.get() == 401)
        #expect(endings.value == 1)
        #expect(server.authorizations == ["-"])
    }
}
