import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

/// The end of a connection, and the request for the next one.
extension ServerSentEventsTests {
    @Test func anEndedStreamGoesOnAfterItsLastEvent() async throws {
        stub.enqueue(eventStream("id: 1\ndata: a\n\n"), eventStream("data: b\n\n", "id: …\n\nid: 3"), .status(204))
        let all = try await all(events(after: "0"))
        #expect(all.map(\.data) == ["a", "b"])
        // The second stream sends no ID, so the ID of the first still holds.
        #expect(all.map(\.id) == ["1", "1"])
        #expect(stub.requests.map { $0.headers["Last-Event-ID"] } == ["0", "1", "…"])
    }

    @Test(arguments: [HTTPErrorCode.offline, .cannotFindHost, .cannotConnect, .connectionLost, .timedOut])
    func aFailedConnectionIsMadeAgain(code: HTTPErrorCode) async throws {
        stub.enqueue(.failure(lost(code)), eventStream("data: a\n\n"), .status(204))
        #expect(try await all(events()).map(\.data) == ["a"])
    }

    @Test func aBrokenStreamGoesOnWithoutItsIncompleteEvent() async throws {
        stub.enqueue(eventStream("id: 1\ndata: a\n\nid: 2\ndata: b\n", thenFailing: lost(.truncated)), .status(204))
        #expect(try await all(events()).map(\.data) == ["a"])
        #expect(stub.requests.last?.headers["Last-Event-ID"] == "1")
    }

    @Test func theServerSaysHowLongToWait() async throws {
        stub.enqueue(eventStream("retry: 20000\n\n"), .status(204))
        #expect(try await all(events()).isEmpty)
        #expect(clock.now.elapsed >= .seconds(20))
        #expect(clock.now.elapsed <= .seconds(40))
    }

    @Test func tooManyConsecutiveFailuresEndTheStreamWithTheLast() async throws {
        for _ in 0..<3 {
            stub.enqueue(.failure(lost()), .failure(lost()))
            // A response starts the count again, even without content.
            stub.enqueue(eventStream(thenFailing: lost(.truncated)))
        }
        stub.enqueue(.failure(lost()), .failure(lost()), .failure(lost(.cannotConnect)))
        let error = await #expect(throws: TransportError.self) {
            try await all(events(reconnection: Reconnection(maxFailures: 3)))
        }
        #expect(error?.code == .cannotConnect)
        #expect(stub.requests.count == 12)
    }

    @Test func aQuietStreamThatAProxyCutsGoesOnWithoutLimit() async throws {
        for _ in 0..<30 { stub.enqueue(eventStream("", "", thenFailing: lost(), every: .seconds(30))) }
        stub.enqueue(.status(204))
        #expect(try await all(events(reconnection: Reconnection(maxFailures: 1))).isEmpty)
        // 60 s for each connection, and at most 6 s for each wait.
        #expect(clock.now.elapsed <= .seconds(30 * 66))
    }

    @Test func connectionsThatBreakAtOnceAreMadeLessAndLessOften() async throws {
        for _ in 0..<20 { stub.enqueue(eventStream(thenFailing: lost())) }
        stub.enqueue(.status(204))
        #expect(try await all(events(reconnection: Reconnection(maxFailures: 1))).isEmpty)
        #expect(clock.now.elapsed > .seconds(600))
    }

    @Test func aSilentStreamIsConnectedAgainAndIsNoFailure() async throws {
        stub.enqueue(
            eventStream("", "data: late\n\n", every: .seconds(100)),
            eventStream(":\n", ":\n", "data: a\n\n", every: .seconds(50)),
            .status(204)
        )
        let reconnection = Reconnection(maxFailures: 1)
        #expect(try await all(events(idleLimit: .seconds(60), reconnection: reconnection)).map(\.data) == ["a"])
        #expect(stub.requests.count == 3)
    }

    @Test func withoutReconnectionTheStreamEndsWithTheConnection() async throws {
        stub.enqueue(eventStream("data: a\n\n"), eventStream("data: b\n\n", thenFailing: lost()))
        #expect(try await all(events(reconnection: nil)).map(\.data) == ["a"])
        await #expect(throws: TransportError.self) { try await all(events(reconnection: nil)) }
        #expect(stub.requests.count == 2)
    }

    @Test func withoutReconnectionSilenceIsAnError() async throws {
        stub.enqueue(eventStream("data: a\n\n", "data: late\n\n", every: .seconds(100)))
        let error = await #expect(throws: TransportError.self) { try await all(events(reconnection: nil)) }
        #expect(error?.code == .timedOut)
    }

    @Test func aPostIsNotSentAgain() async throws {
        stub.enqueue(eventStream("data: a\n\n", "data: b\n\n"))
        let endpoint = EndpointRequest<NoContent>.post("/answers", body: .encoded(User(id: 1)))
        let events = makeClient(stub).events(from: endpoint, time: .manual(clock))
        #expect(try await all(events).map(\.data) == ["a", "b"])
        let request = try #require(stub.requests.first)
        #expect(request.method == .post)
        #expect(try JSONDecoder().decode(User.self, from: #require(request.body.data)) == User(id: 1))
        #expect(request.context.endpoint is EndpointRequest<NoContent>)
    }

    @Test(arguments: [HTTPRequest.Method.put, .delete, .patch])
    func anUnsafeRequestIsNotSentAgain(method: HTTPRequest.Method) async throws {
        stub.enqueue(eventStream("data: a\n\n"), eventStream("data: b\n\n", thenFailing: lost()))
        let endpoint = EndpointRequest<NoContent>(method, "/answers")
        let events = makeClient(stub).events(from: endpoint, time: .manual(clock))
        #expect(try await all(events).map(\.data) == ["a"])
        await #expect(throws: TransportError.self) { try await all(events) }
        #expect(stub.requests.count == 2)
    }

    @Test func aSafeRequestOfAnEndpointIsSentAgain() async throws {
        stub.enqueue(eventStream("data: a\n\n"), .status(204))
        let endpoint = EndpointRequest<NoContent>.get("/stream")
        let events = makeClient(stub).events(from: endpoint, time: .manual(clock))
        #expect(try await all(events).map(\.data) == ["a"])
        #expect(stub.requests.count == 2)
    }

    @Test func cancellingEndsAWaitForAConnectionAtOnce() async throws {
        stub.enqueue(eventStream("data: a\n\n"))
        let events = events()
        let task = Task { for try await _ in events {} }
        await clock.sleepers(1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(stub.requests.count == 1)
    }

    @Test(arguments: ["1\r\nX: y", "\u{7}", "\u{7F}", String(repeating: "x", count: 4097)])
    func anIDThatNoFieldCanHoldIsNotSent(id: String) async throws {
        stub.enqueue(.status(204))
        #expect(try await all(events(after: id)).isEmpty)
        #expect(stub.requests.first?.headers["Last-Event-ID"] == nil)
        guard !id.contains("\r") else { return }
        stub.enqueue(eventStream("id: 1\ndata: a\n\nid: \(id)\ndata: b\n\n"), .status(204))
        #expect(try await all(events()).map(\.id) == ["1", id])
        #expect(stub.requests.last?.headers["Last-Event-ID"] == nil)
    }

    @Test func theReconnectionTimeHoldsOnTheNextConnection() async throws {
        stub.enqueue(eventStream("retry: 100\n\ndata: a\n\n"), eventStream("data: b\n\n"), .status(204))
        #expect(try await all(events()).map(\.retry) == [.milliseconds(100), .milliseconds(100)])
        #expect(clock.now.elapsed < .seconds(1))
    }
}
