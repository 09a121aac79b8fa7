import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// Requests that race. INTERCEPTORS_CACHE_RACES sets the number of races for each of the 18 cases. With
/// INTERCEPTORS_FULL_LOAD each case runs 5,600, which makes 100,800.
@Suite(.againstHanging, .heavy) struct CacheCommitRaceTests {
    private static var count: Int {
        let environment = ProcessInfo.processInfo.environment
        if let count = environment["INTERCEPTORS_CACHE_RACES"].flatMap({ Int($0) }) { return count }
        return FullLoad.isOn ? 5_600 : 200
    }

    /// Runs four lanes of races in parallel. No two races that run at once use the same resource.
    private func races(_ race: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<4 {
                group.addTask {
                    for number in stride(from: lane, to: Self.count, by: 4) { try await race(number) }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test(arguments: CommitWorld.Kind.allCases)
    func afterAPOSTHasReturnedNoGETGetsTheOlderVersion(kind: CommitWorld.Kind) async throws {
        let world = CommitWorld(kind)
        let older = Tally()
        try await races { number in
            let path = "\(number % 64)"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for cache in 0..<4 {
                    group.addTask { _ = try await world.send(path, through: cache, streamed: cache > 1) }
                }
                group.addTask {
                    let posted = try await world.send(path, .post, through: number)
                    for cache in 0..<2 {
                        let found = try await world.send(path, through: cache)
                        if found.version < posted.version { older.count() }
                    }
                }
                try await group.waitForAll()
            }
        }
        #expect(older.value == 0, "of \(Self.count) races")
        #expect(world.reported == [])
    }

    @Test(arguments: CommitWorld.Kind.allCases, [2, 10])
    func afterEqualMissesAtOnceTheNextIsAHit(kind: CommitWorld.Kind, misses: Int) async throws {
        let world = CommitWorld(kind)
        let lost = Tally()
        try await races { number in
            let path = "\(number % 64)"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for cache in 0..<misses {
                    group.addTask { _ = try await world.send(path, through: cache, streamed: cache % 2 == 1) }
                }
                try await group.waitForAll()
            }
            for cache in 0..<2 where try await !world.send(path, through: cache).isHit { lost.count() }
            // Not `removeAll(of:)`, because an invalidation also keeps out responses under way for other keys.
            let key = try #require(CacheKey(url: try url("https://a.example/\(path)")))
            try await world.stores[0].remove(world.stores[0].entries(for: key).map(\.id), of: key)
        }
        #expect(lost.value == 0, "of \(Self.count) races")
        #expect(world.reported == [])
    }
}
