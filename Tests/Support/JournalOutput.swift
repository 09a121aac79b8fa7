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

    /// The number of entries that haralyzer read from an archive.
    private struct Facts: Decodable {
        let entries: Int
    }

    /// Checks an archive against the schema of HAR 1.2, and has haralyzer read it. The output is what haralyzer read, as JSON.
    public static func check(har: Data) async throws -> Command.Result {
        let folder = try TemporaryFolder()
        return try await run("check_har.py", [folder.write(har, to: "journal.har").path])
    }

    /// Checks archives in one run of the script. Returns the faults as text, which is empty if there are none.
    ///
    /// - Parameter archives: the archives, each with the number of entries that it must have.
    public static func faults(in archives: [(har: Data, entries: Int)]) async throws -> String {
        let folder = try TemporaryFolder()
        for (index, archive) in archives.enumerated() {
            // The script reads the files in the order of their names.
            _ = try folder.write(archive.har, to: "\(1_000_000 + index).har")
        }
        let result = try await run("check_har.py", [folder.url.path])
        guard result.status == 0 else { return result.complaint.isEmpty ? "status \(result.status)" : result.complaint }
        let read = try result.text.split(separator: "\n").map { line in
            try JSONDecoder().decode(Facts.self, from: Data(line.utf8)).entries
        }
        let expected = archives.map(\.entries)
        return read == expected ? "" : "haralyzer read \(read) entries of \(expected)."
    }

    /// Opens a page or an archive in Chromium, for one of the views of check_page.py. Screenshots stay in `.build/journal-page`.
    public static func open(_ file: Data, as view: String) async throws -> Command.Result {
        let folder = try TemporaryFolder()
        let pictures = Repository.root.appending(path: ".build/journal-page")
        return try await run("check_page.py", [view, folder.write(file, to: "page.html").path, pictures.path])
    }
}
#endif
