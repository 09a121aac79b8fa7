internal import Foundation
internal import Interceptors

extension DownloadPart {
    /// Opens the part of a destination, with the bytes of earlier calls for the same URL.
    ///
    /// - Parameter permissions: those of the file to replace. The part is never more readable than that file.
    static func kept(
        for file: URL,
        source: URL,
        permissions: UInt16?,
        _ protection: PartProtection
    ) throws(SystemCallFailure) -> DownloadPart {
        let files = DownloadFiles(file)
        let state: DownloadState
        do throws(SystemCallFailure) {
            state = try DownloadState(files.state, O_RDWR | O_CREAT, protection)
        } catch {
            // Without locks, a state file that was just created is empty. If it can't be removed, it stays, and does no harm.
            if error.code == ENOLCK, (try? OpenedFile.open(files.state, O_RDONLY | O_NOFOLLOW).size()) == 0 {
                try? FileName.remove(files.state)
            }
            throw error
        }
        // Locks the part too: somebody may have removed the state file during another download. The part's content can't hold
        // a mark. But two open files with one name exclude each other: a second lock succeeds only if the name leads to another
        // file.
        let file = try protection.claim { () throws(SystemCallFailure) in
            try open(files.part, permissions)
        } isNamed: { (_) throws(SystemCallFailure) in
            protection.tryLock(try open(files.part, permissions)) != .locked
        }
        let part = DownloadPart(file, state, DownloadRecord.source(of: source), protection)
        try part.restore()
        return part
    }

    /// Opens the file of a part whose state is locked.
    private static func open(_ path: String, _ permissions: UInt16?) throws(SystemCallFailure) -> OpenedFile {
        let (flags, permissions) = (O_RDWR | O_CREAT | O_NOFOLLOW, permissions.map(writable))
        let file: OpenedFile
        do throws(SystemCallFailure) {
            file = try OpenedFile.open(path, flags, permissions: permissions ?? 0o666)
        } catch {
            // A process that was killed just before the rename leaves a part with the permissions of a read-only destination.
            guard error.code == EACCES else { throw error }
            try FileName.remove(path)
            file = try OpenedFile.open(path, flags, permissions: permissions ?? 0o666)
        }
        if let permissions { try file.setPermissions(permissions) }
        return file
    }

    private static func writable(_ permissions: UInt16) -> UInt16 { permissions | 0o600 }

    /// A part that ends with the call.
    ///
    /// - Parameter permissions: those of the file to replace.
    static func temporary(for file: URL, permissions: UInt16?) throws(SystemCallFailure) -> DownloadPart {
        let name = ".download-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let path = file.deletingLastPathComponent().appendingPathComponent(name).path
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        let file = try OpenedFile.open(path, flags, permissions: permissions.map(writable) ?? 0o666)
        return DownloadPart(file, nil, "", PartProtection())
    }
}
