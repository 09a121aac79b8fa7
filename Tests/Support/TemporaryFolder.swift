public import Foundation

/// A folder for one test. It is removed with its content when the last reference to it goes away.
public final class TemporaryFolder: Sendable {
    /// The folder's location, without symbolic links.
    public let url: URL

    /// Creates an empty folder in the system's temporary directory.
    public convenience init() throws {
        self.init(url: Self.newURL())
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    /// A folder that doesn't exist yet, for code that creates it.
    public static func absent() -> TemporaryFolder { TemporaryFolder(url: newURL()) }

    private init(url: URL) { self.url = url }

    private static func newURL() -> URL {
        FileManager.default.temporaryDirectory.resolvingSymlinksInPath()
            .appending(path: "interceptors-\(UUID().uuidString)")
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The URL of a file in the folder. The file need not exist.
    public func file(_ name: String = UUID().uuidString) -> URL { url.appending(path: name) }

    /// Writes a file into the folder, and returns its URL.
    public func write(_ content: Data, to name: String = UUID().uuidString) throws -> URL {
        let file = file(name)
        try content.write(to: file)
        return file
    }
}
