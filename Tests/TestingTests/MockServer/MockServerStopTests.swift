import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#endif

@Suite(.againstHanging) struct MockServerStopTests {
    /// Opens a connection to the server in each state that a connection can have.
    private static func occupy(_ server: MockServer, clock: ManualClock) async throws -> [RawClient] {
        server.on(.get, "/never", .neverAnswer)
        server.on(.get, "/route") { _ in
            try await clock.sleep(for: .seconds(1))
            return StubAnswer.status(200)
        }
        server.on(.get, "/slow", .stream([Data(), Data("x".utf8)], every: .seconds(1)))
        server.on(.get, "/endless", .repeating(Data(repeating: 0, count: 1 << 20), times: 1 << 10))
        server.on(.get, "/done", .status(200).closing())
        server.on(.get, "/idle", .status(200))
        var clients: [RawClient] = []
        for path in ["/never", "/route", "/slow", "/endless", "/done", "/idle"] {
            let client = try RawClient(port: server.port)
            try await client.send(Wire.get(path))
            clients.append(client)
        }
        let silent = try RawClient(port: server.port)
        let halfHead = try RawClient(port: server.port)
        try await halfHead.send("GET / HT")
        let halfBody = try RawClient(port: server.port)
        try await halfBody.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc")
        clients += [silent, halfHead, halfBody]
        await server.requests(atLeast: 6)
        await server.openedConnections(clients.count)
        await clock.sleepers(2)
        return clients
    }

    #if os(Linux)
    // Runs in a separate process, because other tests open and close descriptors, too.
    @Test func stopLeavesNoThreadAndNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let clock = ManualClock()
            for _ in 0..<3 {
                let before = OwnProcess.socketsAndPipes
                let server = try MockServer(time: .manual(clock))
                let clients = try await Self.occupy(server, clock: clock)
                #expect(OwnProcess.threads(named: "mock:\(server.port)") == 1 + clients.count)
                server.stop()
                #expect(OwnProcess.threads(named: "mock:\(server.port)") == 0)
                for client in clients { client.close() }
                #expect(OwnProcess.socketsAndPipes == before)
                await clock.noSleepers()
                server.stop()
                #expect(OwnProcess.socketsAndPipes == before)
            }
        }
    }

    @Test func theLastReferenceStopsTheServer() async {
        await #expect(processExitsWith: .success) {
            let clock = ManualClock()
            let before = OwnProcess.socketsAndPipes
            var server: MockServer? = try MockServer(time: .manual(clock))
            let port = try #require(server?.port)
            let clients = try await Self.occupy(try #require(server), clock: clock)
            server = nil
            #expect(OwnProcess.threads(named: "mock:\(port)") == 0)
            for client in clients { client.close() }
            #expect(OwnProcess.socketsAndPipes == before)
        }
    }

    @Test func endedConnectionsLeaveNoThreadAndNoDescriptor() async {
        await #expect(processExitsWith: .success) {
            let server = try MockServer()
            server.on(nil, "/**", .status(200))
            let before = OwnProcess.socketsAndPipes
            for count in 1...200 {
                let client = try RawClient(port: server.port)
                _ = try await client.ask(Wire.get())
                client.close()
                await server.closedConnections(count)
                #expect(OwnProcess.socketsAndPipes == before)
            }
            server.stop()
            #expect(OwnProcess.threads(named: "mock:\(server.port)") == 0)
        }
    }
    #endif

    #if os(Linux) || os(macOS)
    @Test func writingToAClientThatHasGoneDoesNotEndTheProcess() async {
        await #expect(processExitsWith: .success) {
            signal(SIGPIPE, SIG_DFL)
            let server = try MockServer()
            let endless = StubAnswer.repeating(Data(repeating: 0, count: 1 << 20), times: 1 << 10)
            for count in 1...100 {
                server.enqueue(endless)
                let client = try RawClient(port: server.port)
                try await client.send(Wire.get())
                // Every fourth client closes in the middle of the answer, the others mostly before it.
                if count.isMultiple(of: 4) { _ = try await client.receive(through: "\r\n\r\n") }
                client.close(byReset: count.isMultiple(of: 8))
                await server.closedConnections(count)
            }
            server.stop()
        }
    }

    // Runs in a separate process, because another test's server could get the port.
    @Test func nobodyListensAfterwards() async {
        await #expect(processExitsWith: .success) {
            let server = try MockServer()
            server.stop()
            let failure = #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port) }
            #expect(failure?.code == ECONNREFUSED)
        }
    }
    #endif

    @Test func whatWasReceivedCanStillBeRead() async throws {
        let server = try MockServer()
        server.on(nil, "/**", .status(200))
        _ = try await RawClient(port: server.port).ask(Wire.get("/a"))
        server.stop()
        #expect(server.requests.map(\.path) == ["/a"])
    }

    @Test func theTaskOfARouteIsCancelled() async throws {
        let server = try MockServer()
        let clock = ManualClock()
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        server.on(.get, "/") { _ in
            do {
                try await clock.sleep(for: .seconds(1))
            } catch is CancellationError {
                end.yield(true)
            }
            return StubAnswer.status(200)
        }
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        await clock.sleepers(1)
        server.stop()
        #expect(await ended.first { _ in true } == true)
    }

    @Test func theTaskOfARouteIsCancelledWhenTheClientGoes() async throws {
        let server = try MockServer()
        let clock = ManualClock()
        server.on(.get, "/") { _ in
            try await clock.sleep(for: .seconds(1))
            return StubAnswer.status(200)
        }
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        await clock.sleepers(1)
        client.close()
        await server.closedConnections(1)
        await clock.noSleepers()
    }

    @Test func aRouteThatIgnoresItsCancellationDoesNotHoldUpTheStop() async throws {
        let server = try MockServer()
        let (gate, open) = AsyncStream.makeStream(of: Void.self)
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        server.on(.get, "/") { _ in
            // An unstructured task isn't cancelled with the route's task.
            await Task { for await _ in gate { break } }.value
            end.yield()
            return StubAnswer.status(200)
        }
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        await server.requests(atLeast: 1)
        server.stop()
        open.yield()
        // The route's late answer finds a closed connection.
        for await _ in ended { break }
    }

    @Test func aRouteMayStopItsServer() async throws {
        let server = try MockServer()
        server.on(.get, "/") { [weak server] _ in
            server?.stop()
            return StubAnswer.status(200)
        }
        let client = try RawClient(port: server.port)
        try await client.send(Wire.get())
        #expect(try await client.receiveAll() == "")
        // Waits for the stop that the route began.
        server.stop()
        #expect(server.connectionsOpen == 0)
    }

    @Test func manyMayStopItAtOnce() async throws {
        let server = try MockServer()
        let clock = ManualClock()
        server.on(nil, "/**") { _ in
            try await clock.sleep(for: .seconds(1))
            return StubAnswer.status(200)
        }
        let clients = try (0..<20).map { _ in try RawClient(port: server.port) }
        for client in clients { try await client.send(Wire.get()) }
        await server.requests(atLeast: 20)
        await withTaskGroup { group in
            for _ in 0..<20 {
                group.addTask {
                    server.stop()
                    // Each call returns after the server has stopped.
                    #expect(server.connectionsOpen == 0)
                }
            }
        }
    }

    @Test func waitsEndWithTheServer() async throws {
        let server = try MockServer()
        await withTaskGroup { group in
            group.addTask { #expect(await server.requests(atLeast: 1).isEmpty) }
            group.addTask { await server.closedConnections(1) }
            group.addTask { await server.openedConnections(1) }
            group.addTask { server.stop() }
        }
        await server.requests(atLeast: 1)
    }

    @Test func waitsEndWithTheirTask() async throws {
        let server = try MockServer()
        let waits = (0..<100).map { _ in Task { await server.requests(atLeast: 1) } }
        for wait in waits { wait.cancel() }
        for wait in waits { #expect(await wait.value.isEmpty) }
    }
}
