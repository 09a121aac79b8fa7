internal import Foundation
internal import HTTPSyntax
internal import Transport

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// The names of the files that a download across launches keeps beside its destination.
///
/// ```
/// film.mp4                the destination: the earlier file, if any, until the rename
/// .film.mp4.part          the bytes so far; renamed to the destination at the end
/// .film.mp4.part-state    which bytes they are, and how many are safe (``DownloadRecord``); the lock is on this file
/// ```
struct DownloadFiles: Sendable {
    let part: String
    let state: String

    /// A file system's limit is 255 bytes, usually.
    private static let nameLimit = 200

    init(_ file: URL) {
        let path = file.path as NSString
        var name = path.lastPathComponent
        if name.utf8.count > Self.nameLimit { name = PortableSHA256.digest(Array(name.utf8)).hexadecimal }
        part = (path.deletingLastPathComponent as NSString).appendingPathComponent(".\(name).part")
        state = part + "-state"
    }
}

/// The locked state file of a part.
final class DownloadState: Sendable {
    private let file: OpenedFile

    /// Locks the state file. Closing it releases the lock, and so does the end of the process.
    ///
    /// - Returns: `nil` if another download holds the lock.
    static func lock(_ path: String) throws(SystemCallFailure) -> DownloadState? {
        while true {
            let file = try OpenedFile.open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
            // Without locks in the file system, the user must keep two downloads apart.
            if file.tryLock() == .busy { return nil }
            if try isNamed(file) { return DownloadState(file) }
        }
    }

    private init(_ file: OpenedFile) { self.file = file }

    /// Whether the path still leads to the locked file: the download that held the lock before may have removed it.
    ///
    /// A random mark is written through the descriptor and read through the path. Only the holder of the lock writes to the
    /// file. This avoids `fstat()`, for which Apple requires apps to declare a reason.
    private static func isNamed(_ file: OpenedFile) throws(SystemCallFailure) -> Bool {
        let mark = (0..<16).map { _ in UInt8.random(in: .min ... .max) }
        let place = Int64(2 * DownloadRecord.slotSize)
        try file.write(Data(mark), at: place)
        do throws(SystemCallFailure) {
            return try OpenedFile.open(file.path, O_RDONLY | O_NOFOLLOW).bytes(at: place, upTo: mark.count) == mark
        } catch {
            if error.isMissing { return false }
            throw error
        }
    }

    func record() throws(SystemCallFailure) -> DownloadRecord? {
        DownloadRecord(file: try file.bytes(at: 0, upTo: 2 * DownloadRecord.slotSize))
    }

    /// Forgets the record, so that the bytes it describes can be replaced.
    func clear() throws(SystemCallFailure) {
        let isTrusted = try record() != nil
        try file.truncate(to: 0)
        // Otherwise the record could outlive the bytes it describes in a power failure.
        if isTrusted { try file.synchronize() }
    }

    /// Writes a record. Returns `false` if it doesn't fit.
    func write(_ record: DownloadRecord) throws(SystemCallFailure) -> Bool {
        guard let slot = record.slot() else { return false }
        try file.write(Data(slot), at: record.offset)
        return true
    }

    /// Removes the file. The lock holds until the last reference is released.
    func remove() throws(SystemCallFailure) { try FileName.remove(file.path) }
}
