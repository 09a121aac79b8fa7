internal import CFiles
internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// What the system answered to a call that failed.
struct SystemError: Error {
    let code: Int32
    let call: StaticString

    init(_ call: StaticString, _ code: Int32 = errno) {
        self.code = code
        self.call = call
    }

    /// Whether there is no such file. Any other failure, such as too many open files or a device that is locked, says nothing
    /// about the file: an entry must not be taken for lost.
    var isMissing: Bool { code == ENOENT }

    /// Whether a link, a directory, a socket or a FIFO is in the place of a file.
    var isOfAnotherKind: Bool { code == ELOOP || code == EISDIR || code == ENXIO || code == ENOTDIR }

    /// The same for those outside.
    var storeError: CacheStoreError {
        CacheStoreError(.unavailable, "\(call) failed: \(String(cString: strerror(code))).")
    }
}

/// A file or directory that is open; closed when nobody holds it any more.
final class OpenFile: Sendable {
    let descriptor: Int32

    private init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    // Links are not followed: nothing leads out of the directory. And nobody waits for the other end of a FIFO.
    static func open(
        _ path: String,
        in directory: OpenFile? = nil,
        _ flags: Int32 = O_RDONLY
    ) throws(SystemError) -> OpenFile {
        while true {
            let flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            let descriptor = openat(directory?.descriptor ?? AT_FDCWD, path, flags, 0o600)
            if descriptor >= 0 { return OpenFile(descriptor) }
            guard errno == EINTR else { throw SystemError("open") }
        }
    }

    /// Makes a file in place of whatever has its name.
    static func make(_ path: String, in directory: OpenFile) throws(SystemError) -> OpenFile {
        do throws(SystemError) {
            return try open(path, in: directory, O_RDWR | O_CREAT | O_EXCL)
        } catch {
            guard error.code == EEXIST else { throw error }
            try directory.remove(path)
            return try open(path, in: directory, O_RDWR | O_CREAT | O_EXCL)
        }
    }

    /// Opens a file of a directory for reading and writing, or makes it with the given content. Of several that make it at once,
    /// all open the same.
    static func openOrMake(
        _ name: String,
        in directory: OpenFile,
        content: () -> [UInt8]
    ) throws(SystemError) -> (file: OpenFile, isNew: Bool) {
        var isNew = false
        while true {
            do throws(SystemError) {
                let file = try open(name, in: directory, O_RDWR)
                if try file.status().isRegular { return (file, isNew) }
                if isNew { throw SystemError("open", EEXIST) }
                try directory.remove(name)
            } catch {
                if isNew || !(error.isMissing || error.isOfAnotherKind) { throw error }
                if error.isOfAnotherKind { try directory.remove(name) }
            }
            try directory.makeOnce(name, content())
            isNew = true
        }
    }

    /// Makes a file with its whole content, unless there is one of its name: of several only the first gets the name.
    func makeOnce(_ name: String, _ content: [UInt8]) throws(SystemError) {
        let temporary = name + "-" + String(UInt64.random(in: .min ... .max), radix: 16)
        let file = try OpenFile.make(temporary, in: self)
        do throws(SystemError) {
            try file.write(content, at: 0)
            // A file system without links gives the name to the last.
            if linkat(descriptor, temporary, descriptor, name, 0) != 0, errno != EEXIST {
                try rename(temporary, to: self, name)
            }
        } catch {
            try? remove(temporary)
            throw error
        }
        try remove(temporary)
    }

    static func openDirectory(_ path: String, in directory: OpenFile? = nil) throws(SystemError) -> OpenFile {
        try open(path, in: directory, O_RDONLY | O_DIRECTORY)
    }

    /// Makes a directory that nobody else can look into, if it isn't there.
    static func makeDirectory(_ path: String, in directory: OpenFile? = nil) throws(SystemError) {
        if mkdirat(directory?.descriptor ?? AT_FDCWD, path, 0o700) != 0, errno != EEXIST { throw SystemError("mkdir") }
    }

    struct Status {
        var size: Int64
        /// In nanoseconds since 1970.
        var modified: Int64
        var owner: UInt32
        var permissions: UInt32
        var links: Int
        var isRegular: Bool

        init(_ status: stat) {
            var status = status
            size = Int64(status.st_size)
            modified = cfiles_modified(&status)
            owner = UInt32(status.st_uid)
            permissions = UInt32(status.st_mode) & 0o777
            links = Int(status.st_nlink)
            isRegular = status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// The size of the blocks in which the file system gives room.
    func blockSize() -> Int64 {
        var system = statvfs()
        guard fstatvfs(descriptor, &system) == 0 else { return 4_096 }
        return min(max(Int64(clamping: system.f_frsize), 512), 65_536)
    }

    func status() throws(SystemError) -> Status {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemError("fstat") }
        return Status(status)
    }

    func status(of name: String) throws(SystemError) -> Status {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw SystemError("fstat") }
        return Status(status)
    }

    /// Reads as many bytes as there are from an offset on, at most those that fit.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(SystemError) -> Int {
        var count = 0
        while count < buffer.count {
            let got = pread(
                descriptor,
                buffer.baseAddress.map { $0 + count },
                buffer.count - count,
                off_t(offset + Int64(count))
            )
            if got == 0 { break }
            if got > 0 { count += got } else if errno != EINTR { throw SystemError("read") }
        }
        return count
    }

    /// As many bytes as there are from an offset on, at most so many.
    func bytes(_ limit: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        var failure: SystemError?
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            do throws(SystemError) {
                count = try read(into: UnsafeMutableRawBufferPointer(buffer), at: offset)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return bytes
    }

    func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
        var count = 0
        while count < bytes.count {
            let put = pwrite(
                descriptor,
                bytes.baseAddress.map { $0 + count },
                bytes.count - count,
                off_t(offset + Int64(count))
            )
            if put > 0 { count += put } else if put == 0 || errno != EINTR { throw SystemError("write") }
        }
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
        var failure: SystemError?
        bytes.withUnsafeBytes { bytes in
            do throws(SystemError) { try write(bytes, at: offset) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    /// Sets the time of the last modification, which is that of the last use. That it fails costs no more than order.
    func setModified(_ nanoseconds: Int64) {
        let time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var times = [time, time]
        futimens(descriptor, &times)
    }

    /// Removes a file, or an empty directory in its place; that it isn't there is no error.
    func remove(_ name: String) throws(SystemError) {
        guard unlinkat(descriptor, name, 0) != 0, errno != ENOENT else { return }
        let failure = SystemError("unlink")
        // Of a directory the systems say one or the other.
        guard failure.code == EISDIR || failure.code == EPERM else { throw failure }
        guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else { throw failure }
    }

    func rename(_ name: String, to other: OpenFile, _ newName: String) throws(SystemError) {
        guard renameat(descriptor, name, other.descriptor, newName) == 0 else { throw SystemError("rename") }
    }

    /// Whether this process now holds the lock of this file. The system lets go of it when the file is closed, and when
    /// the process ends in whatever way. Where there are no such locks, everybody holds them.
    ///
    /// It is held for one change of a shard alone: iOS ends an app that it suspends while the app holds a lock in the
    /// directory of an App Group.
    func tryLock() -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { return true }
        }
        return true
    }

    /// The names in a directory, without those of hidden files.
    func names() throws(SystemError) -> [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw SystemError("open") }
        guard let stream = fdopendir(copy) else {
            close(copy)
            throw SystemError("opendir")
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }
}
