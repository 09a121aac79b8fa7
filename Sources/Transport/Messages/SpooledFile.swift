package import Foundation
internal import Synchronization

/// A new file with a body's bytes. The file is deleted with the last reference, unless it was moved to its destination before.
package final class SpooledFile: Sendable {
    package let url: URL
    private let isPlaced = Atomic(false)

    private init(_ url: URL) { self.url = url }

    deinit {
        if !isPlaced.load(ordering: .acquiring) { unlink(url.path) }
    }

    /// Writes a body to a new file, chunk by chunk.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the file's name.
    ///   - permissions: the file's permissions, reduced by the process's umask. By default only this user can read it.
    ///   - onChunk: called with each chunk's size before writing it. If it throws, writing ends.
    @concurrent
    package static func spool(
        _ body: HTTPBody,
        in directory: URL,
        prefix: String = "upload",
        permissions: mode_t = 0o600,
        onChunk: @Sendable (Int) throws -> Void
    ) async throws -> SpooledFile {
        let (file, handle) = try make(in: directory, prefix: prefix, permissions: permissions)
        try await body.forEachChunk { chunk in
            try Task.checkCancellation()
            try onChunk(chunk.count)
            do {
                try handle.write(contentsOf: chunk)
            } catch {
                throw unwritable("A file in \(directory.path)", underlying: error)
            }
        }
        do {
            try handle.close()
        } catch {
            throw unwritable("A file in \(directory.path)", underlying: error)
        }
        return file
    }

    private static func make(
        in directory: URL,
        prefix: String,
        permissions: mode_t
    ) throws(TransportError) -> (SpooledFile, FileHandle) {
        let name = "\(prefix)-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let url = directory.appendingPathComponent(name)
        // `O_EXCL` refuses a name that exists, even as a link. `O_CLOEXEC` keeps the file from child processes.
        let descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions)
        guard descriptor >= 0 else { throw unwritable("A new file in \(directory.path)", errno) }
        return (SpooledFile(url), FileHandle(fileDescriptor: descriptor, closeOnDealloc: true))
    }

    /// Renames the file to its destination on the same volume. A file already there is replaced atomically.
    ///
    /// - Parameter permissions: the permissions to set before the rename.
    func place(at destination: URL, permissions: mode_t? = nil) throws(TransportError) {
        if let permissions, chmod(url.path, permissions) != 0 {
            throw Self.unwritable(destination.path, errno)
        }
        guard rename(url.path, destination.path) == 0 else { throw Self.unwritable(destination.path, errno) }
        isPlaced.store(true, ordering: .releasing)
    }

    static func unwritable(_ what: String, _ code: Int32) -> TransportError {
        TransportError(.unwritableFile, "\(what) can't be written: \(String(cString: strerror(code))).")
    }

    private static func unwritable(_ what: String, underlying: any Error) -> TransportError {
        TransportError(.unwritableFile, "\(what) can't be written.", underlying: underlying)
    }
}
