#if os(Linux) || os(macOS)
public import Foundation

/// The checks of a journal's files by other programs: the scripts in Tests/JournalOutput.
///
/// If a program is missing, a test is skipped with a message; if CI is set, it fails.
public enum JournalOutput {
    private static let isCI = ProcessInfo.processInfo.environment["CI"] != nil

    private static func run(_ script: String, _ arguments: [String]) async throws -> Command.Result {
        let path = Repository.root.appending(path: "Tests/JournalOutput/\(script)").path
        return try await Command.run("/usr/bin/env", ["python3", path] + arguments)
    }

    /// Whether to check archives: haralyzer and jsonschema are installed, or have to be.
    public static func mustCheckHAR() async throws -> Bool {
        if isCI { return true }
        return try await run("check_har.py", ["--tools"]).status == 0
    }

    /// Whether to open pages: Chromium is installed, or has to be.
    public static func mustOpenPages() async throws -> Bool {
        if isCI { return true }
        return try await run("chromium.py", ["--installed"]).status == 0
    }

    /// The comment of a skipped test of an archive.
    public static let noHARTools = "haralyzer or jsonschema is not installed: Scripts/test installs them"
    /// The comment of a skipped test of a page.
    public static let noChromium = "Chromium is not installed: Scripts/test installs it if CI is set"

    /// Checks an archive against the schema of HAR 1.2, and has haralyzer read it. The output is what haralyzer read, as JSON.
    public static func check(har: Data) async throws -> Command.Result {
        let folder = try TemporaryFolder()
        return try await run("check_har.py", [folder.write(har, to: "journal.har").path])
    }

    /// Opens a page or an archive in Chromium, for one of the views of check_page.py. Screenshots stay in `.build/journal-page`.
    public static func open(_ file: Data, as view: String) async throws -> Command.Result {
        let folder = try TemporaryFolder()
        let pictures = Repository.root.appending(path: ".build/journal-page")
        return try await run("check_page.py", [view, folder.write(file, to: "page.html").path, pictures.path])
    }
}
#endif
