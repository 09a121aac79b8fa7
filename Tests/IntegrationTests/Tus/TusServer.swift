#if os(Linux)
import Foundation
import Glibc
import Interceptors
import TestSupport
import Testing

/// A tuspyserver for one test. Its uploads are in a temporary folder. The process has ended before the test ends.
final class TusServer: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// The folder of the uploads.
    let folder: TemporaryFolder
    let port: Int
    private let process: ChildProcess
    private let log: URL

    func url(_ path: String) throws -> URL { try #require(URL(string: "http://127.0.0.1:\(port)\(path)")) }

    /// The contents of the uploads, whatever their names are.
    var contents: [Data] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
        return names.filter { !$0.contains(".") }.compactMap { try? Data(contentsOf: folder.file($0)) }
    }

    /// Runs a server while a closure uses it.
    static func run<Value>(_ body: (TusServer) async throws -> Value) async throws -> Value {
        let server = try TusServer()
        do {
            let value = try await body(server)
            await server.stop()
            return value
        } catch {
            await server.stop()
            let log = (try? String(contentsOf: server.log, encoding: .utf8)) ?? ""
            if !log.isEmpty { Issue.record("The server's log: \(log)") }
            throw error
        }
    }

    private init() throws {
        folder = try TemporaryFolder()
        let logs = try TemporaryFolder()
        log = try logs.write(Data(), to: "log")
        let socket = try NginxServer.listeningSocket()
        port = socket.port
        let output = try FileHandle(forWritingTo: log)
        // The program inherits the socket, so clients that connect before it is ready just wait.
        process = try ChildProcess(
            "/usr/bin/env",
            ["python3", Self.script, folder.url.path],
            descriptors: [socket.handle, output, output].map(\.fileDescriptor)
        )
        try output.close()
        try socket.handle.close()
    }

    private func stop() async {
        process.send(signal: SIGKILL)
        await process.ended()
    }

    private static let script = Repository.root.appending(path: "Tests/TusServer/tus_server.py").path

    /// Whether to run the tests: the server is installed, or has to be.
    static func mustRun() async throws -> Bool {
        if ProcessInfo.processInfo.environment["CI"] != nil { return true }
        return try await Command.run("/usr/bin/env", ["python3", script, "--tools"]).status == 0
    }

    static let absence = "tuspyserver is not installed: Scripts/test installs it"
}

extension Trait where Self == ConditionTrait {
    static var needsTusServer: Self { .enabled("\(TusServer.absence)") { try await TusServer.mustRun() } }
}
#endif
