#if os(Linux)
import Foundation
import Glibc
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct CurlHandshakeTests {
    /// The way a server ends a connection after it has read the first bytes of a handshake.
    enum Ending: CaseIterable {
        case end, reset
    }

    /// A server that ends each connection within the TLS handshake. It runs until the process ends.
    private static func server(_ ending: Ending, connections: Tally) throws -> URL {
        let listener = try SilentServer()
        Thread.detachNewThread {
            while case let client = accept(listener.descriptor, nil, nil), client >= 0 {
                connections.count()
                var hello = [UInt8](repeating: 0, count: 1 << 16)
                _ = read(client, &hello, hello.count)
                if ending == .reset {
                    var option = linger(l_onoff: 1, l_linger: 0)
                    setsockopt(client, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
                }
                close(client)
            }
        }
        return try #require(URL(string: "https://127.0.0.1:\(listener.port)/"))
    }

    @Test(arguments: Ending.allCases)
    func aConnectionThatEndsWithinTheHandshakeIsLostAndNothingWasSent(ending: Ending) async throws {
        let connections = Tally()
        let url = try Self.server(ending, connections: connections)
        let transport = CurlTransport()
        for method in [HTTPRequest.Method.get, .post] {
            let request = HTTPRequest(method: method, url: url, body: method == .post ? "content" : .empty)
            let error = try await failure { try await transport.send(request) }
            #expect(error.code == .connectionLost && error.sentNothing, "\(error)")
            #expect(error.localizedDescription == "The connection to the server was lost.")
        }
        #expect(connections.value == 2)
        await transport.shutDown()
    }

    @Test func aBadCertificateIsAFailureOfTLSAndNothingWasSent() async throws {
        let server = try MockServer(tls: TestIdentity.selfSigned())
        let error = try await failure { try await CurlTransport().send(HTTPRequest(url: server.url)) }
        #expect(error.code == .tlsFailed && error.sentNothing, "\(error)")
    }

    @Test func aRequestThatIsLostAfterItWasSentMayHaveBeenSeen() async throws {
        let server = try MockServer()
        server.on(nil, "/") { _ in .closeBeforeHead }
        let error = try await failure { try await CurlTransport().send(makeRequest(server, "/", .post, body: "a")) }
        #expect(error.code == .connectionLost && !error.sentNothing, "\(error)")
    }

    @Test func aLimitThatPassesAfterTheRequestWasSentProvesNothing() async throws {
        let (server, clock) = (try MockServer(), ManualClock())
        let gate = AsyncStream.makeStream(of: Void.self)
        server.on(nil, "/") { _ in
            for await _ in gate.stream {}
            return StubAnswer.status(200)
        }
        let transport = CurlTransport(timeouts: Timeouts(idle: .seconds(5)), time: .manual(clock))
        let call = Task { try await transport.send(makeRequest(server, "/", .post, body: "a")) }
        await server.requests(atLeast: 1)
        await clock.sleepers(1)
        clock.advance(by: .seconds(5))
        let error = try await failure { try await call.value }
        #expect(error.code == .timedOut && !error.sentNothing)
        // Bytes of an incomplete head may have come.
        #expect(!error.message.contains("Nothing"), "\(error)")
        gate.continuation.finish()
        await transport.shutDown()
    }
}
#endif
