#if os(Linux)
import Foundation
import Glibc
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct SocketLimitsTests {
    /// The limit is the configuration's idle limit, at least 30 seconds. The request's own limit doesn't matter.
    @Test(arguments: [
        (Duration.seconds(60) as Duration?, 60_000 as Int32), (.seconds(1), 30_000), (.seconds(200), 200_000), (nil, 0),
        (.seconds(90_000_000_000), Int32.max),
    ])
    func silentConnectionsAreProbedAndThoseThatTakeNothingEnd(idle: Duration?, limit: Int32) async throws {
        let server = try MockServer()
        server.on(.get, "/", .status(200))
        var configuration = CurlTransport.Configuration()
        configuration.timeouts = Timeouts(idle: idle)
        let transport = CurlTransport(configuration)
        _ = try await transport.send(makeRequest(server, timeouts: Timeouts(idle: .seconds(600))))
        let socket = try #require(OwnConnections.sockets(to: server.port).first)
        #expect(Self.option(socket, SOL_SOCKET, SO_KEEPALIVE) == 1)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPIDLE) == 30)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPINTVL) == 10)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_KEEPCNT) == 3)
        #expect(Self.option(socket, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT) == limit)
        await transport.shutDown()
    }

    /// Under load, because a child may be started at any moment.
    @Test(arguments: ["http", "https"])
    func childrenInheritNoConnection(scheme: String) async throws {
        let root = try TestAuthority()
        let server = try scheme == "https" ? MockServer(tls: root.issue()) : MockServer()
        server.on(.get, "/", .status(200, body: "ok").closing())
        let transport = CurlTransport(.init(tls: TLSConfiguration(trust: .only([root.certificate]))))
        let calls = Task { while !Task.isCancelled { _ = try? await transport.send(makeRequest(server)) } }
        for _ in 0..<20 {
            let child = try await Self.socketsOfAChild()
            let own = Set(OwnConnections.sockets(to: server.port).compactMap(Self.inode(of:)))
            #expect(child.isDisjoint(with: own))
        }
        calls.cancel()
        _ = await calls.value
        server.on(.get, "/kept", .status(200, body: "ok"))
        _ = try await transport.send(makeRequest(server, "/kept"))
        let own = Set(OwnConnections.sockets(to: server.port).compactMap(Self.inode(of:)))
        #expect(!own.isEmpty)
        #expect(try await Self.socketsOfAChild().isDisjoint(with: own))
        await transport.shutDown()
    }

    /// The sockets of a child that `posix_spawn` started without file actions.
    private static func socketsOfAChild() async throws -> Set<String> {
        // Every child inherits this socket.
        let inherited = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(inherited) }
        let folder = try TemporaryFolder()
        let output = folder.url.appending(path: "list").path
        var id = pid_t()
        let command = ["/bin/sh", "-c", "ls -l /proc/self/fd > '\(output)'"]
        var arguments: [UnsafeMutablePointer<CChar>?] = command.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        try #require(posix_spawn(&id, "/bin/sh", nil, nil, &arguments, environ) == 0)
        let child = id
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                var status: Int32 = 0
                while waitpid(child, &status, 0) < 0, errno == EINTR {}
                continuation.resume()
            }
        }
        let text = try String(contentsOfFile: output, encoding: .utf8)
        let sockets = Set(text.matches(of: /socket:\[[0-9]+\]/).map { String($0.0) })
        // Without this socket the list is incomplete, and proves nothing.
        try #require(sockets.contains(try #require(inode(of: inherited))))
        return sockets
    }

    private static func inode(of socket: Int32) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(socket)")
    }

    private static func option(_ socket: Int32, _ level: Int32, _ option: Int32) -> Int32? {
        var (value, size) = (Int32(-1), socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(socket, level, option, &value, &size) == 0 ? value : nil
    }
}
#endif
