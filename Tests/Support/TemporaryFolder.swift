public import Foundation

/// An empty folder for one test. It is removed with its content when the last reference to it goes away.
public final class TemporaryFolder: Sendable {
    /// The folder's location.
    public let url: URL

    /// Creates the folder in the system's temporary directory.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "interceptors-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The URL of a file in the folder. The file need not exist.
    public func file(_ name: String) -> URL { url.appending(path: name) }

    /// Writes a file into the folder, and returns its URL.
    public func write(_ content: Data, to name: String = UUID().uuidString) throws -> URL {
        try content.write(to: file(name))
        return file(name)
    }
}
