internal import Foundation

/// The folder of a check, removed at its end.
struct ScratchFolder: Sendable {
    private let url: URL

    init() throws {
        let name = "store-conformance-\(UUID().uuidString)"
        url = FileManager.default.temporaryDirectory.resolvingSymlinksInPath().appending(path: name)
        try Self.make(url)
    }

    /// Makes an empty folder in this one.
    func folder() throws -> URL {
        let folder = url.appending(path: UUID().uuidString)
        try Self.make(folder)
        return folder
    }

    private static func make(_ folder: URL) throws {
        try FileManager.default.createDirectory(
            at: folder,
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
    }

    // The system's temporary folder may keep what can't be removed.
    func remove() { try? FileManager.default.removeItem(at: url) }
}
