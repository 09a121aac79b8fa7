internal import Foundation
internal import Interceptors

#if !canImport(Darwin)
internal import CInterceptorsFiles
#endif

/// Tells without reading whether a file still has the content that it had before.
///
/// An edit in place changes the value, and so does another file under the same name. On Linux, two edits within one tick of the file
/// system's clock, a few milliseconds, count as one.
struct FileVersion: Sendable, Equatable {
    private let numbers: [Int64?]

    /// - Parameter url: the URL of a file, or of a symbolic link to one.
    /// - Returns: `nil` if the file system doesn't tell.
    init?(of url: URL) {
        #if canImport(Darwin)
        var target = url.resolvingSymlinksInPath()
        target.removeAllCachedResourceValues()
        // Apple requires apps to declare a reason for reading the times of files, but not for these identifiers.
        let keys: Set<URLResourceKey> = [.fileSizeKey, .fileResourceIdentifierKey, .generationIdentifierKey]
        guard let values = try? target.resourceValues(forKeys: keys), let size = values.fileSize else { return nil }
        numbers = [
            Int64(size), values.fileResourceIdentifier.map { Int64($0.hash) },
            values.generationIdentifier.map { Int64($0.hash) },
        ]
        #else
        var version: [Int64] = [0, 0, 0, 0]
        guard url.isFileURL, cfiles_version(url.path, &version) == 0 else { return nil }
        numbers = version
        #endif
    }
}

extension HTTPBody {
    /// The version of the file that the body was made from, as the file is now; `nil` for every other body, and if the file system
    /// doesn't tell.
    ///
    /// A body that is a file reads the file again for each attempt, so parts of two attempts may come from two versions.
    // Disks may be slow, so the call runs off the caller's actor.
    @concurrent
    func fileVersion() async -> FileVersion? { file.flatMap { FileVersion(of: $0) } }
}
