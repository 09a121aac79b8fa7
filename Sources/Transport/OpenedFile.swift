package import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// A system call that failed.
package struct SystemCallFailure: Error {
    package let code: Int32
    private let call: StaticString
    private let path: String

    package init(_ call: StaticString, _ path: String, _ code: Int32) {
        self.call = call
        self.path = path
        self.code = code
    }

    /// The failure of the system call that this thread made last.
    init(_ call: StaticString, _ path: String) { self.init(call, path, errno) }

    /// Whether the path doesn't exist.
    package var isMissing: Bool { code == ENOENT }

    /// Whether a lock couldn't be acquired, as opposed to a file that couldn't be read or written.
    package var isOfLock: Bool { call.description == "flock" }

    /// A sentence for a person: the call, the path and the reason.
    package var sentence: String { "\(call) failed for \(path): \(String(cString: strerror(code)))." }

    /// Whether the disk, the user's share of it or the file can't take more bytes.
    package var isOfFullDisk: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}

/// An open file or folder, closed with its last reference.
package final class OpenedFile: Sendable {
    package let path: String
    private let descriptor: Int32

    private init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Opens a file. Never waits for the other end of a FIFO.
    ///
    /// - Parameter permissions: the permissions of a new file, reduced by the umask.
    package static func open(
        _ path: String,
        _ flags: Int32,
        permissions: UInt16 = 0o666
    ) throws(SystemCallFailure) -> OpenedFile {
        while true {
            let descriptor = openCall(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, mode_t(permissions))
            if descriptor >= 0 { return OpenedFile(descriptor, path) }
            if errno != EINTR { throw SystemCallFailure("open", path) }
        }
    }

    /// The number of bytes. Fails for a FIFO and a socket, which have none.
    package func size() throws(SystemCallFailure) -> Int64 {
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0 else { throw SystemCallFailure("lseek", path) }
        return Int64(size)
    }

    /// The whole content.
    package func contents() throws(SystemCallFailure) -> Data {
        // A file may announce any size, so it reserves at most 16 MiB.
        var content = Data(capacity: Int(clamping: min(try size(), 1 << 24)))
        while true {
            let next = try bytes(at: Int64(content.count), upTo: 1 << 16)
            if next.isEmpty { return content }
            content.append(contentsOf: next)
        }
    }

    /// The next bytes at an offset; empty at the end of the file.
    ///
    /// - Parameter limit: the maximum number of bytes.
    package func bytes(at offset: Int64, upTo limit: Int) throws(SystemCallFailure) -> [UInt8] {
        let offset = try position(offset)
        while true {
            var failure: SystemCallFailure?
            let next = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
                let got = pread(descriptor, buffer.baseAddress, limit, offset)
                if got < 0 { failure = SystemCallFailure("read", path) }
                count = max(0, got)
            }
            guard let failure else { return next }
            if failure.code != EINTR { throw failure }
        }
    }

    /// An offset for a system call. Some 32-bit systems have no offsets over 2 GiB.
    private func position(_ offset: Int64) throws(SystemCallFailure) -> off_t {
        guard let position = off_t(exactly: offset) else { throw SystemCallFailure("seek", path, EFBIG) }
        return position
    }

    /// Whether the last byte, if any, is a line feed.
    package func endsWithLine(size: Int64) throws(SystemCallFailure) -> Bool {
        guard size > 0 else { return true }
        var byte: UInt8 = 0
        guard pread(descriptor, &byte, 1, try position(size - 1)) == 1 else { throw SystemCallFailure("read", path) }
        return byte == UInt8(ascii: "\n")
    }

    package func write(_ bytes: Data, at offset: Int64) throws(SystemCallFailure) {
        var failure: SystemCallFailure?
        let (end, isTooFar) = offset.addingReportingOverflow(Int64(bytes.count))
        guard !isTooFar, off_t(exactly: end) != nil, let offset = off_t(exactly: offset) else {
            throw SystemCallFailure("write", path, EFBIG)
        }
        bytes.withUnsafeBytes { buffer in
            var count = 0
            while count < buffer.count {
                let put = pwrite(
                    descriptor,
                    buffer.baseAddress.map { $0 + count },
                    buffer.count - count,
                    offset + off_t(count)
                )
                if put > 0 {
                    count += put
                } else if put == 0 || errno != EINTR {
                    failure = SystemCallFailure("write", path)
                    return
                }
            }
        }
        if let failure { throw failure }
    }

    /// Sets the permissions of another file, if it exists.
    package func takePermissions(of path: String) throws(SystemCallFailure) {
        // Avoids `stat()`, for which Apple requires apps to declare a reason.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let permissions = attributes[.posixPermissions] as? NSNumber
        else { return }
        try setPermissions(permissions.uint16Value & 0o777)
    }

    package func setPermissions(_ permissions: UInt16) throws(SystemCallFailure) {
        guard fchmod(descriptor, mode_t(permissions)) == 0 else { throw SystemCallFailure("chmod", path) }
    }

    package func truncate(to size: Int64) throws(SystemCallFailure) {
        guard ftruncate(descriptor, try position(size)) == 0 else { throw SystemCallFailure("truncate", path) }
    }

    /// Makes earlier writes to the file, or changes to a folder's names, reach the disk before later writes do.
    ///
    /// Once a call has failed, a later call may succeed although the bytes are lost.
    package func synchronize() throws(SystemCallFailure) {
        while synchronizeCall(descriptor) != 0 {
            // Some file systems can't synchronize a folder, and keep its names safe by themselves.
            if errno == EINVAL || errno == ENOTSUP { return }
            if errno != EINTR { throw SystemCallFailure("fsync", path) }
        }
    }

    package enum LockResult { case locked, busy, unsupported }

    /// Tries to acquire the exclusive lock (`flock`). Closing the file releases it, and so does the end of the process.
    package func tryLock() -> LockResult {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return .busy }
            if errno != EINTR { return .unsupported }
        }
        return .locked
    }

    /// Releases the lock, if any, although the file stays open.
    package func unlock() { flock(descriptor, LOCK_UN) }
}

private func synchronizeCall(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
    // Darwin's fsync doesn't order writes, because the bytes may stay in the drive's cache. After any other error a second call
    // could succeed although the bytes are lost, so only a missing command leads to the next one. The numbers are those of
    // `F_BARRIERFSYNC` and `F_FULLFSYNC`, which not every module of the system declares.
    for command: Int32 in [85, 51] {
        if fcntl(descriptor, command) != -1 { return 0 }
        guard errno == EINVAL || errno == ENOTSUP || errno == ENOTTY else { return -1 }
    }
    #endif
    return fsync(descriptor)
}

// Wrappers, because methods above have the names of these system calls.
private func openCall(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }

package enum FileName {
    package static func rename(_ path: String, to other: String) throws(SystemCallFailure) {
        guard renameCall(path, other) == 0 else { throw SystemCallFailure("rename", other) }
    }

    /// Removes a file. A missing file is no error.
    package static func remove(_ path: String) throws(SystemCallFailure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemCallFailure("unlink", path) }
    }

    /// The path without symbolic links; `nil` if nothing has this name.
    package static func resolved(_ path: String) throws(SystemCallFailure) -> String? {
        guard let resolved = realpath(path, nil) else {
            if errno == ENOENT { return nil }
            throw SystemCallFailure("realpath", path)
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether the path, which holds no links, is something other than a regular file: a folder, a device, a FIFO.
    package static func isOfAnotherKind(_ path: String) -> Bool {
        // Avoids `stat()`, for which Apple requires apps to declare a reason.
        (try? URL(filePath: path).resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == false
    }

    /// Whether the path is a symbolic link, even one that leads nowhere.
    package static func isLink(_ path: String) -> Bool {
        var byte: CChar = 0
        return readlink(path, &byte, 1) >= 0
    }
}

private func renameCall(_ path: String, _ other: String) -> Int32 { rename(path, other) }
