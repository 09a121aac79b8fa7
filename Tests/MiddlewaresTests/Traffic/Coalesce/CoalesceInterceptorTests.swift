import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

/// Counts the calls that begin to wait for an exchange.
func counting(_ tally: Tally) -> @Sendable (CoalesceEvent) -> Void {
    { if case .waiting = $0 { tally.count() } }
}

@Suite(.againstHanging)
struct CoalesceInterceptorTests {
    private let clock = ManualClock()
    private let joined = Tally()
    private let gate = Latch()
    private let arrivals = Tally()

    private func coalesce() -> CoalesceInterceptor { CoalesceInterceptor(observe: counting(joined)) }

    /// A server that waits for the gate. The closure's number is the count of requests so far.
    private func server(_ answer: @escaping @Sendable (HTTPRequest, Int) throws -> HTTPResponse) -> Recorder {
        Recorder { [gate, arrivals] request in
            let number = arrivals.count()
            await gate.opened()
            return try answer(request, number)
        }
    }

    private func server() -> Recorder {
        server { HTTPResponse(status: 200, body: HTTPBody("\($1)"), url: $0.url) }
    }

    private func get(
        _ chain: InterceptorChain,
        _ request: HTTPRequest = HTTPRequest(url: apiURL)
    ) -> Task<HTTPResponse, any Error> {
        Task { try await chain.send(request) }
    }

    @Test func identicalGetsShareOneExchange() async throws {
        let (coalesce, server) = (coalesce(), server())
        let chain = InterceptorChain([coalesce], transport: server)
        let tasks = (0..<200).map { _ in get(chain) }
        await joined.reached(200)
        gate.open()
        var shared = 0
        for task in tasks {
            let response = try await task.value
            #expect(response.body.data == Data("1".utf8))
            shared += response.context.isCoalesced ? 1 : 0
        }
        #expect(shared == 199)
        #expect(server.requests.count == 1)
        #expect(coalesce.coalescer.counts == (0, 0))
        #expect(try await get(chain).value.body.data == Data("2".utf8))
    }

    @Test func requestDoesNotWaitForItselfWhereTheSameInterceptorIsTwiceInAChain() async throws {
        let (coalesce, server) = (coalesce(), server())
        gate.open()
        let response = try await get(InterceptorChain([coalesce, coalesce], transport: server)).value
        #expect(response.body.data == Data("1".utf8))
        #expect(coalesce.coalescer.counts == (0, 0))
    }

    @Test func requestsWithOtherCredentialsNeverShare() async throws {
        let server = server { request, _ in
            HTTPResponse(status: 200, body: HTTPBody(request.headers[.authorization] ?? "nobody"))
        }
        let chain = InterceptorChain([coalesce()], transport: server)
        let users = ["nobody", "Bearer a", "Bearer b"]
        let tasks = (0..<60).map { number in
            var request = HTTPRequest(url: apiURL)
            let user = users[number % 3]
            if user != "nobody" { request.headers[.authorization] = user }
            return (get(chain, request), user)
        }
        await joined.reached(60)
        gate.open()
        for (task, user) in tasks { #expect(try await task.value.body.data == Data(user.utf8)) }
        #expect(server.requests.count == 3)
    }

    @Test func cookiesGoToTheRequestThatBeganTheExchangeAlone() async throws {
        let server = server { request, _ in
            HTTPResponse(status: 200, headers: [.setCookie: "sid=session-1"], url: request.url)
        }
        let chain = InterceptorChain([coalesce()], transport: server)
        let tasks = (0..<10).map { _ in get(chain) }
        await joined.reached(10)
        gate.open()
        var sessions = 0
        for task in tasks { sessions += try await task.value.headers.contains(.setCookie) ? 1 : 0 }
        #expect(sessions == 1)
        #expect(server.requests.count == 1)
    }

    @Test func orderInWhichUsersCouldShareIsRefused() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let server = Recorder()
        let chain = InterceptorChain([coalesce(), .bearerAuth(tokens)], transport: server)
        let error = await expectUnseenCaller { try await chain.get() }
        #expect(error?.code == .sharedResponse)
        #expect(error?.message.contains("[.bearerAuth(…), .coalesce(…)]") == true)
        #expect(server.requests.isEmpty)
        #expect(try await chain.get(url("https://elsewhere.example.com/")) == 200)
        let jar = CookieJar([Cookie(name: "sid", value: "1", domain: "api.example.com")])
        let others: [(any Interceptor, String)] = [
            (.cookies(jar, origins: [apiOrigin]), "[.cookies(…), .coalesce(…)]"),
            (.basicAuth(username: "ada", password: "x", origins: [apiOrigin]), "[.basicAuth(…), .coalesce(…)]"),
        ]
        for (interceptor, order) in others {
            let chain = InterceptorChain([coalesce(), interceptor], transport: server)
            let error = await expectUnseenCaller { try await chain.get() }
            #expect(error?.code == .sharedResponse)
            #expect(error?.message.contains(order) == true)
            #expect(try await chain.get(url("https://elsewhere.example.com/")) == 200)
            #expect(try await InterceptorChain([interceptor, coalesce()], transport: server).get() == 200)
        }
        let right = InterceptorChain([.bearerAuth(tokens), coalesce()], transport: server)
        #expect(try await right.get() == 200)
    }

    @Test func cancelledLeaderLeavesAtOnceAndHarmsNoFollower() async throws {
        let server = server()
        let chain = InterceptorChain([coalesce()], transport: server)
        let leader = get(chain)
        await arrivals.reached(1)
        let followers = (0..<10).map { _ in get(chain) }
        await joined.reached(11)
        leader.cancel()
        await #expect(throws: CancellationError.self) { try await leader.value }
        followers[3].cancel()
        await #expect(throws: CancellationError.self) { try await followers[3].value }
        gate.open()
        for (number, follower) in followers.enumerated() where number != 3 {
            #expect(try await follower.value.status == 200)
        }
        #expect(server.requests.count == 1)
    }

    @Test func exchangeIsCancelledWhenTheLastOneLeavesAndTheNextBeginsAnew() async throws {
        let (arrivals, cancelled) = (Tally(), Latch())
        let coalesce = coalesce()
        let server = Recorder { [clock] request in
            if arrivals.count() == 2 { return HTTPResponse(status: 200) }
            do { try await clock.sleep(for: .seconds(1)) } catch {
                cancelled.open()
                throw error
            }
            return HTTPResponse(status: 500)
        }
        let chain = InterceptorChain([coalesce], transport: server)
        let tasks = (0..<3).map { _ in get(chain) }
        await joined.reached(3)
        await clock.sleepers(1)
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        await cancelled.opened()
        #expect(try await get(chain).value.status == 200)
        #expect(coalesce.coalescer.counts == (0, 0))
    }

    @Test func cancelledTaskBeginsNothing() async throws {
        let server = server()
        let chain = InterceptorChain([coalesce()], transport: server)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await chain.get()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(server.requests.isEmpty)
    }

    @Test func failureIsThrownToAllAndTheNextBeginsAnew() async throws {
        let server = server { _, number in
            if number == 1 { throw RefreshRefused() }
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain([coalesce()], transport: server)
        let tasks = (0..<50).map { _ in get(chain) }
        await joined.reached(50)
        gate.open()
        for task in tasks { await #expect(throws: RefreshRefused.self) { try await task.value } }
        #expect(try await get(chain).value.status == 200)
        #expect(server.requests.count == 2)
    }

    @Test func whatStandsInsideIsDoneOnceForAll() async throws {
        let server = server { _, number in HTTPResponse(status: number == 1 ? 503 : 200) }
        let again: some Interceptor = AnyInterceptor.intercept { request, next in
            let response = try await next(request)
            return response.status == 503 ? try await next(request) : response
        }
        let chain = InterceptorChain([coalesce(), again], transport: server)
        let leader = get(chain)
        let tasks = (0..<20).map { _ in get(chain) }
        await joined.reached(21)
        leader.cancel()
        gate.open()
        for task in tasks { #expect(try await task.value.status == 200) }
        #expect(server.requests.count == 2)
    }

    @Test func streamIsReadIntoMemoryWhereAnInterceptorInsideGivesOne() async throws {
        let server = server { _, _ in HTTPResponse(status: 200, body: .oneShot(Chunks(["a", "b"]))) }
        let chain = InterceptorChain([coalesce()], transport: server)
        let tasks = (0..<5).map { _ in get(chain) }
        await joined.reached(5)
        gate.open()
        for task in tasks { #expect(try await task.value.body.collect(upTo: 10) == Data("ab".utf8)) }

        var request = HTTPRequest(url: apiURL)
        request.context.responseBody = .buffered(upTo: 1)
        let error = await #expect(throws: TransportError.self) { try await get(chain, request).value }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func streamedRequestsGoByThemselves() async throws {
        let server = server { _, _ in HTTPResponse(status: 200, body: .oneShot(Chunks(["a", "b"]))) }
        let chain = InterceptorChain([coalesce()], transport: server)
        var request = HTTPRequest(url: apiURL)
        request.context.responseBody = .streamed
        let tasks = (0..<3).map { _ in get(chain, request) }
        await arrivals.reached(3)
        gate.open()
        for task in tasks { #expect(try await task.value.body.collect(upTo: 10) == Data("ab".utf8)) }
        #expect(joined.value == 0)
    }

    @Test func requestOfARefreshDoesNotJoinAnExchangeThatWaitsForIt() async throws {
        let server = TokenServer(accepting: ["new"])
        let chain = Shared<InterceptorChain?>(nil)
        let session: AnyInterceptor = .retryOnUnauthorized(origins: [apiOrigin]) {
            // The same request as the one for which the exchange began.
            _ = try await chain.value?.get()
            server.accepted.value = ["anyone"]
        }
        let token = AnyInterceptor.intercept { request, next in
            var request = request
            request.headers[.authorization] = "Bearer anyone"
            return try await next(request)
        }
        let account = AnyInterceptor.intercept { request, next in
            var request = request
            request.context.cachePartition = "anyone"
            return try await next(request)
        }
        let all = InterceptorChain([account, coalesce(), session, token], transport: server)
        chain.value = all
        let tasks = (0..<20).map { _ in Task { try await all.get() } }
        for task in tasks { #expect(try await task.value == 200) }
        chain.value = nil
    }
}

extension CoalesceInterceptorTests {
    private func request(deadlineAfter duration: Duration?) -> HTTPRequest {
        var request = HTTPRequest(url: apiURL)
        request.context.deadline = duration.map { Deadline(after: $0, time: .manual(clock)) }
        return request
    }

    @Test func eachLeavesAtItsOwnDeadlineAndTheExchangeHasTheLatest() async throws {
        let server = server()
        let chain = InterceptorChain([coalesce()], transport: server)
        let first = get(chain, request(deadlineAfter: .seconds(5)))
        await arrivals.reached(1)
        let deadline = try #require(server.requests.first?.context.deadline)
        #expect(deadline.remaining == .seconds(5))
        #expect(deadline.isEnforced)
        let second = get(chain, request(deadlineAfter: .seconds(9)))
        await joined.reached(2)
        #expect(deadline.remaining == .seconds(9))
        let third = get(chain, request(deadlineAfter: nil))
        await joined.reached(3)
        #expect(deadline.remaining > .seconds(1000))
        await clock.sleepers(2)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: TransportError.self) { try await first.value }
        #expect(error?.code == .timedOut)
        third.cancel()
        await #expect(throws: CancellationError.self) { try await third.value }
        #expect(deadline.remaining == .seconds(4))
        gate.open()
        #expect(try await second.value.status == 200)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func afterAChangeNobodyJoinsWhatWasBegunBeforeItEnded() async throws {
        let server = server { request, number in
            HTTPResponse(status: 200, body: HTTPBody("\(request.method) \(number)"))
        }
        let coalesce = coalesce()
        let chain = InterceptorChain([coalesce], transport: server)
        let before = get(chain)
        await joined.reached(1)
        await arrivals.reached(1)
        let change = get(chain, HTTPRequest(method: .post, url: apiURL))
        await arrivals.reached(2)
        // While the change is under way, the response from before it and the one from after it are both correct.
        let during = get(chain)
        await joined.reached(2)
        let elsewhere = get(chain, HTTPRequest(method: .delete, url: try url("https://other.example.com/")))
        await arrivals.reached(3)
        gate.open()
        _ = try await change.value
        _ = try await elsewhere.value
        #expect(try await before.value.body.data == Data("GET 1".utf8))
        #expect(try await during.value.body.data == Data("GET 1".utf8))
    }

    @Test func getAfterAChangeBeginsAnew() async throws {
        let server = Recorder { [gate, arrivals] request in
            let number = arrivals.count()
            if request.method == .get { await gate.opened() }
            return HTTPResponse(status: 200, body: HTTPBody("\(number)"))
        }
        let chain = InterceptorChain([coalesce()], transport: server)
        let before = get(chain)
        await arrivals.reached(1)
        _ = try await get(chain, HTTPRequest(method: .put, url: try url("https://elsewhere/"))).value
        let alsoBefore = get(chain)
        await joined.reached(2)
        _ = try await get(chain, HTTPRequest(method: .put, url: apiURL)).value
        let after = get(chain)
        await arrivals.reached(4)
        gate.open()
        #expect(try await before.value.body.data == Data("1".utf8))
        #expect(try await alsoBefore.value.body.data == Data("1".utf8))
        #expect(try await after.value.body.data == Data("4".utf8))
    }

    private enum Trace {
        @TaskLocal static var name = "none"
    }

    @Test func exchangeHasTheTaskLocalValuesAndTheContextOfTheRequestItWasBegunFor() async throws {
        let seen = Shared("")
        let chain = InterceptorChain(
            [coalesce()],
            transport: Recorder { request in
                seen.value =
                    "\(Trace.name) \(request.context.latestKey as? String == "key") \(request.context.sharedBy != nil)"
                return HTTPResponse(status: 200)
            }
        )
        var request = HTTPRequest(url: apiURL)
        request.context.latestKey = "key"
        _ = try await Trace.$name.withValue("leader") { [request] in try await chain.send(request) }
        #expect(seen.value == "leader true true")
    }

    @Test(arguments: 0..<10)
    func hundredsAtOnceWithCancellationsEachEndOnceAndNothingIsLeft(seed: UInt64) async throws {
        let coalesce = coalesce()
        let server = Recorder { request in
            await Task.yield()
            try Task.checkCancellation()
            return HTTPResponse(status: 200, body: HTTPBody(request.url.path))
        }
        let chain = InterceptorChain([coalesce], transport: server)
        var random = SeededGenerator(seed: seed)
        let tasks = try (0..<300).map { _ in
            let path = "/\(Int.random(in: 0..<4, using: &random))"
            return (get(chain, HTTPRequest(url: try url("https://h\(path)"))), path, Bool.random(using: &random))
        }
        for (task, _, isCancelled) in tasks where isCancelled {
            task.cancel()
            if Bool.random(using: &random) { await Task.yield() }
        }
        for (task, path, isCancelled) in tasks {
            switch await task.result {
            case .success(let response): #expect(response.body.data == Data(path.utf8))
            case .failure(let error): #expect(isCancelled && error is CancellationError)
            }
        }
        #expect(coalesce.coalescer.counts == (0, 0))
    }
}
