public import Foundation
internal import Synchronization

extension HTTPBody {
    /// Writes the content to a file, chunk by chunk as it arrives and not on the caller's actor.
    ///
    /// ```swift
    /// var request = HTTPRequest(url: url)
    /// request.context.responseBody = .streamed
    /// let response = try await client.send(request)
    /// try await response.body.write(to: downloads.appending(path: "42.mp4"), upTo: 4 << 30)
    /// ```
    /// It is written under a hidden name in the same folder, and gets its own name when it is complete: who looks there finds
    /// the earlier file, or none, until then, and nothing is left of one that failed or was cancelled (a process that is
    /// killed leaves the hidden one). A file that is replaced leaves its permissions to the new one, but for setuid and
    /// setgid; a link is replaced, not followed; what is neither, such as a device, is not touched. As with other files, it is the system that decides when the bytes are safe from a loss of power.
    ///
    /// If it throws, what has not been read is given up, as by ``discard()``; a body that somebody else is reading stays theirs.
    ///
    /// - Parameters:
    ///   - file: where to; its folder must exist.
    ///   - limit: the most bytes to accept: no server shall fill a disk.
    /// - Returns: the count of bytes written.
    /// - Throws: ``TransportError`` with ``TransportError/Code/bodyTooLarge`` beyond the limit, with
    ///   ``TransportError/Code/unwritableFile`` if the file can't be written, with
    ///   ``TransportError/Code/bodyNotReplayable`` if the body was read before and can't be again, or what reading throws.
    @concurrent
    @discardableResult
    public func write(to file: URL, upTo limit: Int64) async throws -> Int64 {
        guard isReadable else { throw TransportError.bodyNotReplayable() }
        do {
            return try await written(to: file, upTo: limit)
        } catch let error as TransportError where error.code == .bodyNotReplayable {
            throw error
        } catch {
            discard()
            throw error
        }
    }

    @concurrent
    private func written(to file: URL, upTo limit: Int64) async throws -> Int64 {
        if let length, length > limit { throw TransportError.bodyTooLarge(limit: limit) }
        let permissions = try Self.permissions(ofFileToReplace: file)
        let count = Atomic<Int64>(0)
        let spooled = try await SpooledFile.spool(
            self,
            in: file.deletingLastPathComponent(),
            prefix: ".download",
            permissions: permissions ?? 0o666
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

    /// Those of the file that is there, if one is; throws for what is no file and can't become one.
    private static func permissions(ofFileToReplace file: URL) throws(TransportError) -> mode_t? {
        guard file.isFileURL else {
            throw TransportError(.unwritableFile, "A URL that is none of a file can't be written to.")
        }
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: file.path) else { return nil }
        let type = attributes[.type] as? FileAttributeType
        guard type != .typeDirectory else { throw SpooledFile.unwritable(file.path, EISDIR) }
        if type == .typeSymbolicLink { return nil }
        // Its name would become that of a file: of a device, for instance, on which others rely.
        guard type == .typeRegular else { throw TransportError(.unwritableFile, "\(file.path) is no regular file.") }
        guard let number = attributes[.posixPermissions] as? NSNumber else { return nil }
        // Without those that let whoever runs it be somebody else.
        return mode_t(truncatingIfNeeded: number.intValue) & 0o777
    }
}
