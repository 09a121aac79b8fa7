import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTesting

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

    @Test func chainMayMoveItsRequestsToAnotherServerAndPath() async throws {
        let shared = Simulation(seeds: 1...300) { world in
            let kept = Shared<[URL: HTTPResponse]>([:])
            let origin = world.origin
            let move: AnyInterceptor = .intercept { request, next in
                let url = request.url
                guard request.method == .get, request.headers[.authorization] == nil, Origin(url) == origin,
                    request.context.responseBody == .buffered, let path = URL(string: "https://mirror.example/v1")
                else { return try await next(request) }
                // A later call gets the response of an earlier one with the same URL.
                if let response = kept.value[url] { return response }
                request.url = path.appending(path: url.path).appending(
                    queryItems: URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
                )
                let response = try await next(request)
                if response.status == 200 { kept.change { $0[url] = response } }
                return response
            }
            return world.client(interceptors: [move])
        }
        let failure = try await Self.failure(of: shared)
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

    @Test func noSeedIsPlayedAfterABlockedThreadWasReported() async {
        let made = Shared(0)
        let semaphore = DispatchSemaphore(value: 0)
        defer { semaphore.signal() }
        let block = { @Sendable in semaphore.wait() }
        let simulation = Simulation(seeds: 1...3, except: [.noThreadIsBlocked]) { world in
            made.change { $0 += 1 }
            block()
            return world.client(interceptors: [])
        }
        let patience = RulePatience(otherThreads: .zero, blockedThread: .milliseconds(300))
        await #expect(throws: Failure.self) { try await simulation.run(patience: patience) }
        #expect(made.value == 1)
    }

    @Test func errorOfTheClosureIsRethrown() async {
        struct Unprepared: Error {}
        await #expect(throws: Unprepared.self) { try await Simulation { _ in throw Unprepared() }.run() }
    }

    @Test func exceptionHidesNoCallThatWaits() async throws {
        let simulation = Simulation(seeds: 1...200, except: [.cancellationEndsACall, .nothingStaysOpen]) { world in
            world.client(interceptors: [.intercept { _, _ in try await never() }])
        }
        let failure = try #require(try await Self.failure(of: simulation))
        #expect(failure.property == .everyCallEnds, "\(failure)")
    }

    @Test(arguments: [1, 2, 3])
    func contentOfTheUserIsChecked(seed: Int) async throws {
        let content = HTTPBody(Data(repeating: 7, count: 2 << 20))
        let simulation = Simulation(seeds: seed...seed + 5, answering: content) { $0.client(interceptors: []) }
        let failure = try await Self.failure(of: simulation)
        #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
        let shortened = Simulation(seeds: 1...100, answering: content) { world in
            world.client(interceptors: [
                .intercept { request, next in
                    var response = try await next(request)
                    if let bytes = response.body.data { response.body = HTTPBody(bytes.dropLast()) }
                    return response
                }
            ])
        }
        #expect(try await Self.failure(of: shortened)?.property == .contentComesWhole)
    }

    @Test func stateThatSeedsShareIsReported() async throws {
        let kept = Shared<HTTPResponse?>(nil)
        let exceptions: Set<Simulation.Property> = [
            .responsesBelongToTheirCalls, .accountsStayApart, .contentComesWhole,
        ]
        let simulation = Simulation(seeds: 1...100, except: exceptions) { world in
            world.client(interceptors: [
                .intercept { request, next in
                    guard request.context.responseBody == .buffered, request.headers[.authorization] == nil else {
                        return try await next(request)
                    }
                    if let response = kept.value { return response }
                    let response = try await next(request)
                    if response.status == 200 { kept.value = response }
                    return response
                }
            ])
        }
        let failure = try #require(try await Self.failure(of: simulation))
        #expect(failure.property == .seedsShareNoState)
        #expect(failure.observed.contains("State is shared between seeds"))
    }

    @Test func clientWithAnotherTransportTestsNothing() async {
        let simulation = Simulation(seeds: 1...1) { world in
            Client(baseURL: world.url, interceptors: [], transport: StubTransport())
        }
        await #expect(throws: Simulation.NothingTested.self) { try await simulation.run(patience: Self.patience) }
    }

    @Test func chainThatSendsNothingTestsNothing() async {
        let simulation = Simulation(seeds: 1...30) { world in
            world.client(interceptors: [.intercept { _, _ in HTTPResponse(status: 200) }])
        }
        await #expect { try await simulation.run(patience: Self.patience) } throws: {
            "\($0)".contains("No call of any seed reached the network")
        }
    }

    @Test func chainWithoutSuccessTestsNothing() async {
        let simulation = Simulation(seeds: 1...30) { world in
            world.client(interceptors: [
                .intercept { request, next in
                    var response = try await next(request)
                    response.status = 500
                    return response
                }
            ])
        }
        await #expect { try await simulation.run(patience: Self.patience) } throws: {
            "\($0)".contains("2xx")
        }
    }

    @Test func failureSaysWhetherItRepeats() async throws {
        let broken = try #require(BrokenChain.all.first { $0.property == .contentComesWhole })
        let failure = try #require(try await Self.failure(of: Simulation(seeds: 1...500, broken.make)))
        #expect(failure.isRepeated == true)
        #expect("\(failure)".contains("Played again, it did the same."))
        let clients = Shared(0)
        let once = Simulation(seeds: 1...20) { world in
            clients.change { $0 += 1 }
            return clients.value == 1
                ? world.client(interceptors: [.intercept { _, _ in try await never() }])
                : world.client(interceptors: [])
        }
        let single = try #require(try await Self.failure(of: once))
        #expect(single.isRepeated == false)
        #expect("\(single)".contains("But played again, it did something else"))
    }

    @Test func closureMayWaitOnTheClock() async throws {
        let simulation = Simulation(seeds: 1...20) { world in
            try await world.clock.sleep(for: .seconds(3))
            return world.client(interceptors: [])
        }
        let failure = try await Self.failure(of: simulation)
        #expect(failure == nil, "\(failure.map { "\($0)" } ?? "")")
    }

    @Test func closureThatNeverEndsFails() async throws {
        let simulation = Simulation(seeds: 1...1) { world in
            let _: Void = try await never()
            return world.client(interceptors: [])
        }
        let failure = try #require(try await Self.failure(of: simulation))
        #expect(failure.property == .everyCallEnds)
        #expect(failure.observed.contains("closure"))
    }

    @Test func seedEndsAtItsLimit() async throws {
        let simulation = Simulation(seeds: 1...1) { $0.client(interceptors: []) }
        await #expect { try await simulation.run(patience: Self.patience, longestSeed: .zero) } throws: {
            "\($0)".contains("real time")
        }
    }

    @Test func cancellationEndsASeed() async {
        let (began, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            try await Simulation(seeds: 1...1) { world in
                begin.yield()
                while !Task.isCancelled { await Task.yield() }
                return world.client(interceptors: [])
            }.run(patience: Self.patience)
        }
        for await _ in began { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func callsOfAFailedSeedAreCancelled() async throws {
        let ends = Shared(0)
        let simulation = Simulation(seeds: 1...1) { world in
            world.client(interceptors: [
                .intercept { request, next in
                    defer { ends.change { $0 += 1 } }
                    return try await never()
                }
            ])
        }
        let failure = try #require(try await Self.failure(of: simulation))
        #expect(failure.observed.contains("system"))
        #expect(ends.value > 0)
    }

    @MainActor private final class Counter {
        private(set) var count = 0
        func increase() { count += 1 }
    }

    @Test func interceptorOnTheMainActorPasses() async throws {
        let counter = Counter()
        let simulation = Simulation(seeds: 1...40) { world in
            world.client(interceptors: [
                .intercept { request, next in
                    await counter.increase()
                    let response = try await next(request)
                    await counter.increase()
                    return response
                }
            ])
        }
        let patience = RulePatience(otherThreads: .seconds(30))
        try await simulation.run(patience: patience)
        #expect(await counter.count > 0)
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

    @Test func eventsAreVaried() async throws {
        var events: [String] = []
        for seed in 1...200 {
            let world = try Simulation.World(seed: seed, content: nil)
            let play = SimulationPlay(world: world, exceptions: [], patience: RulePatience())
            _ = try await play.run { world in
                world.giveDeadlines { _, _ in }
                return world.client(interceptors: [])
            }
            events += world.trace
        }
        let expected = [
            /: cancel/, /\sPOST\s/, /of ada$/, /of bob$/, /: begin #\d$/, /: response to #\d 302/,
            /: response to #\d 401/,
            /: response to #\d 204/, /: response to #\d 503/, /: failure #\d TransportError.connectionLost/,
            /: failure #\d TransportError.truncated/, /: a stream is going to break/, /: a stream is going to stall/,
        ]
        for event in expected { #expect(events.count { $0.contains(event) } >= 5, "\(event): \(events)") }
    }
}

/// Waits until the task is cancelled.
private func never<Value>() async throws -> Value {
    let (silence, end) = AsyncStream.makeStream(of: Never.self)
    for await _ in silence {}
    end.finish()
    throw CancellationError()
}
