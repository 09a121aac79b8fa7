import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransfers
import Testing

/// Events over real connections. The server's pauses and the client's waits are on a clock that only the test moves.
@Suite(.againstHanging, .heavy, .checksArchive) struct StreamsOverSocketsTests {
    private let clock = ManualClock()
    private let server: MockServer
    private let type: HTTPFields = [.contentType: "text/event-stream"]

    init() throws { server = try MockServer(time: .manual(clock)) }

    private var client: Client { Client(baseURL: server.url, interceptors: [.validateStatus()]) }

    private func pausing(_ events: String) -> StubAnswer {
        .stream([Data(events.utf8), Data("data: never\n\n".utf8)], every: .seconds(1_000), headers: type)
    }

    @Test func leavingTheLoopClosesTheConnection() async throws {
        server.on(.get, "/stream", pausing("data: a\n\n"))
        for try await event in client.events("/stream", idleLimit: nil) {
            #expect(event.data == "a")
            break
        }
        await server.closedConnections(1)
    }

    @Test func cancellingClosesTheConnection() async throws {
        server.on(.get, "/stream", pausing("data: a\n\n"))
        let (began, continuation) = AsyncStream<Void>.makeStream()
        let client = client
        let task = Task { for try await _ in client.events("/stream", idleLimit: nil) { continuation.yield() } }
        for await _ in began { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        await server.closedConnections(1)
    }

    @Test func aBrokenConnectionIsMadeAgainAfterTheLastEvent() async throws {
        let chunk = "id: 1\ndata: a\n\nid: 2\nda"
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
        let size = String(chunk.utf8.count, radix: 16)
        server.enqueue(
            StubAnswer(steps: [.send("\(head)\(size)\r\n\(chunk)\r\n"), .close]),
            .stream([Data("data: b\n\n".utf8)], headers: type),
            .status(204)
        )
        let (client, time) = (client, TimeSource.manual(clock))
        let data = try await clock.run {
            var data: [String] = []
            for try await event in client.events("/stream", time: time) { data.append(event.data) }
            return data
        }
        #expect(data == ["a", "b"])
        #expect(server.requests.map { $0.headers["Last-Event-ID"] } == [nil, "1", "1"])
    }

    @Test func aServerThatIsGoneIsTriedUntilThereWereTooManyFailures() async throws {
        let (client, time) = (client, TimeSource.manual(clock))
        server.stop()
        let error = await #expect(throws: TransportError.self) {
            try await clock.run {
                for try await _ in client.events("/stream", reconnection: Reconnection(maxFailures: 4), time: time) {}
            }
        }
        #expect(error?.code == .cannotConnect)
        #expect(clock.now.elapsed >= .seconds(9))
    }
}
