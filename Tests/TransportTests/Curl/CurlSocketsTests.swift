#if os(Linux)
import Foundation
import Glibc
import Testing
import Transport
import TransportTesting

@Suite(.timeLimit(.minutes(5))) struct CurlSocketsTests {
    /// The limit is the configured silence, within reason, whatever the request's own.
    @Test(arguments: [
        (Duration.seconds(60) as Duration?, 60_000 as Int32), (.seconds(1), 30_000), (.seconds(200), 200_000), (nil, 0),
        (.seconds(90_000_000_000), Int32.max),
    ])
    func silentConnectionsAreProbedAndThoseThatTakeNothingEnd(idle: Duration?, limit: Int32) async throws {
        let server = try MockServer()
        server.on(.get, "/", MockResponse())
        var configuration = CurlTransport.Configuration()
        configuration.timeouts = Timeouts(idle: idle)
        let transport = CurlTransport(configuration)
        _ = try await transport.send(makeRequest(server, timeouts: Timeouts(idle: .seconds(600))))
        let socket = try #require(Self.socket(connectedTo: server.port))
        #expect(Self.option(socket, SOL_SOCKET, SO_KEEPALIVE) == 1)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 30)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPINTVL) == 10)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPCNT) == 3)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == limit)
        await transport.shutDown()
    }

    /// This process's end of a connection to a port.
    private static func socket(connectedTo port: Int) -> Int32? {
        (0..<getdtablesize()).prefix(65_536).first { descriptor in
            var address = sockaddr_in()
            var size = socklen_t(MemoryLayout<sockaddr_in>.size)
            let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &size) == 0 }
            }
            return isConnected && address.sin_family == sa_family_t(AF_INET)
                && UInt16(bigEndian: address.sin_port) == UInt16(port)
        }
    }

    private static func option(_ socket: Int32, _ level: Int32, _ option: Int32) -> Int32? {
        var (value, size) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(socket, level, option, &value, &size) == 0 ? value : nil
    }
}
#endif
