import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@testable import InterceptorsTransfers

@Suite(.againstHanging) struct RenewalTests {
    @Test func rejectedTokenIsReplacedByTheChain() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("no", status: 401), .text("film"))
        let number = Atomic(0)
        let token: any Interceptor = .intercept { request, next in
            request.headers[.authorization] = "Bearer \(number.wrappingAdd(1, ordering: .relaxed).newValue)"
            return try await next(request)
        }
        let transfers = try world.launch([token]) { end in
            #expect(end.result.failure?.isUnauthorized == true && end.transfer.attempt == 1)
            return request()
        }
        let transfer = try await transfers.download(request(), to: world.file)
        let end = await world.ends.reached(1)[0]
        #expect(try end.result.get().status == 200)
        #expect(end.transfer.id == transfer.id && end.transfer.attempt == 2)
        #expect(world.stub.requests.map { $0.headers[.authorization] } == ["Bearer 1", "Bearer 2"])
    }

    @Test func tokenWithoutAnExpiryIsRefreshedAfterA401() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("no", status: 401), .text("film"))
        let refreshes = Tally()
        let tokens = TokenStore(.init("old"), origins: [try #require(Origin(apiURL))]) { rejected in
            refreshes.count()
            #expect(rejected?.value == "old")
            return .init("new")
        }
        let transfers = try world.launch([.retryOnUnauthorized(tokens), .bearerAuth(tokens), .validateStatus()]) { _ in
            request()
        }
        try await transfers.download(request(), to: world.file)
        let end = await world.ends.reached(1)[0]
        #expect(try end.result.get().status == 200)
        #expect(world.stub.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(refreshes.value == 1)
    }

    /// A sign-in between the 401 and the renewal has already replaced the token.
    @Test func tokenThatWasNeverSentIsNotRefreshed() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("no", status: 401), .text("film"))
        let refreshes = Tally()
        let tokens = TokenStore(.init("A"), origins: [try #require(Origin(apiURL))]) { _ in
            refreshes.count()
            return .init("C")
        }
        let transfers = try world.launch([.retryOnUnauthorized(tokens), .bearerAuth(tokens)]) { _ in
            tokens.signIn(.init("B"))
            return request()
        }
        try await transfers.download(request(), to: world.file)
        let end = await world.ends.reached(1)[0]
        #expect(try end.result.get().status == 200)
        #expect(world.stub.requests.map { $0.headers[.authorization] } == ["Bearer A", "Bearer B"])
        #expect(refreshes.value == 0)
    }

    @Test func rejectedTokenIsNotSentAgainAfterAFailedRefresh() async throws {
        struct NoRefresh: Error {}
        let world = try TransferWorld()
        world.stub.on(.get, "/v1/*", .text("no", status: 401))
        let tokens = TokenStore(.init("A"), origins: [try #require(Origin(apiURL))]) { _ in throw NoRefresh() }
        let transfers = try world.launch([.retryOnUnauthorized(tokens), .bearerAuth(tokens)]) { _ in request() }
        try await transfers.download(request(), to: world.file)
        let end = await world.ends.reached(1)[0]
        #expect(end.result.failure?.isUnauthorized == true)
        #expect(world.stub.requests.count == 1)
        #expect(world.problems.withLock { $0 }.contains { "\($0)".contains("NoRefresh") || $0 is NoRefresh })
    }

    /// Without an interceptor that handles the 401, the app replaces the credential itself.
    @Test(arguments: [true, false]) func chainThatPassesThe401OnPreparesTheRequest(judges: Bool) async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("no", status: 401), .text("film"))
        let transfers = try world.launch(judges ? [.validateStatus()] : []) { _ in
            var renewed = request()
            renewed.headers["X-Key"] = "2"
            return renewed
        }
        try await transfers.download(request(), to: world.file)
        let end = await world.ends.reached(1)[0]
        #expect(try end.result.get().status == 200)
        #expect(world.stub.requests.map { $0.headers["X-Key"] } == [nil, "2"])
    }

    @Test func anotherOriginDoesNotRejectTheToken() async throws {
        let world = try TransferWorld()
        world.stub.on(.get, "/v1/*", .status(302, headers: [.location: "https://cdn.example/film"]))
        let stub = world.stub
        stub.on(.get, "/film") { _ in
            stub.requests.count < 3 ? .text("no", status: 401) : .text("film")
        }
        let refreshes = Tally()
        let tokens = TokenStore(.init("A"), origins: [try #require(Origin(apiURL))]) { _ in
            refreshes.count()
            return .init("B")
        }
        let transfers = try world.launch([.retryOnUnauthorized(tokens), .bearerAuth(tokens)]) { _ in request() }
        try await transfers.download(request(), to: world.file, allowsOtherOrigins: true)
        let end = await world.ends.reached(1)[0]
        #expect(try end.result.get().status == 200)
        #expect(refreshes.value == 0)
        #expect(
            world.stub.requests.map { $0.headers[.authorization] } == ["Bearer A", nil, "Bearer A", nil]
        )
    }

    @Test func chainGetsNoResponseWithoutA401() async throws {
        let seen = Notes<Int>()
        let chain: any Interceptor = .intercept { request, next in
            do {
                return try await next(request)
            } catch {
                seen.add(error is CancellationError ? 0 : 1)
                throw error
            }
        }
        let preparation = RequestPreparation(
            Client(baseURL: apiURL, interceptors: [chain], transport: StubTransport())
        )
        _ = try await preparation.prepare(request())
        #expect(seen.all == [0])
    }

    @Test func attemptsAreBounded() async throws {
        let world = try TransferWorld()
        world.stub.on(.get, "/v1/*", .text("no", status: 401))
        let transfers = try world.launch(maxAttempts: 3) { _ in request() }
        try await transfers.download(request(), to: world.file)
        let end = await world.ends.reached(1)[0]
        #expect(end.result.failure?.isUnauthorized == true && end.transfer.attempt == 3)
        #expect(world.stub.requests.count == 3)
    }

    @Test func otherFailuresAreNotRenewed() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("no", status: 500))
        let transfers = try world.launch { _ in
            Issue.record("renewed")
            return request()
        }
        try await transfers.download(request(), to: world.file)
        let failure = await world.ends.reached(1)[0].result.failure
        #expect(failure?.isServerFault == true && world.stub.requests.count == 1)
    }

    @Test func withoutARequestTheFirstFailureIsTheEnd() async throws {
        struct SignedOut: Error {}
        let world = try TransferWorld()
        world.stub.on(.get, "/v1/*", .text("no", status: 401))
        let asked = Tally()
        let transfers = try world.launch { _ in
            if asked.count() == 1 { return nil }
            throw SignedOut()
        }
        for count in 1...2 {
            try await transfers.download(request(), to: world.file)
            let end = await world.ends.reached(count)[count - 1]
            #expect(end.result.failure?.isUnauthorized == true)
        }
        #expect(world.problems.withLock { $0 }.map { $0 is SignedOut } == [true])
    }

    @Test func cancellingWhileARequestIsPreparedStartsNothing() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("no", status: 401))
        let (entered, gate) = (Latch(), Gate())
        let transfers = try world.launch { _ in
            entered.open()
            await gate.opened()
            return request()
        }
        let transfer = try await transfers.download(request(), to: world.file)
        await entered.opened()
        transfers.cancel(transfer.id)
        let end = await world.ends.reached(1)[0]
        #expect(end.result.failure is CancellationError)
        gate.open()
        await transfers.eventsDelivered()
        #expect(world.stub.requests.count == 1 && world.names == [])
    }

    @Test func cancellingWhileTheContentIsReadLeavesNoFile() async throws {
        let world = try TransferWorld()
        world.stub.enqueue(.text("no", status: 401))
        let (entered, gate, removed) = (Latch(), Gate(), Latch())
        let transfers = try world.launch { _ in
            request(
                filmURL,
                .post,
                .restartable(length: 4) {
                    AsyncStream { feed in
                        entered.open()
                        Task {
                            await gate.opened()
                            feed.yield(Data("film".utf8))
                            feed.finish()
                            removed.open()
                        }
                    }
                }
            )
        }
        let transfer = try await transfers.upload(request(filmURL, .post, "film"))
        await entered.opened()
        transfers.cancel(transfer.id)
        #expect(await world.ends.reached(1)[0].result.failure is CancellationError)
        gate.open()
        await removed.opened()
        while !world.names.isEmpty { await Task.yield() }
        #expect(world.stub.requests.count == 1)
    }

    /// The renewal of a machine, in every order of the events that can come with it.
    @Test func everyOrderOfARenewalEndsOnce() {
        let (first, second) = (
            TransferTask(id: "a", attempt: 1),
            TransferTask(id: "a", attempt: 2)
        )
        let file = receivedFile
        let events: [TransferEvent] = [
            .downloaded(first, .status(401), file), .completed(first, .status(401), failure: nil), .started(second),
            .downloaded(second, .status(200), file), .completed(second, .status(200), failure: nil),
            .notRenewed(second),
            .cancelled(first.id),
        ]
        var wrong: [[Int]] = []
        for order in permutations(Array(events.indices)) {
            var world = ProcessWorld(FakeDisk(files: [oldFile: "old"]), maxAttempts: 2)
            world.enqueue(.download())
            world.handle(.started(first))
            for index in order { world.handle(events[index]) }
            var states = world.storage.log.map(\.disk)
            world.finish()
            if !Self.isRight(world) { wrong.append(order) }
            // A kill after any change: the tasks are gone, or the second one is listed.
            states.append(world.storage.disk)
            for disk in states where !disk.records.isEmpty {
                for listed in [[], [ListedTask(number: 2, task: second)]] {
                    var next = ProcessWorld(disk, maxAttempts: 2)
                    next.handle(.listed(listed, isFinal: true))
                    next.handle(.downloaded(second, .status(200), file))
                    next.handle(.completed(second, .status(200), failure: nil))
                    next.finish()
                    if !Self.isRight(next) { wrong.append(order) }
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.count), such as \(wrong.prefix(3))")
    }

    private static func isRight(_ world: ProcessWorld) -> Bool {
        let disk = world.storage.disk
        let isFinished = if case .finished = world.ends.first?.ending { true } else { false }
        return world.ends.count == 1 && disk.records.isEmpty && disk.hidden.isEmpty
            && isFinished == (disk.files[oldFile] == "new")
    }
}
