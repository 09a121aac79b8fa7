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
}
#endif
