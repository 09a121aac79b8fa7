internal import Foundation
internal import Interceptors
internal import InterceptorsSyntax
internal import Synchronization

/// The bytes of a download on their way to the destination.
///
/// Only the task of the call uses a part, so an abandoned attempt can't write while another runs. With a state file, the part
/// survives the process:
///
/// 1. ``begin(_:)`` clears the state before it empties the file, and describes the new bytes before any is written.
/// 2. ``checkpoint()`` records the length after the bytes are on the disk.
/// 3. A later process trusts the bytes up to the recorded length, and asks for the rest again.
///
/// So after a kill or a power failure at any point, the trusted bytes belong to the recorded representation.
final class DownloadPart: Sendable {
    private struct Content {
        var length: Int64 = 0
        var record: DownloadRecord?
        /// The first failure to put the bytes on the disk. A second try could succeed although the bytes are lost.
        var loss: (any Error)?
        var isPlaced = false
    }

    private let file: OpenedFile
    private let state: DownloadState?
    private let source: String
    private let protection: PartProtection
    private let content = Mutex(Content())

    init(_ file: OpenedFile, _ state: DownloadState?, _ source: String, _ protection: PartProtection) {
        self.file = file
        self.state = state
        self.source = source
        self.protection = protection
    }

    deinit {
        if state == nil, !content.withLock(\.isPlaced) { unlink(file.path) }
        // The queue that synchronized the file may not have released it yet.
        file.unlock()
    }

    /// Adopts the recorded bytes if the file still has them.
    func restore() throws(SystemCallFailure) {
        guard let record = try state?.record(), record.source == source, try file.size() >= record.safe,
            record.safe <= record.representation.total
        else { return }
        content.withLock { ($0.length, $0.record) = (record.safe, record) }
    }
}

extension DownloadPart {
    /// The number of bytes.
    var count: Int64 { content.withLock(\.length) }

    /// The version of the bytes, if a later request can continue them.
    var representation: Representation? { content.withLock { $0.record?.representation } }

    /// The number of bytes of the whole, if the part can be continued.
    var total: Int64? { representation?.total }

    /// The range to request, or `nil` to request the whole.
    var demand: RangeDemand? {
        content.withLock { content in content.record.flatMap { RangeDemand($0.representation, held: content.length) } }
    }

    /// Whether all bytes are there, as far as their number is known.
    var isWhole: Bool { total.map { $0 == count } ?? true }

    /// Empties the part and forgets its record.
    func clear() throws(SystemCallFailure) {
        try state?.clear()
        try file.truncate(to: 0)
        content.withLock { ($0.length, $0.record) = (0, nil) }
    }

    /// Empties the part, for the bytes of a response with the whole content.
    ///
    /// - Parameter representation: `nil` if the bytes can't be continued later.
    func begin(_ representation: Representation?) throws(SystemCallFailure) {
        try clear()
        guard let representation else { return }
        let record = DownloadRecord(source: source, representation: representation)
        try state?.write(record)
        content.withLock { $0.record = record }
    }

    /// Forgets the bytes after a length, for those of a response that continues the others.
    func cut(to length: Int64) throws(SystemCallFailure) {
        let safe = content.withLock { $0.record?.safe ?? 0 }
        // Otherwise a process killed after the cut would leave fewer bytes than recorded, and they would count as lost.
        if safe > length { try record(length) }
        try file.truncate(to: length)
        content.withLock { $0.length = length }
    }

    /// Writes bytes after the others.
    func append(_ bytes: Data) throws(SystemCallFailure) {
        let length = count
        try file.write(bytes, at: length)
        content.withLock { $0.length = length + Int64(bytes.count) }
    }

    /// Records the number of bytes so far, once they are on the disk. Throws the same error again after a failure.
    func checkpoint() async throws {
        guard state != nil, representation != nil else { return }
        let length = count
        try await synchronize()
        try record(length)
    }

    private func synchronize() async throws {
        if let loss = content.withLock(\.loss) { throw loss }
        do {
            try await StartedWork.elsewhere {
                try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                    // Synchronizing may take seconds, and would block one of the few threads for tasks.
                    DispatchQueue.global(qos: .utility).async { [file, protection] in
                        continuation.resume(with: Result { try protection.synchronize(file) })
                    }
                }
            }
        } catch {
            content.withLock { $0.loss = error }
            throw error
        }
    }

    /// Records the number of bytes that are on the disk.
    private func record(_ safe: Int64) throws(SystemCallFailure) {
        guard var record = content.withLock(\.record) else { return }
        record.number += 1
        record.safe = safe
        try state?.write(record)
        content.withLock { [record] in $0.record = record }
    }

    /// The SHA-256 of the bytes in hexadecimal, read from the disk.
    @concurrent
    func digest() async throws -> String {
        var digest = try MessageDigest(.sha256)
        var offset: Int64 = 0
        while true {
            try Task.checkCancellation()
            let next = try file.bytes(at: offset, upTo: 1 << 18)
            if next.isEmpty { return try digest.finish().hexadecimal }
            try digest.update(next)
            offset += Int64(next.count)
            // Other tasks needn't wait for the whole file.
            await Task.yield()
        }
    }

    /// Moves the part to the destination, and atomically replaces a file there. With a state file, waits until the bytes are on the disk.
    @concurrent
    func place(at destination: URL, permissions: UInt16?) async throws {
        if let state {
            try await synchronize()
            // Somebody may have removed both files, and another download may have created them again.
            guard try !state.isReplaced else { throw SystemCallFailure("rename", file.path, ENOENT) }
        }
        // Last, because a later call couldn't open a part with the permissions of a read-only file.
        if let permissions { try file.setPermissions(permissions) }
        try FileName.rename(file.path, to: destination.path)
        content.withLock { $0.isPlaced = true }
        // The destination is right. A state that stays does no harm, because its bytes are missing.
        try? state?.remove()
    }

    /// Removes the part and its state.
    @concurrent
    func remove() async throws(SystemCallFailure) {
        // The state first: without it, nobody trusts the bytes.
        try state?.clear()
        try FileName.remove(file.path)
        try state?.remove()
    }

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
