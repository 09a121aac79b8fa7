import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging)
struct TokenStoreTests {
    /// A store whose refresh waits for the test before it returns the new token.
    private struct HeldRefresh {
        let began = Latch()
        let mayEnd = Latch()
        let persisted = Shared<[TokenStore.Token?]>([])
        let ended = Latch()
        let waiting = Tally()
        let tokens: TokenStore

        init(_ result: Result<TokenStore.Token, RefreshRefused> = .success(.new)) {
            tokens = TokenStore(
                .old,
                origins: [apiOrigin],
                persist: { [persisted] token in persisted.change { $0.append(token) } },
                observe: { [waiting, ended] event in
                    switch event {
                    case .waiting: waiting.count()
                    case .ended: ended.open()
                    case .changed: break
                    }
                },
                refresh: { [began, mayEnd] _ in
                    began.open()
                    await mayEnd.opened()
                    return try result.get()
                }
            )
        }

        /// Lets the refresh end, and waits until it has.
        func end() async {
            mayEnd.open()
            await ended.opened()
        }
    }

    // MARK: Making one

    @Test func closureAloneMakesAStore() async throws {
        @Sendable func login() async throws -> TokenStore.Token { .new }
        let tokens = TokenStore(refresh: { rejected in try await login() })
        let trailing = TokenStore(.old) { _ in try await login() }
        #expect(tokens.current == nil)
        #expect(trailing.current == .old)
    }

    @Test func refreshWithoutARefreshTokenKeepsTheOldOne() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .init("new") }
        #expect(try await authenticatingChain(tokens, server).get() == 200)
        #expect(tokens.current == .init("new", refreshToken: "refresh-old"))
    }

    // MARK: Cancellation

    @Test(arguments: [0, 1, 2])
    func cancellingAnyWaiterLeavesTheRefreshAndTheOthersRunning(cancelled: Int) async throws {
        let held = HeldRefresh()
        let chain = authenticatingChain(held.tokens, TokenServer(accepting: ["new"]))
        var tasks: [Task<HTTPResponse.Status, any Error>] = []
        for count in 1...3 {
            tasks.append(Task { try await chain.get() })
            // The first task starts the refresh.
            await held.waiting.reached(count)
        }
        tasks[cancelled].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[cancelled].value }
        held.mayEnd.open()
        for (index, task) in tasks.enumerated() where index != cancelled { #expect(try await task.value == 200) }
        #expect(held.tokens.current == .new)
    }

    @Test func tokenThatTheServerRotatedWhileAllWaitersCancelledIsKeptAndPersisted() async throws {
        let held = HeldRefresh()
        let chain = authenticatingChain(held.tokens, TokenServer(accepting: ["new"]))
        let task = Task { try await chain.get() }
        await held.began.opened()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await held.end()
        await held.tokens.waitUntilPersisted()
        #expect(held.tokens.current == .new)
        #expect(held.persisted.value == [.new])
    }

    @Test func tokenIsPersistedThoughTheStoreWasLetGoDuringTheRefresh() async throws {
        let (began, mayEnd, persisted) = (Latch(), Latch(), Latch())
        var tokens: TokenStore? = TokenStore(
            .old,
            origins: [apiOrigin],
            options: .init(persist: { token in if token == .new { persisted.open() } }),
            refresh: { _ in
                began.open()
                await mayEnd.opened()
                return .new
            }
        )
        weak var store: TokenStore?
        store = tokens
        var chain = tokens.map { authenticatingChain($0, TokenServer(accepting: ["new"])) }
        let task = Task { [chain] in try await chain?.get() }
        await began.opened()
        task.cancel()
        _ = await task.result
        (tokens, chain) = (nil, nil)
        mayEnd.open()
        await persisted.opened()
        // The refresh holds the store until it ends, and no longer.
        while store != nil { await Task.yield() }
    }

    @Test func cancelledTaskStartsNoRefresh() async throws {
        let chain = authenticatingChain(
            TokenStore(.init("old", expiresAt: .distantPast), origins: [apiOrigin]) { _ in
                Issue.record("Nobody waits for this.")
                return .new
            },
            TokenServer(accepting: ["new"])
        )
        let mayStart = Latch()
        let task = Task {
            await mayStart.opened()
            return try await chain.get()
        }
        task.cancel()
        mayStart.open()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func cancellationInsideTheRefreshDoesNotMakeWaitersLookCancelled() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in throw CancellationError() }
        let error = await #expect(throws: AuthenticationError.self) {
            try await authenticatingChain(tokens, TokenServer(accepting: ["new"])).get()
        }
        #expect(error?.code == .refreshCancelled)
    }

    // MARK: Sign-in and sign-out

    @Test(arguments: [true, false])
    func refreshThatEndsAfterSignOutIsDiscarded(refreshSucceeds: Bool) async throws {
        let held = HeldRefresh(refreshSucceeds ? .success(.new) : .failure(RefreshRefused()))
        let server = TokenServer(accepting: ["new"])
        let chain = authenticatingChain(held.tokens, server)
        let task = Task { try await chain.get() }
        await held.began.opened()
        held.tokens.signOut()
        let error = await #expect(throws: AuthenticationError.self) { try await task.value }
        #expect(error?.code == .signedOut)
        await held.end()
        await held.tokens.waitUntilPersisted()
        #expect(held.tokens.current == nil)
        #expect(held.persisted.value == [nil])
        #expect(server.authorizations == ["Bearer old"])
    }

    @Test(arguments: [true, false])
    func refreshThatEndsAfterANewSignInIsDiscardedAndWaitersGoOnWithTheNewToken(refreshSucceeds: Bool) async throws {
        let held = HeldRefresh(refreshSucceeds ? .success(.new) : .failure(RefreshRefused()))
        let server = TokenServer(accepting: ["signed-in"])
        let chain = authenticatingChain(held.tokens, server)
        let task = Task { try await chain.get() }
        await held.began.opened()
        held.tokens.signIn(.init("signed-in"))
        server.accepted.value = ["signed-in"]
        #expect(try await task.value == 200)
        await held.end()
        await held.tokens.waitUntilPersisted()
        #expect(held.tokens.current == .init("signed-in"))
        #expect(held.persisted.value == [.init("signed-in")])
    }

    @Test func nothingIsRefreshedAfterSignOut() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            Issue.record("A background request must not undo a sign-out.")
            return .new
        }
        let chain = authenticatingChain(tokens, server)
        tokens.signOut()
        #expect(try await chain.get() == 401)
        tokens.signIn(.new)
        #expect(try await chain.get() == 200)
        #expect(server.authorizations == ["-", "Bearer new"])
    }

    @Test func requestFromBeforeASignOutNeverGetsTheTokenOfAfterIt() async throws {
        let (arrived, mayAnswer) = (Latch(), Latch())
        let server = TokenServer(accepting: ["of-another-user"]) { _ in
            arrived.open()
            await mayAnswer.opened()
        }
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            Issue.record("The session is over.")
            return .new
        }
        let chain = authenticatingChain(tokens, server)
        async let status = chain.get()
        await arrived.opened()
        tokens.signOut()
        tokens.signIn(.init("of-another-user"))
        mayAnswer.open()
        #expect(try await status == 401)
        #expect(server.authorizations == ["Bearer old"])
    }

    @Test func lateRejectionAfterASignInRetriesWithTheNewTokenWithoutRefresh() async throws {
        let (arrived, mayAnswer) = (Latch(), Latch())
        let server = TokenServer(accepting: ["new"]) { request in
            guard request.headers[.authorization] == "Bearer old" else { return }
            arrived.open()
            await mayAnswer.opened()
        }
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            Issue.record("There is a newer token.")
            return .new
        }
        let chain = authenticatingChain(tokens, server)
        async let status = chain.get()
        await arrived.opened()
        tokens.signIn(.new)
        mayAnswer.open()
        #expect(try await status == 200)
    }

    @Test(arguments: [true, false])
    func closureMaySignInOrOutItself(signsIn: Bool) async throws {
        let store = Shared<TokenStore?>(nil)
        let server = TokenServer(accepting: ["new"])
        let (persisted, ended) = (Shared<[TokenStore.Token?]>([]), Latch())
        let tokens = TokenStore(
            .old,
            origins: [apiOrigin],
            persist: { token in persisted.change { $0.append(token) } },
            observe: { if case .ended = $0 { ended.open() } },
            refresh: { _ in
                if signsIn { store.value?.signIn(.new) } else { store.value?.signOut() }
                #expect(Task.isRefreshingCredential, "It goes on, although nobody waits for its token.")
                return .new
            }
        )
        store.value = tokens
        let chain = authenticatingChain(tokens, server)
        if signsIn {
            #expect(try await chain.get() == 200)
        } else {
            let error = await #expect(throws: AuthenticationError.self) { try await chain.get() }
            #expect(error?.code == .signedOut)
        }
        await ended.opened()
        await tokens.waitUntilPersisted()
        #expect(tokens.current == (signsIn ? .new : nil))
        #expect(persisted.value == [signsIn ? .new : nil])
        store.value = nil
    }

    // MARK: Persistence

    @Test func changesArePersistedInOrderAndNeverConcurrently() async throws {
        let (running, persisted) = (Shared(0), Shared<[TokenStore.Token?]>([]))
        let options = TokenStore.Options(
            persist: { token in
                running.change { $0 += 1 }
                #expect(running.value == 1)
                await Task.yield()
                persisted.change { $0.append(token) }
                running.change { $0 -= 1 }
            }
        )
        let tokens = TokenStore(options: options) { _ in .new }
        let expected = (0..<200).map { $0 % 3 == 2 ? nil : TokenStore.Token("\($0)") }
        for token in expected {
            if let token { tokens.signIn(token) } else { tokens.signOut() }
        }
        await tokens.waitUntilPersisted()
        #expect(persisted.value == expected)
    }

    @Test func slowPersistenceKeepsNoRequestWaiting() async throws {
        let mayPersist = Latch()
        let tokens = TokenStore(
            .old,
            origins: [apiOrigin],
            options: .init(persist: { _ in await mayPersist.opened() }),
            refresh: { _ in .new }
        )
        #expect(try await authenticatingChain(tokens, TokenServer(accepting: ["new"])).get() == 200)
        mayPersist.open()
        await tokens.waitUntilPersisted()
    }

    @Test func initialTokenAndAFailedRefreshAreNotPersisted() async throws {
        let tokens = TokenStore(
            .old,
            origins: [apiOrigin],
            options: .init(persist: { _ in Issue.record("Nothing changed.") }),
            refresh: { _ in throw RefreshRefused() }
        )
        let chain = authenticatingChain(tokens, TokenServer(accepting: ["new"]))
        await expectRefreshFailed(RefreshRefused()) { try await chain.get() }
        await tokens.waitUntilPersisted()
        #expect(tokens.current == .old)
    }

    @Test func refreshWithoutAnAccountKeepsTheOldOne() async throws {
        let tokens = TokenStore(.init("old", account: "ada"), origins: [apiOrigin]) { _ in .init("new") }
        #expect(try await authenticatingChain(tokens, TokenServer(accepting: ["new"])).get() == 200)
        #expect(tokens.current == .init("new", account: "ada"))
    }
}
