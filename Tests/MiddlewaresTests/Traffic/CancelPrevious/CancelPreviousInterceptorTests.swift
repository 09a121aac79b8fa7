import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging)
struct CancelPreviousInterceptorTests {
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

    private func get(_ chain: InterceptorChain, _ key: (any Hashable & Sendable)?) -> Task<HTTPResponse, any Error> {
        var request = HTTPRequest(url: apiURL)
        request.context.latestKey = key
        return Task { [request] in try await chain.send(request) }
    }

    @Test func laterRequestCancelsTheEarlierOneUnderItsKeyOnly() async throws {
        let latest = CancelPreviousInterceptor()
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

    @Test(arguments: [false, true]) func forgottenKeysAreReportedOnce(hasKey: Bool) async throws {
        let reports = Shared<[String]>([])
        let latest = CancelPreviousInterceptor { text in reports.change { $0.append(text) } }
        let chain = InterceptorChain([latest], transport: Recorder())
        if hasKey {
            var request = HTTPRequest(url: apiURL)
            request.context.latestKey = "a"
            _ = try await chain.send(request)
        }
        for count in 1...50 {
            _ = try await chain.get()
            #expect(reports.value.count == (hasKey || count < 20 || !DebugReport.isOn ? 0 : 1))
        }
        #expect(reports.value.allSatisfy { $0.contains(".with(\\.latestKey") })
    }

    private func request(_ number: CallNumber) -> HTTPRequest {
        var request = HTTPRequest(url: apiURL)
        request.context.latestKey = "a"
        request.context.callShape.call = number
        return request
    }

    @Test func allRequestsOfTheEarlierCallEnd() async throws {
        let latest = CancelPreviousInterceptor()
        let chain = InterceptorChain([latest], transport: server())
        let (earlier, later) = (CallNumber.next(), CallNumber.next())
        let olds = (0..<3).map { _ in Task { try await chain.send(request(earlier)) } }
        await arrivals.reached(3)
        let news = (0..<2).map { _ in Task { try await chain.send(request(later)) } }
        await arrivals.reached(5)
        for task in olds { await #expect(throws: CancellationError.self) { try await task.value } }
        await clock.sleepers(2)
        // The earlier call tries again.
        await #expect(throws: CancellationError.self) { try await chain.send(request(earlier)) }
        clock.advance(by: .seconds(1))
        for task in news { #expect(try await task.value.status == 200) }
        #expect(latest.calls.count == 0)
    }

    @Test func onlyTheLastOfManyIsSentOnceNoOtherCameForAWhile() async throws {
        let server = Recorder { _ in HTTPResponse(status: 200) }
        let latest = CancelPreviousInterceptor(debounce: .milliseconds(300), time: .manual(clock))
        let chain = InterceptorChain([latest], transport: server)
        var tasks: [Task<HTTPResponse, any Error>] = []
        for _ in 0..<4 {
            tasks.append(get(chain, "search"))
            if tasks.count > 1 {
                await #expect(throws: CancellationError.self) { try await tasks[tasks.count - 2].value }
            }
            // The earlier request has ended, so the sleeper is this one.
            await clock.sleepers(1)
            clock.advance(by: .milliseconds(299))
        }
        #expect(server.requests.isEmpty)
        clock.advance(by: .milliseconds(1))
        #expect(try await tasks[3].value.status == 200)
        #expect(server.requests.count == 1)
        #expect(latest.calls.count == 0)
    }

    @Test func debounceIsForRequestsWithAKeyAndEndsWithItsCaller() async throws {
        let server = Recorder { _ in HTTPResponse(status: 200) }
        let chain = InterceptorChain(
            [.cancelPrevious(debounce: .seconds(Int64.max), time: .manual(clock))],
            transport: server
        )
        #expect(try await get(chain, nil).value.status == 200)
        let waiting = get(chain, "a")
        await clock.sleepers(1)
        waiting.cancel()
        await #expect(throws: CancellationError.self) { try await waiting.value }
        #expect(server.requests.count == 1)
        let none = InterceptorChain([.cancelPrevious(debounce: .zero, time: .manual(clock))], transport: server)
        #expect(try await get(none, "a").value.status == 200)
    }

    @Test func taskOfACancelledCallGoesOn() async throws {
        let chain = InterceptorChain([.cancelPrevious()], transport: server())
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
        let (release, discards, arrivals) = (Latch(), Tally(), Tally())
        let chain = InterceptorChain(
            [.cancelPrevious()],
            transport: Recorder { _ in
                guard arrivals.count() == 1 else { return HTTPResponse(status: 204) }
                await release.opened()
                return HTTPResponse(status: 200, body: .oneShot(Chunks(["a"]), onDiscard: { discards.count() }))
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
            [.cancelPrevious()],
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
        let latest = CancelPreviousInterceptor()
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
        let chain = InterceptorChain([.cancelPrevious()], transport: server())
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
        let discards = Tally()
        let latest = CancelPreviousInterceptor()
        let chain = InterceptorChain(
            [latest],
            transport: Recorder { _ in
                HTTPResponse(
                    status: 200,
                    body: .oneShot(Chunks(["a", "b"]), length: 2, onDiscard: { discards.count() })
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
        let latest = CancelPreviousInterceptor()
        let chain = InterceptorChain(
            [latest],
            transport: Recorder { _ in HTTPResponse(status: 200, body: .oneShot(Chunks(["a"]))) }
        )
        do { _ = try await get(chain, "a").value }
        #expect(latest.calls.count == 0)
    }

    @Test func keysAreEqualIfTheirValuesAre() async throws {
        let latest = CancelPreviousInterceptor()
        let (arrivals, gate) = (Tally(), Latch())
        let chain = InterceptorChain([latest], transport: Self.heldServer(arrivals, gate))
        let keys: [any Hashable & Sendable] = [1, "1", "a", 2, 1]
        let calls = keys.map { get(chain, $0) }
        await arrivals.reached(5)
        #expect(latest.calls.count == 4)
        gate.open()
        var answered = 0
        for call in calls where try await Self.isAnswered(call) { answered += 1 }
        #expect(answered == 4)
    }

    @Test(arguments: 0..<10)
    func ofHundredsAtOnceOneOfEachKeyIsAnswered(seed: UInt64) async throws {
        let latest = CancelPreviousInterceptor()
        let (arrivals, gate) = (Tally(), Latch())
        let chain = InterceptorChain([latest], transport: Self.heldServer(arrivals, gate))
        var random = SeededGenerator(seed: seed)
        let calls = (0..<300).map { _ in
            let key = Int.random(in: 0..<3, using: &random)
            return (key, get(chain, key))
        }
        await arrivals.reached(300)
        gate.open()
        var answered: [Int] = []
        for (key, call) in calls where try await Self.isAnswered(call) { answered.append(key) }
        #expect(answered.sorted() == [0, 1, 2])
        #expect(latest.calls.count == 0)
    }

    @Test(arguments: 0..<10 as Range<UInt64>)
    func ofAnyOrderTheLastOneOfEachKeyIsAnswered(seed: UInt64) async throws {
        let latest = CancelPreviousInterceptor()
        let (arrivals, gate, order) = (Tally(), Latch(), Notes<(key: Int, call: Int)>())
        let chain = InterceptorChain([latest], transport: Self.heldServer(arrivals, gate))
        var random = SeededGenerator(seed: seed)
        let queue = try JobQueue(seed: seed)
        let calls = queue.enter {
            let calls = (0..<300).map { call in
                let key = Int.random(in: 0..<3, using: &random)
                var request = HTTPRequest(url: apiURL)
                request.context.latestKey = key
                return Task { [request] in
                    // On the queue's one thread, the interceptor sees this call before any other is noted.
                    order.add((key, call))
                    return try await chain.send(request)
                }
            }
            queue.runAll()
            gate.open()
            queue.runAll()
            return calls
        }
        let lastCalls = (0..<3).map { key in order.all.last { $0.key == key }?.call }
        #expect(arrivals.value == 300)
        for (number, call) in calls.enumerated() {
            #expect(try await Self.isAnswered(call) == lastCalls.contains(number), "call \(number)")
        }
        #expect(latest.calls.count == 0)
    }

    /// A server that answers when the gate opens, and only calls that aren't cancelled.
    private static func heldServer(_ arrivals: Tally, _ gate: Latch) -> Recorder {
        Recorder { _ in
            arrivals.count()
            await gate.opened()
            try Task.checkCancellation()
            return HTTPResponse(status: 200)
        }
    }

    /// Whether a call was answered. Otherwise it must have been cancelled.
    private static func isAnswered(_ call: Task<HTTPResponse, any Error>) async throws -> Bool {
        do {
            return try await call.value.status == 200
        } catch is CancellationError {
            return false
        }
    }
}
