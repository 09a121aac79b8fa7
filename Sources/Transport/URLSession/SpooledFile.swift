internal import Foundation

/// A stream's bytes in a file that only this user can read. It is removed when nobody holds it any more.
final class SpooledFile: Sendable {
    let url: URL

    private init(_ url: URL) { self.url = url }

    deinit { unlink(url.path) }

    /// Writes a body to a new file, chunk by chunk.
    ///
    /// - Parameter onChunk: called after each chunk.
    @concurrent
    static func spool(
        _ body: HTTPBody,
        in directory: URL,
        onChunk: @Sendable () -> Void
    ) async throws -> SpooledFile {
        // mkstemp makes the file with mode 0600, and never opens one that is there already.
        var path = Array(directory.appendingPathComponent("upload-XXXXXXXX").path.utf8CString)
        let descriptor = mkstemp(&path)
        guard descriptor >= 0 else {
            throw TransportError(.other, "No temporary file for the upload in \(directory.path): errno \(errno).")
        }
        let file = SpooledFile(
            URL(fileURLWithPath: String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self))
        )
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try await body.forEachChunk { chunk in
            try Task.checkCancellation()
            do {
                try handle.write(contentsOf: chunk)
            } catch {
                throw TransportError(.other, "The upload can't be kept in a temporary file.", underlying: error)
            }
            onChunk()
        }
        try handle.close()
        return file
    }
}
