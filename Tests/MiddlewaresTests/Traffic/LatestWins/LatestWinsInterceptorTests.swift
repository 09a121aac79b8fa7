import Foundation
import TestSupport
import Testing
import TransportTesting

@testable import Middlewares

@Suite(.againstHanging)
struct LatestWinsInterceptorTests {
    private let clock = ManualClock()
    private let arrivals = Tally()

    private func server(_ response: @escaping @Sendable () -> HTTPResponse = { HTTPResponse(status: 200) }) -> Recorder
    {
        Recorder { [clock, arrivals] _ in
            arrivals.count()
            try await clock.sleep(for: .seconds(1))
            return response()
        }
    }

    private func get(_ chain: InterceptorChain, _ key: LatestKey?) -> Task<HTTPResponse, any Error> {
        var request = HTTPRequest(url: apiURL)
        request.context.latestKey = key
        return Task { [request] in try await chain.send(request) }
    }

    @Test func laterRequestCancelsTheEarlierOneUnderItsKeyOnly() async throws {
        let latest: LatestWinsInterceptor = .latestWins()
        let chain = InterceptorChain([latest], transport: server())
        let earlier = get(chain, "a")
        await arrivals.reached(1)
        let other = get(chain, "b")
        let without = get(chain, nil)
        await arrivals.reached(3)
        let later = get(chain, "a")
        await #expect(throws: CancellationError.self) { try await earlier.value }
        #expect(!earlier.isCancelled)
        await clock.sleepers(3)
        clock.advance(by: .seconds(1))
        for task in [other, without, later] { #expect(try await task.value.status == 200) }
        #expect(latest.calls.count == 0)
    }

    @Test func taskOfACancelledCallGoesOn() async throws {
        let chain = InterceptorChain([.latestWins()], transport: server())
        var request = HTTPRequest(url: apiURL)
        request.context.latestKey = "a"
        let earlier = Task { [request] in
            do {
                _ = try await chain.send(request)
                return "answered"
            } catch {
                return "\(type(of: error)), \(Task.isCancelled ? "cancelled" : "not cancelled")"
            }
        }
        await arrivals.reached(1)
        let later = get(chain, "a")
        #expect(await earlier.value == "CancellationError, not cancelled")
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await later.value.status == 200)
    }

    @Test func answerThatComesInSpiteOfItIsDiscarded() async throws {
        let (release, discards, arrivals) = (Latch(), Counter(), Tally())
        let chain = InterceptorChain(
            [.latestWins()],
            transport: Recorder { _ in
                guard arrivals.count() == 1 else { return HTTPResponse(status: 204) }
                await release.opened()
                return HTTPResponse(status: 200, body: .oneShot(Chunks(["a"]), onDiscard: { discards.next() }))
            }
        )
        let earlier = get(chain, "a")
        await arrivals.reached(1)
        #expect(try await get(chain, "a").value.status == 204)
        release.open()
        await #expect(throws: CancellationError.self) { try await earlier.value }
        #expect(discards.value == 1)
    }

    @Test func failureOfAnOvertakenRequestIsACancellation() async throws {
        let (release, arrivals) = (Latch(), Tally())
        let chain = InterceptorChain(
            [.latestWins()],
            transport: Recorder { _ in
                guard arrivals.count() == 1 else { return HTTPResponse(status: 204) }
                await release.opened()
                throw RefreshRefused()
            }
        )
        let earlier = get(chain, "a")
        await arrivals.reached(1)
        _ = try await get(chain, "a").value
        release.open()
        await #expect(throws: CancellationError.self) { try await earlier.value }
    }

    @Test func cancellingTheTaskCancelsTheCallAndFailuresPass() async throws {
        let latest: LatestWinsInterceptor = .latestWins()
        let chain = InterceptorChain([latest], transport: server())
        let task = get(chain, "a")
        await arrivals.reached(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        let failing = InterceptorChain([latest], transport: Recorder { _ in throw RefreshRefused() })
        await #expect(throws: RefreshRefused.self) { try await get(failing, "a").value }
        #expect(latest.calls.count == 0)
    }

    @Test func endOfTheEarlierOneDoesNotForgetTheLaterOne() async throws {
        let chain = InterceptorChain([.latestWins()], transport: server())
        let first = get(chain, "a")
        await arrivals.reached(1)
        let second = get(chain, "a")
        await arrivals.reached(2)
        await #expect(throws: CancellationError.self) { try await first.value }
        let third = get(chain, "a")
        await #expect(throws: CancellationError.self) { try await second.value }
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await third.value.status == 200)
    }

    @Test func streamBelongsToItsRequestUntilItHasBeenRead() async throws {
        let discards = Counter()
        let latest: LatestWinsInterceptor = .latestWins()
        let chain = InterceptorChain(
            [latest],
            transport: Recorder { _ in
                HTTPResponse(
                    status: 200,
                    body: .oneShot(Chunks(["a", "b"]), length: 2, onDiscard: { discards.next() })
                )
            }
        )
        let read = try await get(chain, "a").value
        #expect(try await read.body.collect(upTo: 10) == Data("ab".utf8))
        #expect(latest.calls.count == 0)

        let earlier = try await get(chain, "a").value
        var chunks = earlier.body.makeAsyncIterator()
        #expect(try await chunks.next() == Data("a".utf8))
        let later = try await get(chain, "a").value
        #expect(discards.value == 1)
        await #expect(throws: CancellationError.self) { try await chunks.next() }
        #expect(try await later.body.collect(upTo: 10) == Data("ab".utf8))
        #expect(latest.calls.count == 0)
    }

    @Test func streamThatNobodyHoldsForgetsItsKey() async throws {
        let latest: LatestWinsInterceptor = .latestWins()
        let chain = InterceptorChain(
            [latest],
            transport: Recorder { _ in HTTPResponse(status: 200, body: .oneShot(Chunks(["a"]))) }
        )
        do { _ = try await get(chain, "a").value }
        #expect(latest.calls.count == 0)
    }

    @Test func keysAreEqualIfTheirValuesAre() {
        #expect(LatestKey(1) == LatestKey(1))
        #expect(LatestKey("a") == "a")
        #expect(LatestKey(1) != LatestKey("1"))
        #expect(Set([LatestKey(1), LatestKey(2), LatestKey(1)]).count == 2)
    }

    @Test(arguments: 0..<10)
    func ofHundredsAtOnceTheLastOneOfEachKeyIsAnswered(seed: UInt64) async throws {
        let latest: LatestWinsInterceptor = .latestWins()
        let chain = InterceptorChain(
            [latest],
            transport: Recorder { _ in
                for _ in 0..<5 { await Task.yield() }
                try Task.checkCancellation()
                return HTTPResponse(status: 200)
            }
        )
        var random = SeededGenerator(seed: seed)
        let tasks = (0..<300).map { _ in get(chain, LatestKey(Int.random(in: 0..<3, using: &random))) }
        var answered = 0
        for task in tasks {
            switch await task.result {
            case .success: answered += 1
            case .failure(let error): #expect(error is CancellationError)
            }
        }
        #expect(answered >= 3)
        #expect(latest.calls.count == 0)
    }
}
