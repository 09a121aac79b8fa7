import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging)
struct TimeoutInterceptorTests {
    private let clock = ManualClock()

    /// Starts a task that sends a request through the interceptors.
    private func send(
        _ interceptors: [any Interceptor],
        _ transport: any Transport,
        context: HTTPContext = HTTPContext()
    ) -> Task<HTTPResponse, any Error> {
        let request = HTTPRequest(url: apiURL, context: context)
        return Task { try await InterceptorChain(interceptors, transport: transport).send(request) }
    }

    @Test func answerInTimeIsGivenAndTheTimerEnds() async throws {
        let response = try await send([.timeout(.seconds(1), time: .manual(clock))], Recorder()).value
        #expect(response.status == 200)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func errorInTimeIsGivenAsItIs() async throws {
        let task = send([.timeout(.seconds(1), time: .manual(clock))], Recorder { _ in throw Refused() })
        await #expect(throws: Refused.self) { try await task.value }
        #expect(clock.pendingSleeps == 0)
    }

    @Test func loserIsCancelledAndAwaitedAndTheErrorSaysWhichLimitItWas() async throws {
        let ended = Tally()
        let transport = Recorder { [clock] _ in
            defer { ended.count() }
            try await clock.sleep(for: .seconds(100))
            return HTTPResponse(status: 200)
        }
        let task = send([.timeout(.seconds(10), of: "one attempt", time: .manual(clock))], transport)
        await clock.sleepers(2)
        clock.advance(by: .seconds(10))
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(ended.value == 1)
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("10.0 seconds, the limit of one attempt") == true)
        #expect(error?.request?.url == apiURL.absoluteString)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func nothingHappensBeforeTheLimit() async throws {
        let transport = Recorder { [clock] _ in
            try await clock.sleep(for: .seconds(10))
            return HTTPResponse(status: 204)
        }
        let task = send([.timeout(.milliseconds(10_001), time: .manual(clock))], transport)
        await clock.sleepers(2)
        clock.advance(by: .seconds(10))
        #expect(try await task.value.status == 204)
    }

    @Test func headOfAStreamedResponseIsInTimeHoweverLongItsContentTakes() async throws {
        let transport = Recorder { [clock] _ in
            HTTPResponse(status: 200, body: .oneShot(LateChunk(clock: clock, after: .seconds(100))))
        }
        let response = try await send([.timeout(.seconds(1), time: .manual(clock))], transport).value
        #expect(clock.pendingSleeps == 0, "The timer has ended.")
        let content = Task { try await response.body.collect(upTo: 100) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(100))
        #expect(try await content.value == Data("late".utf8))
    }

    @Test func answerThatComesInSpiteOfTheTimeoutIsDiscarded() async throws {
        let discarded = Tally()
        let latch = Latch()
        let transport = Recorder { _ in
            await withTaskCancellationHandler {
                await latch.opened()
            } onCancel: {
                latch.open()
            }
            return HTTPResponse(status: 200, body: .oneShot(Chunks(["x"]), onDiscard: { discarded.count() }))
        }
        let task = send([.timeout(.seconds(1), time: .manual(clock))], transport)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.code == .timedOut)
        #expect(discarded.value == 1)
    }

    @Test func cancellingTheCallIsCancellationErrorAtOnce() async throws {
        let transport = Recorder { [clock] _ in
            try await clock.sleep(for: .seconds(100))
            return HTTPResponse(status: 200)
        }
        let task = send([.timeout(.seconds(10), time: .manual(clock))], transport)
        await clock.sleepers(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.pendingSleeps == 0)
    }

    @Test func cancelledWhileTheLoserEndsIsCancellationError() async throws {
        let isCancelled = Latch()
        let release = Latch()
        let transport = Recorder { [clock] _ in
            do { try await clock.sleep(for: .seconds(100)) } catch {}
            isCancelled.open()
            await release.opened()
            throw Refused()
        }
        let task = send([.timeout(.seconds(10), time: .manual(clock))], transport)
        await clock.sleepers(2)
        clock.advance(by: .seconds(10))
        await isCancelled.opened()
        task.cancel()
        release.open()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func limitThatLeavesNoTimeSendsNothing() async throws {
        for limit in [Duration.zero, .seconds(-1), .seconds(Int64.min)] {
            let transport = Recorder()
            let task = send([.timeout(limit, time: .manual(clock))], transport)
            let error = await #expect(throws: TransportError.self) { try await task.value }
            #expect(error?.code == .timedOut)
            #expect(transport.requests.isEmpty)
        }
    }

    @Test func limitOfCenturiesIsNone() async throws {
        let transport = Recorder()
        let task = send([.timeout(.seconds(Int64.max))], transport)
        #expect(try await task.value.status == 200)
        #expect(transport.requests.first?.context.deadline == nil)
    }

    @Test func deadlinePassesDownAndOnlyTheEarlierOneCounts() async throws {
        let transport = Recorder()
        _ = try await send(
            [
                .timeout(.seconds(10), time: .manual(clock)), .timeout(.seconds(3), time: .manual(clock)),
                .timeout(.seconds(7), time: .manual(clock)),
            ],
            transport
        ).value
        #expect(transport.requests.first?.context.deadline?.remaining == .seconds(3))
    }

    @Test func deadlineOfTheCallerIsEnforcedOnceAndNamed() async throws {
        let transport = Recorder { [clock] _ in
            try await clock.sleep(for: .seconds(100))
            return HTTPResponse(status: 200)
        }
        var context = HTTPContext()
        context.deadline = Deadline(after: .seconds(5), time: .manual(clock))
        let task = send(
            [
                .timeout(time: .manual(clock)), .timeout(time: .manual(clock)),
                .timeout(.seconds(9), time: .manual(clock)),
            ],
            transport,
            context: context
        )
        // Three sleepers, and not one per timeout: the caller's deadline, the innermost limit, and the transport.
        await clock.sleepers(3)
        #expect(clock.pendingSleeps == 3)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.message.contains("deadline that the request was given") == true)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func limitEarlierThanTheCallersDeadlineIsTheOneNamed() async throws {
        let transport = Recorder { [clock] _ in
            try await clock.sleep(for: .seconds(100))
            return HTTPResponse(status: 200)
        }
        var context = HTTPContext()
        context.deadline = Deadline(after: .seconds(5), time: .manual(clock))
        let task = send([.timeout(.seconds(2), time: .manual(clock))], transport, context: context)
        await clock.sleepers(2)
        clock.advance(by: .seconds(2))
        let error = await #expect(throws: TransportError.self) { try await task.value }
        #expect(error?.message.contains("2.0 seconds, the limit of timeout(_:)") == true)
    }

    @Test func timeoutDuringARefreshLeavesTheRefreshAndItsOtherWaitersRunning() async throws {
        let server = TokenServer(accepting: ["new"])
        let gate = Latch()
        let waiting = Tally()
        let refreshes = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin], observe: counting(waiting)) { _ in
            refreshes.count()
            await gate.opened()
            return .new
        }
        let authentication: [any Interceptor] = [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        let timeout: AnyInterceptor = .timeout(.seconds(1), time: .manual(clock))
        let impatient = send([timeout] + authentication, server)
        let patient = send(authentication, server)
        await waiting.reached(2)
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: TransportError.self) { try await impatient.value }
        #expect(error?.code == .timedOut)
        gate.open()
        #expect(try await patient.value.status == 200)
        #expect(refreshes.value == 1)
        #expect(tokens.current == .new)
    }

    @Test func hundredsAtOnceEachEndOnce() async throws {
        let transport = Recorder { [clock] request in
            let isSlow = request.url.path.hasSuffix("slow")
            if isSlow { try await clock.sleep(for: .seconds(100)) }
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain([.timeout(.seconds(10), time: .manual(clock))], transport: transport)
        let (slow, fast) = (try url("https://h/slow"), try url("https://h/fast"))
        let answered = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<200 { group.addTask { (try? await chain.send(HTTPRequest(url: slow))) != nil } }
            await clock.sleepers(400)
            let isEachFastAnswered = await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<200 { group.addTask { (try? await chain.send(HTTPRequest(url: fast))) != nil } }
                return await group.allSatisfy { $0 }
            }
            #expect(isEachFastAnswered)
            clock.advance(by: .seconds(10))
            return await group.filter { $0 }.reduce(0) { count, _ in count + 1 }
        }
        #expect(answered == 0)
        #expect(clock.pendingSleeps == 0)
    }
}

/// A body whose only chunk comes late.
private struct LateChunk: AsyncSequence, Sendable {
    let clock: ManualClock
    let after: Duration

    struct Iterator: AsyncIteratorProtocol {
        let clock: ManualClock
        var wait: Duration?

        mutating func next() async throws -> Data? {
            guard let wait = wait.take() else { return nil }
            try await clock.sleep(for: wait)
            return Data("late".utf8)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(clock: clock, wait: after) }
}
