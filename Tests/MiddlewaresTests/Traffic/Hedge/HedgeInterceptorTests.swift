import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging)
struct HedgeInterceptorTests {
    private let clock = ManualClock()

    /// A server that answers the first request after `first` seconds and the second after `second`, and counts
    /// cancellations.
    private func server(
        _ first: Int,
        _ second: Int,
        _ respond: @escaping @Sendable (_ isHedge: Bool) throws -> HTTPResponse = { _ in HTTPResponse(status: 200) }
    ) -> (Recorder, cancelled: Tally) {
        let cancelled = Tally()
        let server = Recorder { [clock] request in
            let isHedge = request.context.hedgeAttempt == 2
            do { try await clock.sleep(for: .seconds(isHedge ? second : first)) } catch {
                cancelled.count()
                throw error
            }
            return try respond(isHedge)
        }
        return (server, cancelled)
    }

    private func send(
        _ transport: any Transport,
        _ request: HTTPRequest = HTTPRequest(url: apiURL),
        budget: RetryBudget? = nil
    ) -> Task<HTTPResponse, any Error> {
        let hedge: AnyInterceptor = .hedge(after: .seconds(1), budget: budget, time: .manual(clock))
        return Task { try await InterceptorChain([hedge], transport: transport).send(request) }
    }

    @Test func answerWithinTheDelayNeedsNoSecondTry() async throws {
        let server = Recorder()
        let response = try await send(server).value
        #expect(response.status == 200)
        #expect(response.context.hedgeAttempt == nil)
        #expect(server.requests.count == 1)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func secondTryWinsAndTheFirstIsCancelled() async throws {
        let (server, cancelled) = server(100, 1)
        let task = send(server)
        await clock.sleepers(2)
        #expect(server.requests.count == 1)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        #expect(server.requests.map(\.context.hedgeAttempt) == [nil, 2])
        clock.advance(by: .seconds(1))
        #expect(try await task.value.context.hedgeAttempt == 2)
        #expect(cancelled.value == 1)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func firstTryWinsAndTheSecondIsCancelled() async throws {
        let (server, cancelled) = server(3, 100)
        let task = send(server)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        clock.advance(by: .seconds(2))
        #expect(try await task.value.context.hedgeAttempt == 1)
        #expect(cancelled.value == 1)
        #expect(server.requests.count == 2)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func responseOfTheLoserIsDiscarded() async throws {
        let (release, discards) = (Latch(), Shared<[String]>([]))
        let server = Recorder { [clock] request in
            let name = request.context.hedgeAttempt == 2 ? "second" : "first"
            // The first attempt answers in spite of its cancellation.
            if name == "first" {
                do { try await clock.sleep(for: .seconds(100)) } catch { await release.opened() }
            } else {
                release.open()
            }
            return HTTPResponse(
                status: 200,
                body: .oneShot(Chunks([name]), onDiscard: { discards.change { $0.append(name) } })
            )
        }
        let task = send(server)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        let response = try await task.value
        #expect(response.context.hedgeAttempt == 2)
        #expect(try await response.body.collect(upTo: 10) == Data("second".utf8))
        #expect(discards.value == ["first"])
    }

    @Test(arguments: [503, 429])
    func badAnswerWaitsForTheOtherTry(code: Int) async throws {
        let discards = Tally()
        let status = try #require(HTTPResponse.Status(code: code))
        let (server, _) = server(2, 5) { isHedge in
            isHedge
                ? HTTPResponse(status: 200)
                : HTTPResponse(status: status, body: .oneShot(Chunks(["x"]), onDiscard: { discards.count() }))
        }
        let task = send(server)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(1)
        clock.advance(by: .seconds(4))
        let response = try await task.value
        #expect(response.status == 200)
        #expect(response.context.hedgeAttempt == 2)
        #expect(discards.value == 1)
    }

    @Test func badSecondAnswerThatIsStreamedIsDiscardedAfterABadFirstInMemory() async throws {
        let discards = Tally()
        let (server, _) = server(2, 5) { isHedge in
            guard isHedge else { return HTTPResponse(status: 503, body: "first") }
            return HTTPResponse(status: 503, body: .oneShot(Chunks(["second"]), onDiscard: { discards.count() }))
        }
        let task = send(server)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(1)
        clock.advance(by: .seconds(4))
        let response = try await task.value
        #expect(response.body.data == Data("first".utf8))
        #expect(response.context.hedgeAttempt == 1)
        #expect(discards.value == 1)
    }

    @Test func failureOfTheFirstTryIsThatOfTheCallIfTheSecondIsNoBetter() async throws {
        let (server, _) = server(3, 1) { isHedge in
            if isHedge { return HTTPResponse(status: 500) }
            throw RefreshRefused()
        }
        let task = send(server)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        clock.advance(by: .seconds(2))
        await #expect(throws: RefreshRefused.self) { try await task.value }
    }

    @Test func failureBeforeTheDelayIsNotTriedAgain() async throws {
        let server = Recorder { _ in throw RefreshRefused() }
        await #expect(throws: RefreshRefused.self) { try await send(server).value }
        #expect(server.requests.count == 1)
        #expect(clock.pendingSleeps == 0)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete, .patch, "UNKNOWN"])
    func unsafeMethodsAreNeverSentTwice(method: HTTPRequest.Method) async throws {
        let (server, _) = server(100, 1)
        let task = send(server, HTTPRequest(method: method, url: apiURL))
        await clock.sleepers(1)
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .seconds(100))
        #expect(try await task.value.context.hedgeAttempt == nil)
        #expect(server.requests.count == 1)
    }

    @Test func oneShotBodyIsNeverSentTwiceAndARestartableOneIs() async throws {
        let (server, _) = server(10, 1)
        let once = send(server, HTTPRequest(method: .query, url: apiURL, body: .oneShot(Chunks(["a"]))))
        await clock.sleepers(1)
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .seconds(10))
        _ = try await once.value
        #expect(server.requests.count == 1)
        let again = send(server, HTTPRequest(method: .query, url: apiURL, body: "a"))
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        #expect(try await again.value.context.hedgeAttempt == 2)
        #expect(server.requests.map(\.body.data) == [nil, Data("a".utf8), Data("a".utf8)])
    }

    @Test func secondTriesStayWithinTheBudget() async throws {
        let (server, _) = server(2, 100)
        let budget = RetryBudget(share: 0, reserve: 1)
        let first = send(server, budget: budget)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        #expect(try await first.value.context.hedgeAttempt == 1)
        #expect(budget.available == 0)
        let second = send(server, budget: budget)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        #expect(try await second.value.context.hedgeAttempt == nil)
        #expect(server.requests.count == 3)
    }

    @Test func deadlineThatLeavesNoTimeLeavesOutTheSecondTry() async throws {
        let (server, _) = server(5, 1)
        var request = HTTPRequest(url: apiURL)
        request.context.deadline = Deadline(after: .seconds(1), time: .manual(clock))
        let task = send(server, request)
        await clock.sleepers(1)
        #expect(clock.pendingSleeps == 1)
        clock.advance(by: .seconds(5))
        #expect(try await task.value.context.hedgeAttempt == nil)
        #expect(server.requests.count == 1)
    }

    @Test func cancellingTheCallCancelsBothTries() async throws {
        let (server, cancelled) = server(100, 100)
        let task = send(server)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(cancelled.value == 2)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func cancellationOfTheSecondTryAloneDoesNotHurtTheFirst() async throws {
        let (server, _) = server(3, 1) { isHedge in
            if isHedge { throw CancellationError() }
            return HTTPResponse(status: 200)
        }
        let task = send(server)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        clock.advance(by: .seconds(2))
        #expect(try await task.value.context.hedgeAttempt == 1)
    }

    @Test func cancellingBeforeTheDelayMakesNoSecondTry() async throws {
        let (server, _) = server(100, 100)
        let task = send(server)
        await clock.sleepers(2)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.count == 1)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func secondTryReportsNoProgress() async throws {
        let (server, _) = server(100, 1)
        var request = HTTPRequest(url: apiURL)
        request.context.downloadProgress = { _ in }
        request.context.uploadProgress = { _ in }
        let task = send(server, request)
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        _ = try await task.value
        #expect(server.requests.map { $0.context.downloadProgress == nil } == [false, true])
        #expect(server.requests.map { $0.context.uploadProgress == nil } == [false, true])
    }

    @Test func withOnePermitTheSecondTryWaitsForItAndTheFirstWins() async throws {
        let (server, _) = server(5, 1)
        let limit = LimitConcurrencyInterceptor(1)
        let chain = InterceptorChain([.hedge(after: .seconds(1), time: .manual(clock)), limit], transport: server)
        let task = Task { try await chain.send(HTTPRequest(url: apiURL)) }
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        clock.advance(by: .seconds(4))
        #expect(try await task.value.status == 200)
        #expect(limit.pool.counts == (0, 0, 0))
    }

    @Test(arguments: [HTTPResponse.Status(200), 500])
    func badStreamedAnswerGivesThePermitThatTheOtherTryWaitsFor(second: HTTPResponse.Status) async throws {
        let discarded = Tally()
        let (server, _) = server(2, 1) { isHedge in
            if isHedge { return HTTPResponse(status: second) }
            return HTTPResponse(status: 502, body: .oneShot(Chunks(["bad"]), onDiscard: { discarded.count() }))
        }
        let waiting = Tally()
        let limit = LimitConcurrencyInterceptor(1) { _ in waiting.count() }
        let chain = InterceptorChain([.hedge(after: .seconds(1), time: .manual(clock)), limit], transport: server)
        let task = Task { try await chain.send(HTTPRequest(url: apiURL)) }
        await clock.sleepers(2)
        clock.advance(by: .seconds(1))
        await waiting.reached(1)
        clock.advance(by: .seconds(1))
        await clock.sleepers(1)
        clock.advance(by: .seconds(1))
        let response = try await task.value
        #expect(response.status == second)
        #expect(response.context.hedgeAttempt == 2)
        #expect(discarded.value == 1)
        #expect(limit.pool.counts == (0, 0, 0))
    }

    @Test func hundredsAtOnceEachEndOnceWithTwoTriesAtMost() async throws {
        let (server, cancelled) = server(100, 1)
        let chain = InterceptorChain([.hedge(after: .seconds(1), time: .manual(clock))], transport: server)
        let tasks = (0..<200).map { _ in Task { try await chain.send(HTTPRequest(url: apiURL)) } }
        await clock.sleepers(400)
        for task in tasks[..<50] { task.cancel() }
        for task in tasks[..<50] { await #expect(throws: CancellationError.self) { try await task.value } }
        clock.advance(by: .seconds(1))
        await clock.sleepers(300)
        clock.advance(by: .seconds(1))
        for task in tasks[50...] { #expect(try await task.value.context.hedgeAttempt == 2) }
        #expect(server.requests.count == 350)
        #expect(cancelled.value == 200)
        #expect(clock.pendingSleeps == 0)
    }
}
