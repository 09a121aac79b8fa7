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
    // Joined to a path only for a message, because a missing file is no error for many lookups.
    private let name: String
    private let folder: OpenedFile?

    package init(_ call: StaticString, _ name: String, in folder: OpenedFile? = nil, _ code: Int32) {
        (self.call, self.name, self.folder, self.code) = (call, name, folder, code)
    }

    /// The failure of the system call that this thread made last.
    init(_ call: StaticString, _ name: String, in folder: OpenedFile? = nil) {
        self.init(call, name, in: folder, errno)
    }

    /// Whether the path doesn't exist.
    package var isMissing: Bool { code == ENOENT }

    /// Whether a lock couldn't be acquired, as opposed to a file that couldn't be read or written.
    package var isOfLock: Bool { call.description == "flock" }

    /// A sentence for a person: the call, the path and the reason.
    package var sentence: String {
        let path = folder.map { $0.path + "/" + name } ?? name
        return "\(call) failed for \(path): \(String(cString: strerror(code)))."
    }

    /// Whether the disk, the user's share of it or the file can't take more bytes.
    package var isOfFullDisk: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }
}

/// An open file or folder, closed with its last reference.
package final class OpenedFile: Sendable {
    package let descriptor: Int32
    private let name: String
    private let folder: OpenedFile?

    private init(_ descriptor: Int32, _ name: String, in folder: OpenedFile?) {
        (self.descriptor, self.name, self.folder) = (descriptor, name, folder)
    }

    /// The path by which the file was opened.
    package var path: String { folder.map { $0.path + "/" + name } ?? name }

    deinit { close(descriptor) }

    /// Opens a file. Never waits for the other end of a FIFO.
    ///
    /// - Parameters:
    ///   - name: a path, relative to the folder if there is one.
    ///   - permissions: the permissions of a new file, reduced by the umask.
    package static func open(
        _ name: String,
        _ flags: Int32,
        in folder: OpenedFile? = nil,
        permissions: UInt16 = 0o666
    ) throws(SystemCallFailure) -> OpenedFile {
        OpenedFile(try openDescriptor(name, flags, in: folder, permissions), name, in: folder)
    }

    fileprivate static func openDescriptor(
        _ name: String,
        _ flags: Int32,
        in folder: OpenedFile? = nil,
        _ permissions: UInt16 = 0o666
    ) throws(SystemCallFailure) -> Int32 {
        let flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY
        while true {
            let descriptor = openat(folder?.descriptor ?? AT_FDCWD, name, flags, mode_t(permissions))
            if descriptor >= 0 { return descriptor }
            if errno != EINTR { throw SystemCallFailure("open", name, in: folder) }
        }
    }

    private func failure(_ call: StaticString, _ code: Int32 = errno) -> SystemCallFailure {
        SystemCallFailure(call, name, in: folder, code)
    }

    /// The number of bytes. Fails for a FIFO and a socket, which have none.
    package func size() throws(SystemCallFailure) -> Int64 {
        let size = lseek(descriptor, 0, SEEK_END)
        guard size >= 0 else { throw failure("lseek") }
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

    /// The bytes from an offset; fewer than the limit only at the end of the file.
    package func bytes(at offset: Int64, upTo limit: Int) throws(SystemCallFailure) -> [UInt8] {
        var failure: SystemCallFailure?
        let offset = try position(offset)
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit {
                let got = pread(descriptor, buffer.baseAddress.map { $0 + count }, limit - count, offset + off_t(count))
                if got > 0 {
                    count += got
                } else if got == 0 {
                    break
                } else if errno != EINTR {
                    failure = self.failure("read")
                    break
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// An offset for a system call. Some 32-bit systems have no offsets over 2 GiB.
    private func position(_ offset: Int64) throws(SystemCallFailure) -> off_t {
        guard let position = off_t(exactly: offset) else { throw failure("seek", EFBIG) }
        return position
    }

    /// Whether the last byte, if any, is a line feed.
    package func endsWithLine(size: Int64) throws(SystemCallFailure) -> Bool {
        guard size > 0 else { return true }
        var byte: UInt8 = 0
        guard pread(descriptor, &byte, 1, try position(size - 1)) == 1 else { throw failure("read") }
        return byte == UInt8(ascii: "\n")
    }

    package func write(_ bytes: some ContiguousBytes, at offset: Int64) throws(SystemCallFailure) {
        let failure = bytes.withUnsafeBytes { buffer -> SystemCallFailure? in
            let (end, isTooFar) = offset.addingReportingOverflow(Int64(buffer.count))
            guard !isTooFar, off_t(exactly: end) != nil else { return self.failure("write", EFBIG) }
            var count = 0
            while count < buffer.count {
                let start = buffer.baseAddress.map { $0 + count }
                let put = pwrite(descriptor, start, buffer.count - count, off_t(offset) + off_t(count))
                if put > 0 { count += put } else if put == 0 || errno != EINTR { return self.failure("write") }
            }
            return nil
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
        guard fchmod(descriptor, mode_t(permissions)) == 0 else { throw failure("chmod") }
    }

    package func truncate(to size: Int64) throws(SystemCallFailure) {
        guard ftruncate(descriptor, try position(size)) == 0 else { throw failure("truncate") }
    }

    /// Makes earlier writes to the file, or changes to a folder's names, reach the disk before later writes do.
    ///
    /// Once a call has failed, a later call may succeed although the bytes are lost.
    package func synchronize() throws(SystemCallFailure) {
        while synchronizeCall(descriptor) != 0 {
            // Some file systems can't synchronize a folder, and keep its names safe by themselves.
            if errno == EINVAL || errno == ENOTSUP { return }
            if errno != EINTR { throw failure("fsync") }
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

/// Opens files without blocking.
///
/// Opening a FIFO blocks until its other end is opened, and tasks have few threads to block. A FIFO may have replaced a regular
/// file after it was checked, so every open is non-blocking.
enum RegularFile {
    /// Opens a file for reading, following symbolic links.
    ///
    /// - Throws: a `POSIXError`, also if the URL isn't a regular file's.
    static func open(_ url: URL) throws -> FileHandle {
        // Resolves links and drops cached values, because the URL may remember an older file. Avoids `fstat()`, for which Apple
        // requires apps to declare a reason.
        var target = url.resolvingSymlinksInPath()
        target.removeAllCachedResourceValues()
        let isRegular = try? target.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
        guard url.isFileURL, isRegular != false else { throw POSIXError(.EINVAL) }
        let descriptor: Int32
        do {
            descriptor = try OpenedFile.openDescriptor(url.path, O_RDONLY)
        } catch {
            throw POSIXError(POSIXError.Code(rawValue: error.code) ?? .EIO)
        }
        // A FIFO that replaced the file in the meantime can't seek.
        guard lseek(descriptor, 0, SEEK_CUR) == 0 else {
            close(descriptor)
            throw POSIXError(.EINVAL)
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// The whole content of a file.
    static func contents(of url: URL) throws -> Data {
        let handle = try open(url)
        defer { try? handle.close() }
        return try handle.readToEnd() ?? Data()
    }
}
