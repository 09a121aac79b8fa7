public import Foundation

/// An empty folder for one test, removed with all that is in it when the last one who holds it lets go.
public final class TemporaryFolder: Sendable {
    /// Where it is.
    public let url: URL

    /// Makes it where temporary files are kept.
    public init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "interceptors-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// The URL of a file in it, which need not exist.
    public func file(_ name: String) -> URL { url.appending(path: name) }

    /// Writes a file, and says where it is.
    public func write(_ content: Data, to name: String = UUID().uuidString) throws -> URL {
        try content.write(to: file(name))
        return file(name)
    }
}
