internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

/// The names of the files that a download across launches keeps beside its destination.
///
/// ```
/// film.mp4                the destination: the earlier file, if any, until the rename
/// .film.mp4.part          the bytes so far; renamed to the destination at the end
/// .film.mp4.part-state    the version of the bytes, and how many are safe (``DownloadRecord``)
/// ```
///
/// Locks on both keep two downloads apart, even if somebody removes one of the files meanwhile.
struct DownloadFiles: Sendable {
    let part: String
    let state: String

    /// File systems usually allow 255 bytes.
    private static let nameLimit = 200

    init(_ file: URL) {
        let path = file.path as NSString
        var name = path.lastPathComponent
        if name.utf8.count > Self.nameLimit { name = PortableSHA256.digest(Array(name.utf8)).hexadecimal }
        part = (path.deletingLastPathComponent as NSString).appendingPathComponent(".\(name).part")
        state = part + "-state"
    }
}

extension DownloadFiles {
    /// Removes both files. The part may be read-only, and the disk may be full.
    ///
    /// - Throws: also if a download uses the files.
    func remove(_ protection: PartProtection) throws(SystemCallFailure) {
        var lock: DownloadState?
        do throws(SystemCallFailure) {
            lock = try DownloadState(state, O_RDWR, protection)
        } catch {
            // Without a state or its lock, or with a link instead, only the lock of the part counts.
            guard error.isMissing || error.isOfFullDisk || [ELOOP, ENOLCK].contains(error.code) else { throw error }
        }
        // No download uses a file that can't be opened.
        let file =
            (try? OpenedFile.open(part, O_RDWR | O_NOFOLLOW)) ?? (try? OpenedFile.open(part, O_RDONLY | O_NOFOLLOW))
        if let file, protection.tryLock(file) == .busy { throw .locked(part) }
        // The state first: without it, nobody trusts the bytes.
        try FileName.remove(state)
        try FileName.remove(part)
        withExtendedLifetime(lock) {}
    }
}

extension SystemCallFailure {
    /// Another download holds the lock of a file.
    static func locked(_ path: String) -> Self { Self("flock", path, EWOULDBLOCK) }

    /// The error of a download whose file couldn't be opened, read or written.
    func downloadError(of request: HTTPRequest?, to file: URL) -> any HTTPError {
        switch code {
        case EWOULDBLOCK where isOfLock:
            let message =
                "Another download to \(file.path) is in progress. Cancel it, wait for it, or download to another file."
            return TransferError(.downloadInProgress, message, request: request)
        case ENOLCK where isOfLock:
            let message =
                "The file system of \(file.path) has no locks, so bytes can't be kept across launches. Pass `resuming: .withinCall`."
            return TransportError(.unsupported, message, request: request)
        case _ where isOfFullDisk:
            return TransferError(.diskFull, sentence + " Free space on the disk.", request: request)
        default: return TransportError(.unwritableFile, sentence, request: request)
        }
    }
}

/// The locked state file of a part.
final class DownloadState: Sendable {
    private let file: OpenedFile
    private let protection: PartProtection

    /// Opens and locks a state file.
    ///
    /// - Parameter flags: whether to create the file.
    init(_ path: String, _ flags: Int32, _ protection: PartProtection) throws(SystemCallFailure) {
        self.protection = protection
        file = try protection.claim(
            { () throws(SystemCallFailure) in try OpenedFile.open(path, flags | O_NOFOLLOW) },
            isNamed: { (file) throws(SystemCallFailure) in try Self.isNamed(file) == true }
        )
    }

    // Closing isn't enough: a child process holds a copy of the descriptor from its fork until it executes its program.
    deinit { file.unlock() }

    /// Whether the path leads to another file than the locked one. `false` if it leads nowhere.
    var isReplaced: Bool { get throws(SystemCallFailure) { try Self.isNamed(file) == false } }

    /// Whether the path leads to the locked file; `nil` if it leads nowhere.
    ///
    /// A random mark is written through the descriptor and read through the path. Only the holder of the lock writes to the
    /// file. This avoids `fstat()`, for which Apple requires apps to declare a reason.
    private static func isNamed(_ file: OpenedFile) throws(SystemCallFailure) -> Bool? {
        let mark = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        let place = Int64(2 * DownloadRecord.slotSize)
        try file.write(Data(mark), at: place)
        do throws(SystemCallFailure) {
            return try OpenedFile.open(file.path, O_RDONLY | O_NOFOLLOW).bytes(at: place, upTo: mark.count) == mark
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    func record() throws(SystemCallFailure) -> DownloadRecord? {
        DownloadRecord(file: try file.bytes(at: 0, upTo: 2 * DownloadRecord.slotSize))
    }

    /// Forgets the record, so that the bytes it describes can be replaced.
    func clear() throws(SystemCallFailure) {
        try file.truncate(to: 0)
        // Otherwise a record could outlive the bytes it describes in a power failure. A process that was killed here may have
        // left an empty file whose record is still on the disk.
        try protection.synchronizeState(file)
    }

    /// Writes a record. Every validator that is kept fits into a slot.
    func write(_ record: DownloadRecord) throws(SystemCallFailure) {
        if let slot = record.slot() { try file.write(Data(slot), at: record.offset) }
    }

    /// Removes the file. The lock holds until the last reference is released.
    func remove() throws(SystemCallFailure) { try FileName.remove(file.path) }
}

/// The system calls that protect the bytes of a part. Tests replace them with failing ones.
package struct PartProtection: Sendable {
    /// Puts the bytes of a file on the disk.
    package var synchronize: @Sendable (OpenedFile) throws(SystemCallFailure) -> Void
    /// Puts the state of a part on the disk.
    package var synchronizeState: @Sendable (OpenedFile) throws(SystemCallFailure) -> Void
    /// Tries to acquire the lock of a file.
    package var tryLock: @Sendable (OpenedFile) -> OpenedFile.LockResult

    package init() {
        synchronize = { (file) throws(SystemCallFailure) in try file.synchronize() }
        synchronizeState = synchronize
        tryLock = { $0.tryLock() }
    }

    /// Opens and locks a file. Closing the file releases the lock, and so does the end of the process.
    ///
    /// - Parameters:
    ///   - open: opens the file by its name.
    ///   - isNamed: whether the name still leads to the locked file. The download that held the lock before may have renamed or
    ///     removed the file.
    /// - Throws: also `EWOULDBLOCK` if another download holds the lock, and `ENOLCK` if the file system has no locks.
    func claim(
        _ open: () throws(SystemCallFailure) -> OpenedFile,
        isNamed: (OpenedFile) throws(SystemCallFailure) -> Bool
    ) throws(SystemCallFailure) -> OpenedFile {
        var file = try open()
        // Where locks exclude nobody, the attempts could go on forever.
        for _ in 0..<100 {
            switch tryLock(file) {
            case .busy: throw .locked(file.path)
            case .unsupported: throw SystemCallFailure("flock", file.path, ENOLCK)
            case .locked: if try isNamed(file) { return file }
            }
            file = try open()
        }
        throw SystemCallFailure("flock", file.path, ENOLCK)
    }
}
