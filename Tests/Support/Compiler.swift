#if os(Linux)
internal import Foundation

/// The system's C compiler and the headers of its libraries.
public enum Compiler {
    /// Whether tests that compile C can run: yes if there is a compiler, and always in CI.
    public static var mustRun: Bool { isInstalled || isCI }

    /// The reason that a skipped test gives when no compiler is installed.
    public static let absence = "There is no C compiler (Debian, Ubuntu: apt-get install gcc)"

    /// Whether to compare a shim with a header: yes if it is installed, and always in CI.
    public static func mustCheck(header: String) -> Bool {
        let folders = [
            "/usr/include", "/usr/local/include", "/usr/include/x86_64-linux-gnu", "/usr/include/aarch64-linux-gnu",
        ]
        let hasHeader = folders.contains { FileManager.default.fileExists(atPath: "\($0)/\(header)") }
        return hasHeader && isInstalled || isCI
    }

    /// The reason that a skipped test gives when headers are missing.
    public static let absenceOfHeaders =
        "There is no C compiler, or the headers are not installed (Debian, Ubuntu: apt-get install gcc"
        + " libcurl4-openssl-dev libssl-dev zlib1g-dev; Scripts/test does it in CI)"

    /// Checks a text in C for errors.
    public static func check(_ source: String, _ arguments: String...) async throws -> Command.Result {
        try await run(["-fsyntax-only"] + arguments, source)
    }

    /// Compiles a text in C into a shared library.
    public static func buildLibrary(_ source: String, at path: String) async throws -> Command.Result {
        try await run(["-shared", "-fPIC", "-o", path], source)
    }

    private static let path = "/usr/bin/cc"
    private static var isInstalled: Bool { FileManager.default.isExecutableFile(atPath: path) }
    private static var isCI: Bool { ProcessInfo.processInfo.environment["CI"] != nil }

    private static func run(_ arguments: [String], _ source: String) async throws -> Command.Result {
        try await Command.run(path, arguments + ["-x", "c", "-"], input: Data(source.utf8))
    }
}
#endif
