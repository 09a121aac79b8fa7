#if os(Linux)
import Foundation
import Glibc
import InterceptorsTestSupport
import Testing

/// A server of this repository's tests that is written in Python. Its process has ended before the test ends.
final class PythonServer: Sendable {
    let port: Int
    private let process: ChildProcess
    /// Holds the file `log` until the test has read it.
    private let folder: TemporaryFolder

    func url(_ path: String) throws -> URL { try #require(URL(string: "http://127.0.0.1:\(port)\(path)")) }

    /// Runs a server while a closure uses it.
    ///
    /// - Parameter script: the path of a program in the repository. Its standard input is the listening socket.
    static func run<Value>(
        _ script: String,
        _ arguments: [String] = [],
        _ body: (PythonServer) async throws -> Value
    ) async throws -> Value {
        let server = try PythonServer(script, arguments)
        do {
            let value = try await body(server)
            await server.stop()
            return value
        } catch {
            await server.stop()
            let log = (try? String(contentsOf: server.folder.file("log"), encoding: .utf8)) ?? ""
            if !log.isEmpty { Issue.record("The server's log: \(log)") }
            throw error
        }
    }

    private init(_ script: String, _ arguments: [String]) throws {
        folder = try TemporaryFolder()
        let socket = try NginxServer.listeningSocket()
        port = socket.port
        let output = try FileHandle(forWritingTo: folder.write(Data(), to: "log"))
        // The program inherits the socket, so clients that connect before it is ready just wait.
        process = try ChildProcess(
            "/usr/bin/env",
            ["python3", Repository.root.appending(path: script).path] + arguments,
            descriptors: [socket.handle, output, output].map(\.fileDescriptor)
        )
        try output.close()
        try socket.handle.close()
    }

    private func stop() async {
        process.send(signal: SIGKILL)
        await process.ended()
    }
}
#endif
