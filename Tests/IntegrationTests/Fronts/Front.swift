#if os(Linux)
import Foundation
import Glibc
import InterceptorsTestSupport
import Synchronization
import Testing

/// A server of another project that speaks HTTP/2 over TLS. It answers 401 at once unless the token is `new`, and passes every
/// other request to another server. The process has ended before the test ends.
enum Front: String, CaseIterable, Sendable {
    case haproxy, caddy, nginx

    private static let token = "Bearer new"

    /// Runs the program while a closure uses it.
    ///
    /// - Parameters:
    ///   - upstream: the other server's port on 127.0.0.1.
    ///   - directives: more directives for nginx.
    func run(
        _ fixture: NginxTLSTests.Fixture,
        upstream: Int,
        directives: String = "",
        _ body: (URL) async throws -> Void
    ) async throws {
        switch self {
        case .nginx:
            let server = """
                \(NginxTLSTests.Fixture.directives) \(directives)
                location / {
                    if ($http_authorization != "\(Self.token)") { return 401; }
                    proxy_pass http://127.0.0.1:\(upstream);
                }
                """
            try await NginxServer.run(listen: "ssl http2", server: server, files: fixture.files) { server in
                try await body(server.url("/", scheme: "https", host: "localhost"))
            }
        case .haproxy: try await HAProxy(fixture, Self.haproxy(upstream)).run(body)
        case .caddy: try await Caddy(fixture) { Self.caddy($0, upstream) }.run(body)
        }
    }

    /// The program's path, in one of the usual places.
    static func executable(_ name: String) throws -> String {
        let folders = ["/usr/sbin", "/usr/bin", "/usr/local/sbin", "/usr/local/bin"]
        let paths = folders.map { "\($0)/\(name)" }
        let found = paths.first { FileManager.default.isExecutableFile(atPath: $0) }
        return try #require(found, "\(name) is not installed: Scripts/test installs it if CI is set")
    }

    /// The programs to test: the installed ones, and all in CI.
    static var testable: [Front] {
        let isCI = ProcessInfo.processInfo.environment["CI"] != nil
        return allCases.filter { isCI || (try? executable($0.rawValue)) != nil }
    }

    private static func haproxy(_ upstream: Int) -> String {
        """
        defaults
          mode http
          timeout connect 60s
          timeout client 60s
          timeout server 60s
        frontend front
          bind fd@0 ssl crt both.pem alpn h2,http/1.1
          http-request deny deny_status 401 unless { req.hdr(authorization) "\(token)" }
          default_backend back
        backend back
          server upstream 127.0.0.1:\(upstream)

        """
    }

    private static func caddy(_ port: Int, _ upstream: Int) -> String {
        """
        {
            admin off
            auto_https off
        }
        https://localhost:\(port) {
            bind 127.0.0.1
            tls server.pem server.key
            @others not header Authorization "\(token)"
            respond @others 401
            reverse_proxy 127.0.0.1:\(upstream)
        }

        """
    }
}

/// Inherits its listening socket, as nginx does, so that clients may connect before it is ready.
private struct HAProxy {
    private let root: TemporaryFolder
    private let socket: (handle: FileHandle, port: Int)

    init(_ fixture: NginxTLSTests.Fixture, _ configuration: String) throws {
        root = try TemporaryFolder()
        socket = try NginxServer.listeningSocket()
        let both = ["server.pem", "server.key"].compactMap { fixture.files[$0] }.reduce(Data(), +)
        try both.write(to: root.file("both.pem"))
        try Data(configuration.utf8).write(to: root.file("haproxy.cfg"))
        try Data().write(to: root.file("log"))
    }

    func run(_ body: (URL) async throws -> Void) async throws {
        let url = try #require(URL(string: "https://localhost:\(socket.port)/"))
        let output = try FileHandle(forWritingTo: root.file("log"))
        let process = try ChildProcess(
            Front.executable("haproxy"),
            ["-db", "-C", root.url.path, "-f", "haproxy.cfg"],
            descriptors: [socket.handle, output, output].map(\.fileDescriptor)
        )
        try socket.handle.close()
        try await process.run(log: root.file("log")) { try await body(url) }
    }
}

/// Can't inherit a socket. It shares a port that the test reserves, and says when it listens.
private struct Caddy {
    private let root: TemporaryFolder
    private let port: SharedPort

    init(_ fixture: NginxTLSTests.Fixture, _ configuration: (Int) -> String) throws {
        root = try TemporaryFolder()
        port = try SharedPort()
        for (name, content) in fixture.files { try content.write(to: root.file(name)) }
        try Data(configuration(port.number).utf8).write(to: root.file("Caddyfile"))
    }

    func run(_ body: (URL) async throws -> Void) async throws {
        let url = try #require(URL(string: "https://localhost:\(port.number)/"))
        let (output, null) = (Pipe(), try FileHandle(forReadingFrom: URL(filePath: "/dev/null")))
        let process = try ChildProcess(
            "/usr/bin/env",
            [
                "-C", root.url.path, "HOME=\(root.url.path)", "XDG_DATA_HOME=\(root.url.path)",
                Front.executable("caddy"), "run", "--config", "Caddyfile", "--adapter", "caddyfile",
            ],
            descriptors: [null, output.fileHandleForWriting, output.fileHandleForWriting].map(\.fileDescriptor)
        )
        try output.fileHandleForWriting.close()
        let (isReady, log) = (Latch(), root.file("log"))
        Thread.detachNewThread {
            var text = Data()
            while case let piece = output.fileHandleForReading.availableData, !piece.isEmpty {
                text += piece
                if text.range(of: Data("serving initial configuration".utf8)) != nil { isReady.open() }
            }
            try? text.write(to: log)
            isReady.open()
        }
        await isReady.opened()
        try await process.run(log: log) { try await body(url) }
        withExtendedLifetime(port) {}
    }
}

extension ChildProcess {
    /// Runs a closure, then ends the program, which must not have ended by itself.
    fileprivate func run(log: URL, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            send(signal: SIGTERM)
            await ended()
            throw error
        }
        let wasRunning = !hasEnded
        send(signal: SIGTERM)
        await ended()
        guard !wasRunning else { return }
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        throw NginxServer.Failure(description: "The server ended by itself:\n\(text)")
    }
}

/// A port on 127.0.0.1 that programs of the same user may listen on, and nobody else gets while this value lives.
private final class SharedPort {
    let number: Int
    private let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        var (yes, address, size) = (Int32(1), sockaddr_in(), socklen_t(MemoryLayout<sockaddr_in>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEPORT, &yes, socklen_t(MemoryLayout<Int32>.size))
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isBound = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && getsockname(descriptor, address, &size) == 0
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
        guard isBound else {
            let code = errno
            close(descriptor)
            throw NginxServer.Failure(description: "No port: errno \(code).")
        }
    }

    deinit { close(descriptor) }
}
#endif
