import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

/// The behaviour of a private cache as its caller sees it, ordered by the topics that cache comparisons use, with each
/// store.
@Suite(.againstHanging) struct CacheScenarioTests {
    enum Kind: String, CaseIterable, Sendable { case memory, disk }

    private let directory = TemporaryDirectory()

    private func play(_ scenario: Scenario, _ kind: Kind) async throws {
        let store: any CacheStore = kind == .memory ? MemoryCacheStore() : DiskCacheStore(at: directory.url)
        try await scenario.play(in: CacheWorld(store: store))
    }

    @Test(arguments: Scenario.freshness, Kind.allCases)
    func freshness(scenario: Scenario, kind: Kind) async throws { try await play(scenario, kind) }

    @Test(arguments: Scenario.directives, Kind.allCases)
    func directives(scenario: Scenario, kind: Kind) async throws { try await play(scenario, kind) }

    @Test(arguments: Scenario.statusesAndFields, Kind.allCases)
    func statusesAndFields(scenario: Scenario, kind: Kind) async throws { try await play(scenario, kind) }

    @Test(arguments: Scenario.vary, Kind.allCases)
    func vary(scenario: Scenario, kind: Kind) async throws { try await play(scenario, kind) }

    @Test(arguments: Scenario.conditions, Kind.allCases)
    func conditions(scenario: Scenario, kind: Kind) async throws { try await play(scenario, kind) }

    @Test(arguments: Scenario.ranges, Kind.allCases)
    func ranges(scenario: Scenario, kind: Kind) async throws { try await play(scenario, kind) }

    @Test(arguments: Scenario.updates, Kind.allCases)
    func updates(scenario: Scenario, kind: Kind) async throws { try await play(scenario, kind) }

    @Test(arguments: Scenario.invalidation, Kind.allCases)
    func invalidation(scenario: Scenario, kind: Kind) async throws { try await play(scenario, kind) }

    @Test(arguments: Scenario.stale, Kind.allCases)
    func stale(scenario: Scenario, kind: Kind) async throws { try await play(scenario, kind) }
}
