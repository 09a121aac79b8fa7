#if os(Linux)
import Foundation
import InterceptorsTestSupport
import Testing

/// A tuspyserver for one test. Its uploads are in a temporary folder.
struct TusServer {
    /// The folder of the uploads.
    let folder: TemporaryFolder
    private let server: PythonServer

    func url(_ path: String) throws -> URL { try server.url(path) }

    /// The contents of the uploads, whatever their names are.
    var contents: [Data] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.url.path)) ?? []
        return names.filter { !$0.contains(".") }.compactMap { try? Data(contentsOf: folder.file($0)) }
    }

    /// Runs a server while a closure uses it.
    static func run<Value>(_ body: (TusServer) async throws -> Value) async throws -> Value {
        let folder = try TemporaryFolder()
        return try await PythonServer.run(script, [folder.url.path]) { server in
            try await body(TusServer(folder: folder, server: server))
        }
    }

    private static let script = "Tests/TusServer/tus_server.py"

    /// Whether to run the tests: the server is installed, or has to be.
    static func mustRun() async throws -> Bool {
        if ProcessInfo.processInfo.environment["CI"] != nil { return true }
        let program = Repository.root.appending(path: script).path
        return try await Command.run("/usr/bin/env", ["python3", program, "--tools"]).status == 0
    }

    static let absence = "tuspyserver is not installed: Scripts/test installs it"
}

extension Trait where Self == ConditionTrait {
    static var needsTusServer: Self { .enabled("\(TusServer.absence)") { try await TusServer.mustRun() } }
}
#endif
