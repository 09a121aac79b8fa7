internal import CInterceptorsFiles
internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// The error of a failed system call.
struct SystemError: Error {
    let code: Int32
    private let call: StaticString
    // Joined to a path only for a message, because a missing file is no error for a lookup.
    private let name: String
    private let directory: OpenFile?

    init(_ call: StaticString, _ name: String, in directory: OpenFile?, _ code: Int32 = errno) {
        self.code = code
        self.call = call
        self.name = name
        self.directory = directory
    }

    /// Whether the file doesn't exist. Any other failure, such as too many open files or a locked device, doesn't mean that
    /// its entry is lost.
    var isMissing: Bool { code == ENOENT }

    /// Whether the file is lost: a link, a directory, a socket or a FIFO has its name, or the disk can't read its bytes back.
    var isDamage: Bool { [ELOOP, EISDIR, ENXIO, ENOTDIR, EIO].contains(code) }

    /// The error that callers of the store get.
    var storeError: CacheStoreError {
        let path = directory.map { $0.path + "/" + name } ?? name
        let reason = String(cString: strerror(code))
        return CacheStoreError(.storeUnavailable, "\(call) failed for \(path): \(reason). \(remedy)")
    }

    private var remedy: String {
        switch code {
        case EACCES, EPERM: "Make the cache's directory readable and writable for this process."
        case EROFS: "Give the store a directory on a file system that can be written."
        case EMFILE, ENFILE: "Close files, or raise the limit of open files."
        case ENOSPC, EDQUOT: "Free space on the disk, or lower the store's byteLimit."
        default: "Requests go to the server meanwhile."
        }
    }
}

/// Returns the result of some work, or `nil` if a file is missing.
func unlessMissing<Value>(_ work: () throws(SystemError) -> Value) throws(SystemError) -> Value? {
    do throws(SystemError) {
        return try work()
    } catch {
        if error.isMissing { return nil }
        throw error
    }
}

extension Error {
    /// The error that callers of the store get instead of a system error.
    var asStoreError: any Error { (self as? SystemError)?.storeError ?? self }
}

/// An open file or directory, closed when its last reference is released.
final class OpenFile: Sendable {
    let descriptor: Int32
    private let name: String
    private let directory: OpenFile?

    private init(_ descriptor: Int32, _ name: String, in directory: OpenFile?) {
        self.descriptor = descriptor
        self.name = name
        self.directory = directory
    }

    /// The path by which the file was opened.
    var path: String { directory.map { $0.path + "/" + name } ?? name }

    private func failure(_ call: StaticString, at name: String? = nil, _ code: Int32 = errno) -> SystemError {
        SystemError(call, name ?? self.name, in: name == nil ? directory : self, code)
    }

    deinit { close(descriptor) }

    // `O_NOFOLLOW`: no link leads out of the directory. `O_NONBLOCK`: opening a FIFO doesn't wait for its other end.
    static func open(
        _ path: String,
        in directory: OpenFile? = nil,
        _ flags: Int32 = O_RDONLY
    ) throws(SystemError) -> OpenFile {
        while true {
            let flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            let descriptor = openat(directory?.descriptor ?? AT_FDCWD, path, flags, 0o600)
            if descriptor >= 0 { return OpenFile(descriptor, path, in: directory) }
            guard errno == EINTR else { throw SystemError("open", path, in: directory) }
        }
    }

    /// Creates a file, and removes whatever has its name.
    static func make(_ path: String, in directory: OpenFile) throws(SystemError) -> OpenFile {
        do throws(SystemError) {
            return try open(path, in: directory, O_RDWR | O_CREAT | O_EXCL)
        } catch {
            guard error.code == EEXIST else { throw error }
            try directory.remove(path)
            return try open(path, in: directory, O_RDWR | O_CREAT | O_EXCL)
        }
    }

    /// Opens a file of a directory for reading and writing, or creates it with some content. Processes that create it at the
    /// same time all open the same file.
    static func openOrMake(
        _ name: String,
        in directory: OpenFile,
        content: () -> [UInt8]
    ) throws(SystemError) -> OpenFile {
        for _ in 0..<3 {
            if let status = try unlessMissing({ () throws(SystemError) in try directory.status(of: name) }) {
                if status.isRegular { return try open(name, in: directory, O_RDWR) }
                try directory.remove(name)
            }
            try directory.makeOnce(name, content())
        }
        throw SystemError("open", name, in: directory, EEXIST)
    }

    /// Creates a file with all its content, unless the name exists: of several processes, the first wins.
    func makeOnce(_ name: String, _ content: [UInt8]) throws(SystemError) {
        let temporary = name + "-" + String(UInt64.random(in: .min ... .max), radix: 16)
        let file = try OpenFile.make(temporary, in: self)
        do throws(SystemError) {
            try file.write(content, at: 0)
            // On a file system without hard links, the last process wins.
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

    /// Takes the permissions for a directory from all other accounts.
    func closeToOthers() { fchmod(descriptor, 0o700) }

    /// Creates a directory with permissions 0700, unless the name exists.
    static func makeDirectory(_ path: String, in directory: OpenFile? = nil) throws(SystemError) {
        if mkdirat(directory?.descriptor ?? AT_FDCWD, path, 0o700) != 0, errno != EEXIST {
            throw SystemError("mkdir", path, in: directory)
        }
    }

    struct Status {
        /// The numbers that tell a file from every other that exists at the same time.
        var identity: [UInt64]
        var size: Int64
        /// When the file was last modified, in nanoseconds since 1970.
        var modified: Int64
        /// Whether this process's account owns the file.
        var isOwn: Bool
        var isRegular: Bool
        /// The size of the file system's blocks, in bytes; between 512 and 65,536.
        // Not from `fstatvfs()`, for which Apple requires apps to declare that they read the disk's space.
        var blockSize: Int64

        init(_ status: stat) {
            var status = status
            size = Int64(status.st_size)
            modified = cfiles_modified(&status)
            isOwn = status.st_uid == geteuid()
            identity = [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
            isRegular = status.st_mode & S_IFMT == S_IFREG
            blockSize = min(max(Int64(status.st_blksize), 512), 65_536)
        }
    }

    func status() throws(SystemError) -> Status {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("fstat") }
        return Status(status)
    }

    func status(of name: String) throws(SystemError) -> Status {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw failure("fstat", at: name) }
        return Status(status)
    }

    /// Reads at most `limit` bytes from an offset; fewer only at the end of the file.
    func bytes(_ limit: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
        var code: Int32 = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            while count < limit {
                let start = buffer.baseAddress.map { $0 + count }
                let got = pread(descriptor, start, limit - count, off_t(offset + Int64(count)))
                if got > 0 {
                    count += got
                } else if got == 0 {
                    break
                } else if errno != EINTR {
                    code = errno
                    break
                }
            }
        }
        if code != 0 { throw failure("read", code) }
        return bytes
    }

    func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
        var count = 0
        while count < bytes.count {
            let put = bytes[count...].withUnsafeBytes { rest in
                pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset + Int64(count)))
            }
            if put > 0 { count += put } else if put == 0 || errno != EINTR { throw failure("write") }
        }
    }

    /// Sets the modification time, which records the last use. A failure is ignored: it only affects the order of eviction.
    func setModified(_ nanoseconds: Int64) {
        let time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var times = [time, time]
        futimens(descriptor, &times)
    }

    /// Removes a file or an empty directory. A missing file is no error.
    func remove(_ name: String) throws(SystemError) {
        guard unlinkat(descriptor, name, 0) != 0, errno != ENOENT else { return }
        let failure = failure("unlink", at: name)
        // For a directory, Linux says `EISDIR` and Darwin `EPERM`.
        guard failure.code == EISDIR || failure.code == EPERM else { throw failure }
        guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else { throw failure }
    }

    func rename(_ name: String, to other: OpenFile, _ newName: String) throws(SystemError) {
        guard renameat(descriptor, name, other.descriptor, newName) == 0 else {
            throw failure("rename", at: name)
        }
    }

    /// Tries to acquire the exclusive lock (`flock`) of this file. Returns `false` if another descriptor holds it.
    ///
    /// The system releases the lock when the file is closed, and when the process ends for whatever reason. On a file system
    /// without locks, every attempt succeeds.
    ///
    /// Hold the lock only during one change of a shard. iOS ends an app that is suspended while it holds a lock in an App
    /// Group's directory.
    func tryLock() -> Bool {
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            if errno == EWOULDBLOCK { return false }
            if errno != EINTR { return true }
        }
        return true
    }

    /// The names in a directory, except hidden files.
    func names() throws(SystemError) -> [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw failure("open") }
        guard let stream = fdopendir(copy) else {
            close(copy)
            throw failure("opendir")
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
