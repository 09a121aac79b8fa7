import Foundation
import Interceptors
import InterceptorsRecordings

/// This program as an app under test, which another process starts with stubs in the launch arguments.
enum App {
    static let argument = "app"

    /// The stubs that a test can name.
    private static let table: [String: [Stub]] = [
        "users": [
            .on(.get, "/users/*", .json(#"{"id":42,"name":"Ada"}"#)),
            .on(.get, "/users", .json(#"[{"id":42,"name":"Ada"}]"#)),
            .on(.post, "/users", .json(#"{"id":43,"name":"Bob"}"#, status: 201)),
        ]
    ]

    /// Makes the calls, and prints the responses.
    static func run() async throws {
        let client = Client(
            baseURL: URL(string: "https://api.example.com"),
            interceptors: [],
            // A real app passes `true` only in builds for developers.
            transport: .launchStubs(allowed: true, defaults: table, otherwise: .platform())
        )
        for call in Call.all { print("  \(try await call.answer(from: client))") }
    }

    #if os(Linux) || os(macOS)
    /// Starts this program again, as a UI test starts an app, and waits for its end.
    static func start(with stubs: LaunchStubs) throws {
        guard let program = Bundle.main.executableURL else { throw Wrong("This program's file is unknown.") }
        let process = Process()
        process.executableURL = program
        process.arguments = [argument] + (try stubs.launchArguments)
        // Otherwise the other process could print first.
        fflush(nil)
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Wrong("The app ended with \(process.terminationStatus).") }
    }
    #endif
}
