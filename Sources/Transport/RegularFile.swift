internal import Foundation

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#endif

/// Files that are opened without waiting for anybody.
///
/// Whoever opens a FIFO waits for its other end, and the threads of tasks are few: a file may have been replaced by one since
/// somebody looked at it.
enum RegularFile {
    /// Opens a file for reading; a link counts as what it leads to.
    ///
    /// - Throws: a `POSIXError`, also for what is no regular file.
    static func open(_ url: URL) throws -> FileHandle {
        // A link counts as what it leads to, and a URL may remember what its file was. Not by fstat(), for which Apple asks
        // the reason.
        var target = url.resolvingSymlinksInPath()
        target.removeAllCachedResourceValues()
        let isRegular = try? target.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
        guard url.isFileURL, isRegular != false else { throw POSIXError(.EINVAL) }
        let descriptor = try openDescriptor(url.path)
        // What has become a FIFO since has no place to read from.
        guard lseek(descriptor, 0, SEEK_CUR) == 0 else {
            close(descriptor)
            throw POSIXError(.EINVAL)
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// The content of a file, all of it.
    static func contents(of url: URL) throws -> Data {
        let handle = try open(url)
        defer { try? handle.close() }
        return try handle.readToEnd() ?? Data()
    }

    private static func openDescriptor(_ path: String) throws -> Int32 {
        while true {
            #if canImport(Darwin)
            let descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            #else
            let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            #endif
            if descriptor >= 0 { return descriptor }
            let code = errno
            if code != EINTR { throw POSIXError(POSIXError.Code(rawValue: code) ?? .EIO) }
        }
    }
}
