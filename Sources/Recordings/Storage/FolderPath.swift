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

/// A folder whose files are read and written without ever leaving it.
///
/// Every path is opened segment by segment, relative to the descriptor of the folder before it, and no link is followed. A link
/// that somebody swaps in between two steps therefore makes the step fail; it can't lead outside. Opening a FIFO doesn't wait
/// for its other end. Only the folder itself may be a link.
struct FolderPath: Sendable {
    /// A file that can't be listed, read or written.
    struct Failure: Error, Equatable {
        let code: Int32
        let file: String

        var path: [String] { file.split(separator: "/", omittingEmptySubsequences: false).map(String.init) }

        /// Whether there is no such file.
        var isMissing: Bool { code == ENOENT }

        /// The system's words for the error.
        var reason: String {
            switch code {
            case ELOOP: "It is a symbolic link, and links aren't followed."
            case EINVAL, ENXIO: "It is not a regular file."
            default: String(cString: strerror(code)) + "."
            }
        }
    }

    let url: URL

    init(_ url: URL) { self.url = url }

    /// Opens a file for reading.
    func open(_ path: [String]) throws(Failure) -> FileHandle {
        let (parent, name) = try openParent(of: path)
        defer { Self.closeCall(parent) }
        let descriptor = Self.openCall(parent, name, O_RDONLY)
        guard descriptor >= 0 else { throw failure(path) }
        // A directory can be opened and a FIFO too, but neither can be read from a position. This avoids `fstat()`, for which
        // Apple requires apps to declare a reason.
        var byte: UInt8 = 0
        guard pread(descriptor, &byte, 1, 0) >= 0 else {
            let code = errno
            Self.closeCall(descriptor)
            throw Failure(code: code == ESPIPE || code == EISDIR ? EINVAL : code, file: Self.text(path))
        }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Reads a file.
    ///
    /// - Parameter limit: the maximum number of bytes.
    func read(_ path: [String], upTo limit: Int) throws -> Data {
        let handle = try open(path)
        defer { try? handle.close() }
        let bytes = try handle.read(upToCount: limit) ?? Data()
        guard bytes.count < limit else { throw Failure(code: EFBIG, file: Self.text(path)) }
        return bytes
    }

    static func text(_ path: [String]) -> String { path.joined(separator: "/") }
}

// MARK: Descriptors

extension FolderPath {
    func failure(_ path: [String], _ code: Int32 = errno) -> Failure {
        Failure(code: code, file: path.isEmpty ? url.lastPathComponent : Self.text(path))
    }

    func openRoot() throws(Failure) -> Int32 {
        guard url.isFileURL else { throw failure([], ENOENT) }
        // The folder itself may be a link: its owner chose it.
        let descriptor = Self.openCall(AT_FDCWD, url.path, O_RDONLY | O_DIRECTORY, followsLinks: true)
        guard descriptor >= 0 else { throw failure([]) }
        return descriptor
    }

    /// Whether a name is one segment: not empty, not a way up or through, and without NUL.
    static func isSegment(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".."
            && !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
    }

    /// Opens the folder that a file is in. The caller closes the descriptor.
    func openParent(of path: [String], isMade: Bool = false) throws(Failure) -> (Int32, name: String) {
        guard let name = path.last, path.allSatisfy(Self.isSegment) else { throw failure(path, EINVAL) }
        var parent = try openRoot()
        for segment in path.dropLast() {
            if isMade { mkdirat(parent, segment, 0o777) }
            let child = Self.openCall(parent, segment, O_RDONLY | O_DIRECTORY)
            let code = errno
            Self.closeCall(parent)
            // Linux says that a link isn't a directory.
            guard child >= 0 else { throw failure(path, code) }
            parent = child
        }
        return (parent, name)
    }

    static func closeCall(_ descriptor: Int32) { _ = close(descriptor) }

    static func openCall(_ parent: Int32, _ name: String, _ flags: Int32, followsLinks: Bool = false) -> Int32 {
        let flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
        while true {
            let descriptor = openat(parent, name, flags, 0o644)
            if descriptor >= 0 || errno != EINTR { return descriptor }
        }
    }
}
