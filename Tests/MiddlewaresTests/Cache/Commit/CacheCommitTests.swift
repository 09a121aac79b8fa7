import Foundation
import Interceptors
import Testing

@testable import InterceptorsMiddlewares

/// Forces every order in which the steps of two calls can happen.
@Suite(.againstHanging) struct CacheCommitTests {
    typealias Step = SteppedStore.Step

    @Test(arguments: CommitWorld.Kind.allCases, [false, true])
    func responseThatWasRequestedBeforeAPOSTIsNotStoredAfterIt(kind: CommitWorld.Kind, isStreamed: Bool) async throws {
        for step in Step.ofStoring {
            let world = CommitWorld(kind, isStepped: true)
            let stop = try world.stepped.stop(at: step)
            let earlier = Task { try await world.send("x", streamed: isStreamed) }
            await stop.reached()
            let posted = try await world.send("x", .post, through: 1)
            stop.goOn()
            _ = try await earlier.value
            for cache in 0..<2 {
                #expect(try await world.send("x", through: cache).version == posted.version, "\(step)")
            }
            #expect(try await world.send("x").isHit)
            #expect(world.reported == [])
        }
    }

    @Test(arguments: CommitWorld.Kind.allCases, [false, true])
    func responseThatReplacesAnotherIsNotStoredAfterAPOSTEither(kind: CommitWorld.Kind, isStreamed: Bool) async throws {
        for step in Step.ofStoring {
            let world = CommitWorld(kind, isStepped: true)
            _ = try await world.send("x")
            let stop = try world.stepped.stop(at: step)
            let earlier = Task { try await world.send("x", mode: .reload, streamed: isStreamed) }
            await stop.reached()
            let posted = try await world.send("x", .post, through: 1)
            stop.goOn()
            _ = try await earlier.value
            #expect(try await world.send("x").version == posted.version, "\(step)")
        }
    }

    @Test(arguments: CommitWorld.Kind.allCases, [Step.beforeInvalidation, .afterInvalidation])
    func whatIsStoredWhileAPOSTInvalidatesIsNotOlderThanIt(kind: CommitWorld.Kind, step: Step) async throws {
        for isStored in [false, true] {
            let world = CommitWorld(kind, isStepped: true)
            if isStored { _ = try await world.send("x") }
            let stop = try world.stepped.stop(at: step)
            let post = Task { try await world.send("x", .post) }
            await stop.reached()
            _ = try await world.send("x", through: 1)
            stop.goOn()
            let posted = try await post.value
            #expect(try await world.send("x").version == posted.version)
        }
    }

    @Test(arguments: CommitWorld.Kind.allCases)
    func responseThatWasRequestedBeforeAClearingIsNotStoredAfterIt(kind: CommitWorld.Kind) async throws {
        for step in Step.ofStoring {
            let world = CommitWorld(kind, isStepped: true)
            let stop = try world.stepped.stop(at: step)
            let earlier = Task { try await world.send("x") }
            await stop.reached()
            try await world.stores[world.stores.count - 1].removeAll(partition: "")
            stop.goOn()
            _ = try await earlier.value
            // If the look-up comes after the clear, the response may be stored.
            #expect(try await world.stores[0].listing().isEmpty == (step != .beforeLookUp), "\(step)")
        }
    }

    @Test(arguments: CommitWorld.Kind.allCases, [false, true])
    func afterTwoEqualMissesTheNextIsAHit(kind: CommitWorld.Kind, isStreamed: Bool) async throws {
        for first in Step.ofStoring {
            for second in Step.ofStoring {
                for isReversed in [false, true] {
                    let world = CommitWorld(kind, isStepped: true)
                    var stops: [SteppedStore.Stop] = []
                    var calls: [Task<CommitWorld.Answer, any Error>] = []
                    for step in [first, second] {
                        let stop = try world.stepped.stop(at: step)
                        calls.append(Task { try await world.send("x", streamed: isStreamed) })
                        // The second call may be a hit, and then it never reaches this step.
                        if calls.count == 2, first == .afterCommit, step != .beforeLookUp, step != .afterLookUp {
                            break
                        }
                        await stop.reached()
                        stops.append(stop)
                    }
                    for index in isReversed ? [1, 0] : [0, 1] where index < calls.count {
                        if index < stops.count { stops[index].goOn() }
                        _ = try await calls[index].value
                    }
                    #expect(try await world.send("x").isHit, "\(first), \(second), reversed: \(isReversed)")
                }
            }
        }
    }

    // A response that can't be stored costs the entry that it would have replaced, and no other.
    @Test func responseThatCantBeStoredTakesNoOtherVariantWithIt() async throws {
        let world = CacheWorld(store: MemoryCacheStore(entryByteLimit: 5))
        for (variant, body) in [("1", "one"), ("2", "two")] {
            world.answer(["Cache-Control: max-age=60", "Vary: A"], body)
            _ = try await world.send(["A: \(variant)"])
        }
        world.answer(["Cache-Control: max-age=60", "Vary: A"], "too long")
        _ = try await world.send(["A: 1"], mode: .reload)
        #expect(try await world.send(["A: 2"]) == "200 hit two age 0")
        #expect(try await world.entries().count == 1)
    }

    @Test(arguments: [FragileStore.Weakness.write, .append, .commit, .lateCommit], [false, true])
    func failedStoringRemovesTheEntryThatItWouldHaveReplaced(
        weakness: FragileStore.Weakness,
        isStreamed: Bool
    ) async throws {
        let fragile = FragileStore(weakness: weakness)
        let before = CacheWorld(store: fragile.inner)
        before.answer(["Cache-Control: max-age=60"], "one")
        _ = try await before.send()
        let world = CacheWorld(store: fragile)
        world.answer(["Cache-Control: max-age=60"], "two")
        let response = try await world.chain.send(world.request(mode: .reload, streamed: isStreamed))
        #expect(try await response.body.collect(upTo: 100) == Data("two".utf8))
        #expect(try await world.entries().isEmpty)
        #expect(world.reported.count == 1)
    }

    @Test func failedStoringKeepsALaterResponseThatWasStoredMeanwhile() async throws {
        let store = SteppedStore(MemoryCacheStore(entryByteLimit: 5))
        let world = CacheWorld(store: store)
        world.answer(["Cache-Control: max-age=60"], "too long")
        world.answer(["Cache-Control: max-age=60"], "later")
        let failing = store.stop(at: .beforeWrite)
        let earlier = Task { try await world.send() }
        await failing.reached()
        // The failed call looks for the entry that it would have replaced.
        let looking = store.stop(at: .beforeLookUp)
        failing.goOn()
        await looking.reached()
        #expect(try await world.send() == "200 miss later")
        looking.goOn()
        #expect(try await earlier.value == "200 miss too long")
        #expect(try await world.send() == "200 hit later age 0")
    }

    @Test func invalidationOfAKeyChangesItsGenerationInEveryStore() async throws {
        for kind in CommitWorld.Kind.allCases {
            let world = CommitWorld(kind)
            let key = try #require(CacheKey(url: try url("https://a.example/x")))
            var generations: Set<UInt64> = []
            for round in 0..<4 {
                for store in world.stores { generations.insert(try await store.snapshot(of: key).generation) }
                #expect(generations.count == round + 1, "\(kind)")
                let store = world.stores[round % world.stores.count]
                if round < 2 { try await store.removeAll(of: key) } else { try await store.removeAll { _ in false } }
            }
        }
    }
}
