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
        let descriptor = try openDescriptor(url.path)
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

    private static func openDescriptor(_ path: String) throws -> Int32 {
        while true {
            let descriptor = openCall(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
            if descriptor >= 0 { return descriptor }
            let code = errno
            if code != EINTR { throw POSIXError(POSIXError.Code(rawValue: code) ?? .EIO) }
        }
    }
}

// A wrapper, because the function above has the name of this system call.
private func openCall(_ path: String, _ flags: Int32) -> Int32 { open(path, flags) }
