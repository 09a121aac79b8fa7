#if os(Linux) || os(macOS)
internal import Foundation

/// The programs that this package builds for its tests.
public enum Program {
    /// The path of a program beside the running test program or in the debug build; `nil` if it wasn't built.
    public static func path(of name: String) -> String? {
        let beside = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        return [beside, Repository.root.appending(path: ".build/debug")].map { $0.appending(path: name).path }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Whether the tests that need a program of the system run: yes where it is installed, and always in CI, so that they fail
    /// there instead of being skipped.
    public static func mustRunTests(with name: String) -> Bool {
        let environment = ProcessInfo.processInfo.environment
        let folders = (environment["PATH"] ?? "").split(separator: ":")
        return environment["CI"] != nil
            || folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }
}
#endif
