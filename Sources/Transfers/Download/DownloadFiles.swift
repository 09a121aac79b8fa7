internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax

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
    /// Removes both files. Returns `false` if a download uses them. The part may be read-only, and the disk may be full.
    func remove(_ protection: PartProtection) throws(SystemCallFailure) -> Bool {
        var lock: DownloadState?
        do throws(SystemCallFailure) {
            switch try DownloadState.lock(state, O_RDWR, protection) {
            case .held(let file): lock = DownloadState(file, protection)
            case .busy: return false
            case .unsupported: break
            }
        } catch {
            // Without a state, or with a link instead, only the lock of the part counts.
            guard error.isMissing || error.code == ELOOP || error.isOfFullDisk else { throw error }
        }
        guard !isPartBusy(protection) else { return false }
        // The state first: without it, nobody trusts the bytes.
        try FileName.remove(state)
        try FileName.remove(part)
        withExtendedLifetime(lock) {}
        return true
    }

    private func isPartBusy(_ protection: PartProtection) -> Bool {
        // No download uses a file that can't be opened.
        for flags in [O_RDWR, O_RDONLY] {
            if let file = try? OpenedFile.open(part, flags | O_NOFOLLOW) { return protection.tryLock(file) == .busy }
        }
        return false
    }
}

/// The locked state file of a part.
final class DownloadState: Sendable {
    private let file: OpenedFile
    private let protection: PartProtection

    /// Opens and locks a state file.
    ///
    /// - Parameter flags: whether to create the file.
    static func lock(
        _ path: String,
        _ flags: Int32,
        _ protection: PartProtection
    ) throws(SystemCallFailure) -> PartProtection.Claim {
        try protection.claim(
            { () throws(SystemCallFailure) in try OpenedFile.open(path, flags | O_NOFOLLOW) },
            isNamed: { (file) throws(SystemCallFailure) in try isNamed(file) == true }
        )
    }

    init(_ file: OpenedFile, _ protection: PartProtection) {
        self.file = file
        self.protection = protection
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

    /// Writes a record. Returns `false` if it doesn't fit.
    func write(_ record: DownloadRecord) throws(SystemCallFailure) -> Bool {
        guard let slot = record.slot() else { return false }
        try file.write(Data(slot), at: record.offset)
        return true
    }

    /// Removes the file. The lock holds until the last reference is released.
    func remove() throws(SystemCallFailure) { try FileName.remove(file.path) }
}
