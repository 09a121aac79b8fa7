internal import CInterceptorsFiles
internal import Foundation

extension SystemCallFailure {
    /// Whether the file is lost: a link, a directory, a socket or a FIFO has its name, or the disk can't read its bytes back. Any
    /// other failure, such as too many open files or a locked device, doesn't mean that its entry is lost.
    var isDamage: Bool { [ELOOP, EISDIR, ENXIO, ENOTDIR, EIO].contains(code) }

    /// The error that callers of the store get.
    var storeError: CacheStoreError { CacheStoreError(.storeUnavailable, "\(sentence) \(remedy)") }

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
func unlessMissing<Value>(
    _ work: @autoclosure () throws(SystemCallFailure) -> Value
) throws(SystemCallFailure) -> Value? {
    do throws(SystemCallFailure) {
        return try work()
    } catch {
        if error.isMissing { return nil }
        throw error
    }
}

extension Error {
    /// The error that callers of the store get instead of a system error.
    var asStoreError: any Error { (self as? SystemCallFailure)?.storeError ?? self }
}

/// The files and directories of a cache, which belong to this account alone.
extension OpenedFile {
    private func failure(_ call: StaticString, at name: String, _ code: Int32 = errno) -> SystemCallFailure {
        SystemCallFailure(call, name, in: self, code)
    }

    /// Opens a file that isn't a link, so that no name leads out of the directory.
    static func openOwn(
        _ name: String,
        in directory: OpenedFile? = nil,
        _ flags: Int32 = O_RDONLY
    ) throws(SystemCallFailure) -> OpenedFile {
        try open(name, flags | O_NOFOLLOW, in: directory, permissions: 0o600)
    }

    /// Creates a file, and removes whatever has its name.
    static func make(_ path: String, in directory: OpenedFile) throws(SystemCallFailure) -> OpenedFile {
        do throws(SystemCallFailure) {
            return try openOwn(path, in: directory, O_RDWR | O_CREAT | O_EXCL)
        } catch {
            guard error.code == EEXIST else { throw error }
            try directory.remove(path)
            return try openOwn(path, in: directory, O_RDWR | O_CREAT | O_EXCL)
        }
    }

    /// Opens a file of a directory for reading and writing, or creates it with some content. Processes that create it at the
    /// same time all open the same file.
    static func openOrMake(
        _ name: String,
        in directory: OpenedFile,
        content: () -> [UInt8]
    ) throws(SystemCallFailure) -> OpenedFile {
        for _ in 0..<3 {
            if let status = try unlessMissing(try directory.status(of: name)) {
                if status.isRegular { return try openOwn(name, in: directory, O_RDWR) }
                try directory.remove(name)
            }
            try directory.makeOnce(name, content())
        }
        throw SystemCallFailure("open", name, in: directory, EEXIST)
    }

    /// Creates a file with all its content, unless the name exists: of several processes, the first wins.
    func makeOnce(_ name: String, _ content: [UInt8]) throws(SystemCallFailure) {
        let temporary = name + "-" + String(UInt64.random(in: .min ... .max), radix: 16)
        let file = try OpenedFile.make(temporary, in: self)
        do throws(SystemCallFailure) {
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

    static func openDirectory(_ path: String, in directory: OpenedFile? = nil) throws(SystemCallFailure) -> OpenedFile {
        try openOwn(path, in: directory, O_RDONLY | O_DIRECTORY)
    }

    /// Takes the permissions for a directory from all other accounts.
    func closeToOthers() { fchmod(descriptor, 0o700) }

    /// Creates a directory with permissions 0700, unless the name exists.
    static func makeDirectory(_ path: String, in directory: OpenedFile? = nil) throws(SystemCallFailure) {
        if mkdirat(directory?.descriptor ?? AT_FDCWD, path, 0o700) != 0, errno != EEXIST {
            throw SystemCallFailure("mkdir", path, in: directory, errno)
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

    func status() throws(SystemCallFailure) -> Status {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("fstat", at: ".") }
        return Status(status)
    }

    func status(of name: String) throws(SystemCallFailure) -> Status {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { throw failure("fstat", at: name) }
        return Status(status)
    }

    /// Sets the modification time, which records the last use. A failure is ignored: it only affects the order of eviction.
    func setModified(_ nanoseconds: Int64) {
        let time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        var times = [time, time]
        futimens(descriptor, &times)
    }

    /// Removes a file or an empty directory. A missing file is no error.
    func remove(_ name: String) throws(SystemCallFailure) {
        guard unlinkat(descriptor, name, 0) != 0, errno != ENOENT else { return }
        let failure = failure("unlink", at: name)
        // For a directory, Linux says `EISDIR` and Darwin `EPERM`.
        guard failure.code == EISDIR || failure.code == EPERM else { throw failure }
        guard unlinkat(descriptor, name, AT_REMOVEDIR) == 0 || errno == ENOENT else { throw failure }
    }

    func rename(_ name: String, to other: OpenedFile, _ newName: String) throws(SystemCallFailure) {
        guard renameat(descriptor, name, other.descriptor, newName) == 0 else { throw failure("rename", at: name) }
    }

    /// The names in a directory, except hidden files.
    func names() throws(SystemCallFailure) -> [String] {
        let copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { throw failure("open", at: ".") }
        guard let stream = fdopendir(copy) else {
            close(copy)
            throw failure("opendir", at: ".")
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
