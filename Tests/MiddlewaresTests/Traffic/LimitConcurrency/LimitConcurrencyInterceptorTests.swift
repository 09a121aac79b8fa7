import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares
@testable import InterceptorsTraffic

@Suite(.againstHanging)
struct LimitConcurrencyInterceptorTests {
    private let clock = ManualClock()

    /// A server that answers when its gate opens, and records how many requests it has at once.
    private final class Server: Transport {
        struct State {
            var now = 0
            var most = 0
            var nowOfHost: [String: Int] = [:]
            var mostOfAHost = 0
            var order: [String] = []
        }

        let state = Shared(State())
        let arrivals = Tally()
        let gate = Latch()
        let isOpen: Bool

        init(isOpen: Bool = false) { self.isOpen = isOpen }

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
            let (path, host) = (request.url.path, request.url.host() ?? "")
            state.change { state in
                state.now += 1
                state.most = max(state.most, state.now)
                state.nowOfHost[host, default: 0] += 1
                state.mostOfAHost = max(state.mostOfAHost, state.nowOfHost[host, default: 0])
                state.order.append(path)
            }
            defer {
                state.change { state in
                    state.now -= 1
                    state.nowOfHost[host, default: 0] -= 1
                }
            }
            arrivals.count()
            if isOpen { await Task.yield() } else { await gate.opened() }
            try Task.checkCancellation()
            return HTTPResponse(status: 200, url: request.url)
        }
    }

    private func limit(
        _ total: Int?,
        perHost: Int? = nil,
        maxQueued: Int? = nil,
        _ line: Tally
    ) -> LimitConcurrencyInterceptor {
        LimitConcurrencyInterceptor(total, perHost: perHost, maxQueued: maxQueued) { _ in line.count() }
    }

    @Test func requestsBeyondTheLimitWaitAndGoInTheOrderInWhichTheyCame() async throws {
        let (server, line) = (Server(), Tally())
        let chain = InterceptorChain([limit(1, line)], transport: server)
        var tasks = [Task { try await chain.get(url("https://h/0")) }]
        await server.arrivals.reached(1)
        for number in 1...20 {
            tasks.append(Task { try await chain.get(url("https://h/\(number)")) })
            await line.reached(number)
        }
        server.gate.open()
        for task in tasks { #expect(try await task.value == 200) }
        #expect(server.state.value.order == (0...20).map { "/\($0)" })
        #expect(server.state.value.most == 1)
    }

    @Test func eachHostHasALimitOfItsOwnAndHoldsUpNoOther() async throws {
        let (server, line) = (Server(), Tally())
        let limit = limit(3, perHost: 1, line)
        let chain = InterceptorChain([limit], transport: server)
        let first = Task { try await chain.get(url("https://one/a")) }
        await server.arrivals.reached(1)
        let second = Task { try await chain.get(url("https://one/b")) }
        await line.reached(1)
        let other = Task { try await chain.get(url("https://two/c")) }
        let port = Task { try await chain.get(url("https://one:8443/d")) }
        await server.arrivals.reached(3)
        #expect(limit.pool.counts == (3, 1, 3))
        server.gate.open()
        for task in [first, second, other, port] { #expect(try await task.value == 200) }
        #expect(server.state.value.order.last == "/b")
        #expect(limit.pool.counts == (0, 0, 0))
    }

    @Test func cancelledWaiterLeavesAtOnceAndTheOthersKeepTheirPlaces() async throws {
        let (server, line) = (Server(), Tally())
        let limit = limit(1, line)
        let chain = InterceptorChain([limit], transport: server)
        var tasks: [Task<HTTPResponse.Status, any Error>] = []
        for number in 0..<5 {
            tasks.append(Task { try await chain.get(url("https://h/\(number)")) })
            await (number == 0 ? server.arrivals : line).reached(max(1, number))
        }
        tasks[2].cancel()
        await #expect(throws: CancellationError.self) { try await tasks[2].value }
        #expect(limit.pool.counts.waiting == 3)
        server.gate.open()
        for number in [0, 1, 3, 4] { #expect(try await tasks[number].value == 200) }
        #expect(server.state.value.order == ["/0", "/1", "/3", "/4"])
    }

    @Test func cancelledTaskIsNotSentThoughThereIsAPermitSoon() async throws {
        let (server, line) = (Server(), Tally())
        let limit = limit(1, line)
        let chain = InterceptorChain([limit], transport: server)
        let holder = Task { try await chain.get() }
        await server.arrivals.reached(1)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await chain.get()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        server.gate.open()
        _ = try await holder.value
        #expect(server.arrivals.value == 1)
        #expect(limit.pool.counts == (0, 0, 0))
    }

    @Test func fullLineFailsAtOnceWithAnErrorThatNamesTheRequest() async throws {
        let (server, line) = (Server(), Tally())
        let chain = InterceptorChain([limit(1, maxQueued: 1, line)], transport: server)
        let holder = Task { try await chain.get() }
        await server.arrivals.reached(1)
        let waiter = Task { try await chain.get() }
        await line.reached(1)
        let error = await #expect(throws: LimitError.self) {
            try await chain.get(url("https://h/x?token=secret-value"))
        }
        #expect(error?.code == .queueFull)
        #expect(error?.description.contains("1 requests are already waiting") == true)
        #expect(error?.description.contains("GET https://h/x?token=<redacted>") == true)
        #expect(error.map { "\($0.localizedDescription) \(String(reflecting: $0))".contains("secret-value") } == false)
        server.gate.open()
        #expect(try await holder.value == 200)
        #expect(try await waiter.value == 200)
    }

    @Test func failedRequestGivesItsPermitBack() async throws {
        let limit = limit(1, Tally())
        let chain = InterceptorChain([limit], transport: Recorder { _ in throw RefreshRefused() })
        for _ in 0..<3 { await #expect(throws: RefreshRefused.self) { try await chain.get() } }
        #expect(limit.pool.counts == (0, 0, 0))
    }

    @Test func waitingEndsAtTheDeadlineOfTheCall() async throws {
        let (server, line) = (Server(), Tally())
        let limit = limit(1, line)
        let chain = InterceptorChain([limit], transport: server)
        let holder = Task { try await chain.get() }
        await server.arrivals.reached(1)
        var request = HTTPRequest(url: apiURL)
        request.context.deadline = Deadline(after: .seconds(5), time: .manual(clock))
        let waiter = Task { [request] in try await chain.send(request) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        let error = await #expect(throws: TransportError.self) { try await waiter.value }
        #expect(error?.code == .timedOut)
        #expect(error?.description.contains("a permit of limitConcurrency") == true)
        #expect(limit.pool.counts == (1, 0, 1))
        server.gate.open()
        _ = try await holder.value
        #expect(server.arrivals.value == 1)
        #expect(limit.pool.counts == (0, 0, 0))
    }

    @Test func deadlineIsNoMatterOnceTheRequestIsSent() async throws {
        let chain = InterceptorChain([limit(1, Tally())], transport: Recorder())
        var request = HTTPRequest(url: apiURL)
        request.context.deadline = Deadline(after: .zero, time: .manual(clock))
        #expect(try await chain.send(request).status == 200)
        #expect(clock.pendingSleeps == 0)
    }

    @Test func requestWithoutAHostIsTheTransportsToRefuse() async throws {
        let chain = InterceptorChain([limit(1, perHost: 1, Tally())], transport: StubTransport())
        let error = await #expect(throws: TransportError.self) { try await chain.get(url("mailto:a@b")) }
        #expect(error?.code == .unsupportedURL)
    }

    @Test func limitBelowOneIsOne() async throws {
        let chain = InterceptorChain([.limitConcurrency(0, perHost: -1, maxQueued: -1)], transport: Recorder())
        #expect(try await chain.get() == 200)
    }

    // On one actor, the call resumes only after it has both received the permit and been cancelled.
    @MainActor @Test func callCancelledAsItGetsAPermitReleasesIt() async throws {
        let (waits, waiting) = AsyncStream<Void>.makeStream()
        let pool = PermitPool(total: 1, perHost: nil, maxQueued: nil) { _ in waiting.yield() }
        let request = HTTPRequest(url: apiURL)
        let scope = pool.scope(of: request)
        try await pool.acquire(for: scope, request)
        let call = Task { @MainActor in try await pool.acquire(for: scope, request) }
        for await _ in waits { break }
        pool.release(for: scope)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(pool.counts.inUse == 0)
    }
}

extension LimitConcurrencyInterceptorTests {
    private func stream(_ chunks: [String] = ["a", "b"], failure: (any Error)? = nil) -> Recorder {
        Recorder { _ in HTTPResponse(status: 200, body: .oneShot(Chunks(chunks, failure: failure))) }
    }

    @Test func permitOfAStreamIsHeldUntilItHasBeenRead() async throws {
        let limit = limit(1, Tally())
        let chain = InterceptorChain([limit], transport: stream())
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(limit.pool.counts.inUse == 1)
        #expect(try await response.body.collect(upTo: 10) == Data("ab".utf8))
        #expect(limit.pool.counts.inUse == 0)
    }

    @Test func permitOfAStreamThatFailsIsGivenBack() async throws {
        let limit = limit(1, Tally())
        let chain = InterceptorChain([limit], transport: stream(["a"], failure: RefreshRefused()))
        let response = try await chain.send(HTTPRequest(url: apiURL))
        await #expect(throws: RefreshRefused.self) { try await response.body.collect(upTo: 10) }
        #expect(limit.pool.counts.inUse == 0)
    }

    @Test func permitOfADiscardedStreamIsGivenBackAtOnce() async throws {
        let limit = limit(1, Tally())
        let chain = InterceptorChain([limit], transport: stream())
        let response = try await chain.send(HTTPRequest(url: apiURL))
        response.body.discard()
        response.body.discard()
        #expect(limit.pool.counts.inUse == 0)
    }

    @Test func permitOfAStreamThatNobodyHoldsIsGivenBack() async throws {
        let limit = limit(1, Tally())
        let chain = InterceptorChain([limit], transport: stream())
        _ = try await chain.send(HTTPRequest(url: apiURL))
        #expect(limit.pool.counts.inUse == 0)
    }

    @Test func streamReadToItsEndLetsTheNextGo() async throws {
        let line = Tally()
        let chain = InterceptorChain([limit(1, line)], transport: stream())
        let response = try await chain.send(HTTPRequest(url: apiURL))
        let next = Task { try await chain.send(HTTPRequest(url: apiURL)).status }
        await line.reached(1)
        for try await _ in response.body {}
        #expect(try await next.value == 200)
    }

    @Test func cancelledReaderGivesThePermitBack() async throws {
        let limit = limit(1, Tally())
        let (began, continuation) = AsyncStream<Void>.makeStream()
        let transport = Recorder { _ in HTTPResponse(status: 200, body: .oneShot(NoChunks(began: continuation))) }
        let chain = InterceptorChain([limit], transport: transport)
        let task = Task { try await chain.send(HTTPRequest(url: apiURL)).body.collect(upTo: 10) }
        for await _ in began { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(limit.pool.counts.inUse == 0)
    }

    @Test func bufferedResponseHoldsNoPermit() async throws {
        let limit = limit(1, Tally())
        let chain = InterceptorChain([limit], transport: Recorder { _ in HTTPResponse(status: 200, body: "ab") })
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(limit.pool.counts.inUse == 0)
        #expect(response.body.data == Data("ab".utf8))
    }
}

extension LimitConcurrencyInterceptorTests {
    @Test(arguments: [true, false])
    func refreshGoesOnWhenThePermitIsHeldByRequestsWaitingForIt(isExpired: Bool) async throws {
        let server = TokenServer(accepting: ["new"])
        let chain = Shared<InterceptorChain?>(nil)
        let tokens = TokenStore(
            .init("old", expiresAt: isExpired ? .distantPast : nil),
            origins: [apiOrigin]
        ) { _ in
            _ = try await chain.value?.get(URL(string: "https://api.example.com/login")!)
            return .new
        }
        let limit = limit(1, perHost: 1, Tally())
        let all = InterceptorChain([limit, .retryOnUnauthorized(tokens), .bearerAuth(tokens)], transport: server)
        chain.value = all
        try await withThrowingTaskGroup { group in
            for _ in 0..<100 { group.addTask { try await all.get() } }
            for try await status in group { #expect(status == 200) }
        }
        chain.value = nil
        #expect(limit.pool.counts == (0, 0, 0))
    }

    @Test(arguments: 0..<10)
    func noPermitIsLostWhateverIsCancelledWhenever(seed: UInt64) async throws {
        let server = Server(isOpen: true)
        let limit = limit(3, perHost: 2, Tally())
        let chain = InterceptorChain([limit], transport: server)
        var random = SeededGenerator(seed: seed)
        let tasks = (0..<300).map { number in
            let host = Int.random(in: 0..<3, using: &random)
            return (
                Task { try await chain.get(url("https://host-\(host)/\(number)")) },
                isCancelled: Bool.random(using: &random)
            )
        }
        for (task, isCancelled) in tasks where isCancelled {
            task.cancel()
            if Bool.random(using: &random) { await Task.yield() }
        }
        for (task, isCancelled) in tasks {
            switch await task.result {
            case .success(let status): #expect(status == 200)
            case .failure(let error): #expect(isCancelled && error is CancellationError)
            }
        }
        #expect(server.state.value.most <= 3)
        #expect(server.state.value.mostOfAHost <= 2)
        #expect(limit.pool.counts == (0, 0, 0))
    }
}
