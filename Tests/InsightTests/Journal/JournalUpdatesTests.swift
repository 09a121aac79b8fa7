import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsInsight

@Suite(.againstHanging) struct JournalUpdatesTests {
    @Test func theSequenceBeginsWithTheCallsThatAreThere() async throws {
        let fixture = JournalFixture([Pass()])
        for _ in 0..<3 { try await fixture.send() }
        var ids: [Int] = []
        for await call in fixture.journal.updates {
            ids.append(call.id)
            if ids.count == 3 { break }
        }
        #expect(ids == [1, 2, 3])
        #expect(fixture.journal.listeners.listenerCount == 0)
    }

    @Test func aRunningCallComesAgainWhenItEnds() async throws {
        let (arrived, release) = (Latch(), Latch())
        let fixture = JournalFixture([Pass()]) { _ in
            arrived.open()
            await release.opened()
            return HTTPResponse(status: 204)
        }
        let task = Task { _ = try await fixture.send() }
        await arrived.opened()
        var updates = fixture.journal.updates.makeAsyncIterator()
        let first = await updates.next()
        #expect(first?.duration == nil)
        release.open()
        try await task.value
        let last = await updates.next()
        #expect(last?.id == 1)
        #expect(last?.root?.response?.status == 204)
    }

    @Test func eachListenerGetsAllCalls() async throws {
        let fixture = JournalFixture([Pass()])
        var (one, other) = (fixture.journal.updates.makeAsyncIterator(), fixture.journal.updates.makeAsyncIterator())
        try await fixture.send()
        #expect(await one.next()?.id == 1)
        #expect(await other.next()?.id == 1)
        #expect(fixture.journal.listeners.listenerCount == 2)
    }

    @Test func changesAreJoinedAndDroppedCallsLeftOut() async throws {
        let fixture = JournalFixture([Pass(), Pass()], limit: 5)
        var updates = fixture.journal.updates.makeAsyncIterator()
        for _ in 0..<1_000 { try await fixture.send() }
        var ids: [Int] = []
        for _ in 0..<5 { ids.append(await updates.next()?.id ?? 0) }
        #expect(ids == [996, 997, 998, 999, 1_000])
        try await fixture.send()
        #expect(await updates.next()?.id == 1_001)
    }

    @Test func cancellingTheReaderEndsTheSequence() async throws {
        let fixture = JournalFixture([Pass()])
        try await fixture.send()
        let first = Latch()
        let task = Task {
            var count = 0
            for await _ in fixture.journal.updates {
                count += 1
                first.open()
            }
            return count
        }
        await first.opened()
        task.cancel()
        #expect(await task.value == 1)
        #expect(fixture.journal.listeners.listenerCount == 0)
    }

    @Test func manyReadersAndWritersAtOnce() async throws {
        let fixture = JournalFixture([Pass()], limit: 20)
        let readers = (0..<4).map { _ in
            Task {
                for await call in fixture.journal.updates where call.id == 400 && call.duration != nil { return true }
                return false
            }
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 {
                group.addTask { for _ in 0..<100 { try await fixture.send() } }
            }
            try await group.waitForAll()
        }
        for reader in readers { #expect(await reader.value) }
        #expect(fixture.journal.listeners.listenerCount == 0)
    }

    @MainActor
    @Test func aListShowsTheNewestCallsFirst() async throws {
        let fixture = JournalFixture([Pass()], limit: 3)
        let list = JournalList()
        for _ in 0..<2 { try await fixture.send() }
        let task = Task { await list.follow(fixture.journal) }
        while list.calls.count < 2 { await Task.yield() }
        #expect(list.calls.map(\.id) == [2, 1])
        for _ in 0..<3 { try await fixture.send() }
        while list.calls.first?.duration == nil || list.calls.map(\.id) != [5, 4, 3] { await Task.yield() }
        task.cancel()
        await task.value
        #expect(fixture.journal.listeners.listenerCount == 0)
    }
}
