import Foundation
import Interceptors
import TestSupport
import Testing

@testable import TransportTesting

@Suite(.againstHanging, .heavy) struct SimulationTests {
    private typealias Failure = Simulation.Failure

    // No chain here waits for another thread.
    private static let patience = RulePatience(otherThreads: .zero)

    private static func failure(of simulation: Simulation) async throws -> Failure? {
        do {
            try await simulation.run(patience: patience)
            return nil
        } catch let failure as Failure {
            return failure
        }
    }

    @Test func clientWithoutInterceptorsKeepsEveryProperty() async throws {
        let failure = try await Self.failure(of: Simulation(seeds: 1...300) { $0.client(interceptors: []) })
        #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    }

    @Test(arguments: BrokenChain.all)
    func brokenChainIsFoundByItsProperty(broken: BrokenChain) async throws {
        let failure = try #require(try await Self.failure(of: Simulation(seeds: 1...2_000, broken.make)))
        #expect(failure.property == broken.property, "\(failure)")
    }

    @Test(arguments: BrokenChain.all)
    func failingSeedRepeatsTheFailure(broken: BrokenChain) async throws {
        let failure = try #require(try await Self.failure(of: Simulation(seeds: 1...2_000, broken.make)))
        let seeds = failure.seed...failure.seed
        let again = try #require(try await Self.failure(of: Simulation(seeds: seeds, broken.make)))
        #expect(again.trace == failure.trace)
        #expect("\(failure)".contains("Simulation(seeds: \(failure.seed)...\(failure.seed))"))
        #expect(failure.trace.contains { $0.contains("BROKEN: \(failure.property)") })
    }

    @Test func exceptionLetsABrokenPropertyPass() async throws {
        let broken = try #require(BrokenChain.all.first { $0.property == .aBufferedResponseStaysBuffered })
        let simulation = Simulation(seeds: 1...50, except: [.aBufferedResponseStaysBuffered], broken.make)
        #expect(try await Self.failure(of: simulation) == nil)
    }

    @Test func blockedThreadFailsInsteadOfHanging() async throws {
        let semaphore = DispatchSemaphore(value: 0)
        defer { semaphore.signal() }
        let block = { @Sendable in semaphore.wait() }
        let simulation = Simulation(seeds: 1...1) { world in
            world.client(interceptors: [
                .intercept { request, next in
                    block()
                    return try await next(request)
                }
            ])
        }
        let patience = RulePatience(otherThreads: .zero, blockedThread: .milliseconds(300))
        let failure = await #expect(throws: Failure.self) { try await simulation.run(patience: patience) }
        #expect(failure?.property == .noThreadIsBlocked)
    }

    @Test func errorOfTheClosureIsRethrown() async {
        struct Unprepared: Error {}
        await #expect(throws: Unprepared.self) { try await Simulation { _ in throw Unprepared() }.run() }
    }

    @Test func cancellationEndsTheSimulation() async {
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await Simulation(seeds: 1 ... .max) { world in
                begin.yield()
                return world.client(interceptors: [])
            }.run()
        }
        for await _ in began { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func calledCountsAreVaried() async throws {
        var events: [String: Int] = [:]
        let simulation = Simulation { world in
            world.giveDeadlines { _, _ in }
            return world.client(interceptors: [])
        }
        for seed in 1...200 as ClosedRange<UInt64> {
            let trace: [String]
            do { trace = try simulation.trace(of: seed) } catch let failure as Failure { trace = failure.trace }
            for line in trace {
                for kind in ["cancel", "POST", "of ada", "of bob", "302", "401", "connectionLost", "truncated", "204"]
                where line.contains(kind) { events[kind, default: 0] += 1 }
            }
        }
        #expect(events.count == 9, "\(events)")
        #expect(events.values.allSatisfy { $0 >= 5 }, "\(events)")
    }
}
