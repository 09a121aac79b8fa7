import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// Many tasks at once, in any order. The expectations hold in every order.
@Suite(.againstHanging, .heavy)
struct AuthenticationStressTests {
    @Test func manyWaitersOfWhichHalfAreCancelledWhileTheyWait() async throws {
        let count = 1000
        let (waiting, mayEnd, refreshes) = (Tally(), Latch(), Tally())
        let tokens = TokenStore(.old, origins: [apiOrigin], observe: counting(waiting)) { _ in
            refreshes.count()
            await mayEnd.opened()
            return .new
        }
        let chain = authenticatingChain(tokens, TokenServer(accepting: ["new"]))
        let tasks = (0..<count).map { _ in Task { try await chain.get() } }
        await waiting.reached(count)
        var random = SeededGenerator(seed: 1)
        let cancelled = Set((0..<count).shuffled(using: &random).prefix(count / 2))
        for index in cancelled { tasks[index].cancel() }
        for index in cancelled {
            await #expect(throws: CancellationError.self) { try await tasks[index].value }
        }
        mayEnd.open()
        for index in 0..<count where !cancelled.contains(index) { #expect(try await tasks[index].value == 200) }
        #expect(refreshes.value == 1)
        #expect(tokens.current == .new)
    }

    @Test(arguments: 0..<20)
    func cancellationsThatRaceWithEverythingHurtNobodyElse(seed: UInt64) async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            await Task.yield()
            return .new
        }
        let chain = authenticatingChain(tokens, TokenServer(accepting: ["new"]))
        var random = SeededGenerator(seed: seed)
        let tasks = (0..<200).map { _ in
            (task: Task { try await chain.get() }, isCancelled: Bool.random(using: &random))
        }
        for (task, isCancelled) in tasks where isCancelled { task.cancel() }
        for (task, isCancelled) in tasks {
            switch await task.result {
            case .success(let status): #expect(status == 200)
            case .failure(let error): #expect(isCancelled && error is CancellationError)
            }
        }
    }

    @Test(arguments: 0..<20)
    func whatIsPersistedLastIsWhatTheStoreHolds(seed: UInt64) async throws {
        let (persisted, refreshes, ended) = (Shared<[TokenStore.Token?]>([]), Tally(), Tally())
        let tokens = TokenStore(
            .old,
            origins: [apiOrigin],
            persist: { token in persisted.change { $0.append(token) } },
            observe: { if case .ended = $0 { ended.count() } },
            refresh: { _ in
                let number = refreshes.count()
                await Task.yield()
                if number.isMultiple(of: 3) { throw RefreshRefused(attempt: number) }
                return .init("refreshed-\(number)")
            }
        )
        let chain = authenticatingChain(tokens, TokenServer(accepting: ["refreshed-2", "signed-in"]))
        var random = SeededGenerator(seed: seed)
        await withTaskGroup { group in
            for _ in 0..<300 {
                switch Int.random(in: 0..<20, using: &random) {
                case 0: group.addTask { tokens.signOut() }
                case 1: group.addTask { tokens.signIn(.init("signed-in")) }
                default: group.addTask { _ = try? await chain.get() }
                }
            }
        }
        await ended.reached(refreshes.value)
        await tokens.waitUntilPersisted()
        #expect(persisted.value.last.map { $0 == tokens.current } ?? (tokens.current == .old))
    }

    @Test func tokensThatAreRotatedAllTheTimeServeEveryRequestWithOneResend() async throws {
        // Each token is valid until the next is issued. A request that arrives late with an old token is rejected.
        let server = TokenServer(accepting: ["0"])
        let rotations = Tally()
        let tokens = TokenStore(.init("0"), origins: [apiOrigin]) { _ in
            let next = "\(rotations.count())"
            server.accepted.value = [next]
            return .init(next)
        }
        let chain = authenticatingChain(tokens, server)
        for _ in 0..<20 {
            server.accepted.value = []
            try await withThrowingTaskGroup { group in
                for _ in 0..<100 { group.addTask { try await chain.get() } }
                for try await status in group { #expect(status == 200) }
            }
        }
        #expect(rotations.value == 20)
    }
}
