#if os(Linux)
import Foundation
import Glibc
import InterceptorsTestSupport
import Testing

/// An nginx for one test, with one worker process. Its files and log are in a temporary folder, and the system chooses
/// its port. The process has ended before the test ends.
final class NginxServer: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The port on 127.0.0.1.
    let port: Int
    /// The folder for the configuration, the log and the served files.
    var folder: URL { root.url }
    private let root: TemporaryFolder
    private let process: ChildProcess

    /// The folder of the served files.
    var files: URL { folder.appending(path: "files") }

    func url(_ path: String = "/", scheme: String = "http", host: String = "127.0.0.1") throws -> URL {
        try #require(URL(string: "\(scheme)://\(host):\(port)\(path)"))
    }

    /// Runs a server while a closure uses it.
    ///
    /// - Parameters:
    ///   - listen: parameters after the address in the `listen` directive, such as `ssl`.
    ///   - server: directives for the `server` block.
    ///   - files: the names and contents of other files in the folder.
    static func run<Value>(
        listen: String = "",
        server: String = "",
        files: [String: Data] = [:],
        _ body: (NginxServer) async throws -> Value
    ) async throws -> Value {
        let server = try NginxServer(listen: listen, server: server, files: files)
        do {
            let value = try await body(server)
            try await server.stop()
            return value
        } catch {
            // The test's error matters more than an error at the server's end.
            try? await server.stop()
            throw error
        }
    }

    private init(listen: String, server: String, files: [String: Data]) throws {
        guard let executable = Self.executable else { throw Failure(description: Self.absence) }
        root = try TemporaryFolder()
        let folder = root.url
        for name in ["files", "temporary"] {
            let path = folder.appending(path: name)
            try FileManager.default.createDirectory(at: path, withIntermediateDirectories: true)
        }
        for (name, content) in files { try content.write(to: folder.appending(path: name)) }
        let socket = try Self.listeningSocket()
        port = socket.port
        let configuration = Self.configuration(port: socket.port, listen: listen, server: server)
        try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
        let log = folder.appending(path: "error.log")
        try Data().write(to: log)

        let output = try FileHandle(forWritingTo: log)
        // nginx inherits the socket, as it would from an older nginx process. Nobody else can take the port, and
        // clients that connect before nginx is ready just wait.
        process = try ChildProcess(
            executable.path,
            ["-p", folder.path, "-c", "nginx.conf", "-e", "error.log"],
            environment: ["NGINX": "0;"],
            descriptors: [socket.handle, output, output].map(\.fileDescriptor)
        )
        try output.close()
        try socket.handle.close()
    }

    /// Ends the process, and waits for its end.
    private func stop() async throws {
        let wasRunning = !process.hasEnded
        process.send(signal: SIGTERM)
        let ending = await process.ended()
        guard wasRunning, ending == .exit(0) else {
            let log = try String(contentsOf: folder.appending(path: "error.log"), encoding: .utf8)
            throw Failure(description: "nginx ended by itself (\(ending)):\n\(log)")
        }
    }
}

extension NginxServer {
    /// The program at NGINX_PROGRAM or, if that isn't set, in one of the usual places.
    static let executable: URL? = {
        let named = ProcessInfo.processInfo.environment["NGINX_PROGRAM"].map { [$0] }
        let usual = ["/usr/sbin/nginx", "/usr/local/sbin/nginx", "/usr/local/bin/nginx", "/usr/local/nginx/sbin/nginx"]
        return (named ?? usual).first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }
    }()

    /// Without nginx, tests that need it are skipped with a message; if CI is set, they fail.
    static var mustRun: Bool { executable != nil || ProcessInfo.processInfo.environment["CI"] != nil }

    static let absence =
        "nginx is not installed: Scripts/test installs it (Debian, Ubuntu: apt-get install nginx-light)"

    private static func configuration(port: Int, listen: String, server: String) -> String {
        """
        daemon off;
        worker_processes 1;
        \(geteuid() == 0 ? "user root root;" : "")
        pid nginx.pid;
        error_log error.log;
        events { worker_connections 1024; }
        http {
            access_log off;
            client_body_temp_path temporary/body;
            proxy_temp_path temporary/proxy;
            fastcgi_temp_path temporary/fastcgi;
            uwsgi_temp_path temporary/uwsgi;
            scgi_temp_path temporary/scgi;
            client_max_body_size 0;
            default_type text/plain;
            sendfile on;
            server {
                listen 127.0.0.1:\(port) \(listen);
                root files;
                location = /about { return 200 "$server_protocol $connection $connection_requests"; }
                \(server)
            }
        }
        """
    }

    static func listeningSocket() throws -> (handle: FileHandle, port: Int) {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "No socket: errno \(errno).") }
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 511) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        guard isListening else { throw Failure(description: "No port: errno \(errno).") }
        return (handle, Int(UInt16(bigEndian: address.sin_port)))
    }
}
#endif
