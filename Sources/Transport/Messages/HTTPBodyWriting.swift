public import Foundation
internal import Synchronization

extension HTTPBody {
    /// Writes the content to a file, chunk by chunk as it arrives and off the caller's actor.
    ///
    /// ```swift
    /// var request = HTTPRequest(url: url)
    /// request.context.responseBody = .streamed
    /// let response = try await client.send(request)
    /// try await response.body.write(to: downloads.appending(path: "42.mp4"), upTo: 4 << 30)
    /// ```
    /// The content is written under a hidden name in the same folder, and the finished file is renamed. Until then the folder
    /// shows the earlier file, if any. A failed or cancelled write leaves nothing behind; only a killed process leaves the
    /// hidden file.
    ///
    /// A replaced file's permissions are kept, except setuid and setgid. A symbolic link is replaced, not followed. Anything
    /// else, such as a device, is left untouched and the call fails. The system decides when the bytes are safe from a power
    /// loss, as with other files.
    ///
    /// If the call throws, the rest of the body is discarded as by ``discard()``, unless another reader is using the body.
    ///
    /// - Parameters:
    ///   - file: the destination. Its folder must exist.
    ///   - limit: the maximum number of bytes, so that no server can fill the disk.
    /// - Returns: the number of bytes written.
    /// - Throws: ``TransportError`` with ``HTTPErrorCode/bodyTooLarge`` beyond the limit, with
    ///   ``HTTPErrorCode/unwritableFile`` if the file can't be written, or with ``HTTPErrorCode/bodyNotReplayable``
    ///   if a one-shot body was already read. Rethrows errors of the body's source.
    @concurrent
    @discardableResult
    public func write(to file: URL, upTo limit: Int64) async throws -> Int64 {
        try await write(to: file, upTo: limit, permissions: 0o666)
    }

    /// - Parameter permissions: those of a file that replaces none, less the mask of the process.
    @concurrent
    @discardableResult
    package func write(to file: URL, upTo limit: Int64, permissions: mode_t) async throws -> Int64 {
        guard isReadable else { throw TransportError.bodyNotReplayable() }
        do {
            return try await written(to: file, upTo: limit, permissions)
        } catch let error as TransportError where error.code == .bodyNotReplayable {
            throw error
        } catch {
            discard()
            throw error
        }
    }

    @concurrent
    private func written(to file: URL, upTo limit: Int64, _ usual: mode_t) async throws -> Int64 {
        if let length, length > limit { throw TransportError.bodyTooLarge(limit: limit) }
        let permissions = try Self.permissions(ofFileToReplace: file)
        let count = Atomic<Int64>(0)
        let spooled = try await SpooledFile.spool(
            self,
            in: file.deletingLastPathComponent(),
            prefix: ".download",
            permissions: permissions ?? usual
        ) { size in
            guard Int64(size) <= limit - count.load(ordering: .relaxed) else {
                throw TransportError.bodyTooLarge(limit: limit)
            }
            count.add(Int64(size), ordering: .relaxed)
        }
        try Task.checkCancellation()
        try spooled.place(at: file, permissions: permissions)
        return count.load(ordering: .relaxed)
    }

    /// The permissions of the file to replace, or `nil` if there is none. Throws if the destination can't be replaced by a
    /// file.
    package static func permissions(ofFileToReplace file: URL) throws(TransportError) -> mode_t? {
        guard file.isFileURL else {
            throw TransportError(.unwritableFile, "The URL isn't a file URL, so it can't be written to.")
        }
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path) else { return nil }
        let type = attributes[.type] as? FileAttributeType
        guard type != .typeDirectory else { throw SpooledFile.unwritable(file.path, EISDIR) }
        if type == .typeSymbolicLink { return nil }
        // A rename would replace the special file, such as a device that other programs rely on.
        guard type == .typeRegular else { throw TransportError(.unwritableFile, "\(file.path) isn't a regular file.") }
        guard let number = attributes[.posixPermissions] as? NSNumber else { return nil }
        // Drops setuid and setgid, which let a program run as another user.
        return mode_t(truncatingIfNeeded: number.intValue) & 0o777
    }
}
