internal import Foundation
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

/// A system call that failed.
struct SystemCallFailure: Error {
    let code: Int32
    private let call: StaticString
    private let path: String

    init(_ call: StaticString, _ path: String, _ code: Int32 = errno) {
        self.call = call
        self.path = path
        self.code = code
    }

    /// Whether nothing has the path's name.
    var isMissing: Bool { code == ENOENT }

    private var sentence: String { "\(call) failed for \(path): \(String(cString: strerror(code)))." }

    /// The error that a caller gets when a file couldn't be read.
    var unreadable: TransportError { TransportError(.unreadableFile, sentence) }

    /// The error that a caller gets when a file couldn't be written.
    var unwritable: TransportError {
        let remedy: String
        switch code {
        case EACCES, EPERM, EROFS: remedy = " Put the recording into a folder that this process can write."
        case ENOSPC, EDQUOT, EFBIG: remedy = " Free space on the disk."
        case EISDIR, ENOTDIR: remedy = " A recording is a file in a folder."
        default: remedy = ""
        }
        return TransportError(.unwritableFile, sentence + remedy)
    }
}

/// An open file or folder, closed with its last reference.
final class OpenedFile: Sendable {
    let path: String
    private let descriptor: Int32

    private init(_ descriptor: Int32, _ path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { close(descriptor) }

    /// Opens a file. Never waits for the other end of a FIFO.
    static func open(_ path: String, _ flags: Int32) throws(SystemCallFailure) -> OpenedFile {
        while true {
            let descriptor = openCall(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            if descriptor >= 0 { return OpenedFile(descriptor, path) }
            if errno != EINTR { throw SystemCallFailure("open", path) }
        }
    }

    /// The number of bytes. Fails for a FIFO and a socket, which have none.
    func size() throws(SystemCallFailure) -> Int64 {
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0 else { throw SystemCallFailure("lseek", path) }
        return Int64(size)
    }

    /// The whole content.
    func contents() throws(SystemCallFailure) -> Data {
        // A file may announce any size, so it reserves at most 16 MiB.
        var content = Data(capacity: Int(clamping: min(try size(), 1 << 24)))
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = pread(descriptor, &buffer, buffer.count, off_t(content.count))
            if count == 0 { return content }
            if count > 0 {
                content.append(contentsOf: buffer[..<count])
            } else if errno != EINTR {
                throw SystemCallFailure("read", path)
            }
        }
    }

    /// Whether the last byte, if any, is a line feed.
    func endsWithLine(size: Int64) throws(SystemCallFailure) -> Bool {
        guard size > 0 else { return true }
        var byte: UInt8 = 0
        guard pread(descriptor, &byte, 1, off_t(size - 1)) == 1 else { throw SystemCallFailure("read", path) }
        return byte == UInt8(ascii: "\n")
    }

    func write(_ bytes: Data, at offset: Int64) throws(SystemCallFailure) {
        var failure: SystemCallFailure?
        bytes.withUnsafeBytes { buffer in
            var count = 0
            while count < buffer.count {
                let put = pwrite(
                    descriptor,
                    buffer.baseAddress.map { $0 + count },
                    buffer.count - count,
                    off_t(offset + Int64(count))
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
    func takePermissions(of path: String) throws(SystemCallFailure) {
        // Avoids `stat()`, for which Apple requires apps to declare a reason.
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            let permissions = attributes[.posixPermissions] as? NSNumber
        else { return }
        guard fchmod(descriptor, mode_t(permissions.uint16Value & 0o777)) == 0 else {
            throw SystemCallFailure("chmod", self.path)
        }
    }

    func truncate(to size: Int64) throws(SystemCallFailure) {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw SystemCallFailure("truncate", path) }
    }

    /// Waits until the bytes, or a folder's names, are on the disk.
    func synchronize() throws(SystemCallFailure) {
        while fsync(descriptor) != 0 {
            // Some file systems can't synchronize a folder, and keep its names safe by themselves.
            if errno == EINVAL || errno == ENOTSUP { return }
            if errno != EINTR { throw SystemCallFailure("fsync", path) }
        }
    }

    enum LockResult { case locked, busy, unsupported }

    /// Tries to acquire the exclusive lock (`flock`). Closing the file releases it, and so does the end of the process.
    func tryLock() -> LockResult {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return .busy }
            if errno != EINTR { return .unsupported }
        }
        return .locked
    }
}

// Wrappers, because methods above have the names of these system calls.
private func openCall(_ path: String, _ flags: Int32) -> Int32 { open(path, flags, 0o666) }

enum FileName {
    static func rename(_ path: String, to other: String) throws(SystemCallFailure) {
        guard renameCall(path, other) == 0 else { throw SystemCallFailure("rename", other) }
    }

    /// Removes a file. A missing file is no error.
    static func remove(_ path: String) throws(SystemCallFailure) {
        guard unlink(path) == 0 || errno == ENOENT else { throw SystemCallFailure("unlink", path) }
    }

    /// The path without symbolic links; `nil` if nothing has this name.
    static func resolved(_ path: String) throws(SystemCallFailure) -> String? {
        guard let resolved = realpath(path, nil) else {
            if errno == ENOENT { return nil }
            throw SystemCallFailure("realpath", path)
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    /// Whether the path, which holds no links, is something else than a regular file: a folder, a device, a FIFO.
    static func isOfAnotherKind(_ path: String) -> Bool {
        // Avoids `stat()`, for which Apple requires apps to declare a reason.
        (try? URL(filePath: path).resourceValues(forKeys: [.isRegularFileKey]).isRegularFile) == false
    }

    /// Whether the path is a symbolic link, even one that leads nowhere.
    static func isLink(_ path: String) -> Bool {
        var byte: CChar = 0
        return readlink(path, &byte, 1) >= 0
    }
}

private func renameCall(_ path: String, _ other: String) -> Int32 { rename(path, other) }
