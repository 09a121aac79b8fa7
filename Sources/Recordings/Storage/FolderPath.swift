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
    func read(_ path: [String], upTo limit: Int) throws(Failure) -> Data {
        let handle = try open(path)
        defer { try? handle.close() }
        do {
            let bytes = try handle.read(upToCount: limit + 1) ?? Data()
            if bytes.count <= limit { return bytes }
        } catch {
            throw failure(path, EIO)
        }
        throw failure(path, EFBIG)
    }

    static func text(_ path: [String]) -> String { path.joined(separator: "/") }
}

// MARK: Names

extension FolderPath {
    /// The content of a folder: the paths of its files, and of the entries that are neither files nor folders.
    struct Listing: Equatable {
        var files: [[String]] = []
        var others: [[String]] = []
    }

    /// A folder with more entries, or with deeper ones, is refused.
    static let entryLimit = 100_000
    private static let depthLimit = 64

    /// The regular files in the folder and its subfolders, sorted, without those whose names begin with a dot. Links aren't followed.
    ///
    /// - Throws: an error that names the folder if the folder or one of its subfolders can't be read.
    func list() throws(Failure) -> Listing {
        Self.closeCall(try openRoot())
        let keys: [URLResourceKey] = [.isRegularFileKey, .isDirectoryKey]
        let root = url.resolvingSymlinksInPath()
        // The enumeration calls the closure on this thread.
        let failed = FailedFolder()
        let entries = FileManager.default.enumerator(at: root, includingPropertiesForKeys: keys, options: []) {
            url,
            _ in
            failed.url = url
            return false
        }
        guard let entries else { throw failure([], EIO) }
        var listing = Listing()
        var count = 0
        while let entry = entries.nextObject() as? URL {
            let path = Array(entry.pathComponents.suffix(entries.level))
            let values = try? entry.resourceValues(forKeys: Set(keys))
            let (isFolder, isFile) = (values?.isDirectory == true, values?.isRegularFile == true)
            count += 1
            guard count <= Self.entryLimit, path.count <= Self.depthLimit else { throw failure(path, EFBIG) }
            if let name = path.last, name.hasPrefix(".") {
                if isFolder { entries.skipDescendants() }
            } else if isFile {
                listing.files.append(path)
            } else if !isFolder {
                listing.others.append(path)
            }
        }
        if let url = failed.url {
            let level = url.pathComponents.count - root.pathComponents.count
            let path = Array(url.pathComponents.suffix(max(0, level)))
            // Opening it tells the reason.
            do throws(Failure) {
                Self.closeCall(try openParent(of: path + [Self.temporaryPrefix]).0)
            } catch {
                throw failure(path, error.code)
            }
            throw failure(path, EIO)
        }
        listing.files.sort { $0.lexicographicallyPrecedes($1) }
        listing.others.sort { $0.lexicographicallyPrecedes($1) }
        return listing
    }

    private final class FailedFolder {
        var url: URL?
    }
}

// MARK: Writing

extension FolderPath {
    /// The beginning of the names of files that aren't whole yet.
    static let temporaryPrefix = ".recording-"

    /// Writes a file under a temporary name, which readers ignore, and makes missing folders.
    ///
    /// - Parameters:
    ///   - bytes: the content, which is on the disk when the method returns.
    ///   - path: a file in the same folder.
    /// - Returns: the path of the file.
    func writeTemporary(_ bytes: Data, beside path: [String]) throws -> [String] {
        let (parent, _) = try openParent(of: path, isMade: true)
        defer { Self.closeCall(parent) }
        let name = Self.temporaryPrefix + String(UInt64.random(in: .min ... .max), radix: 36)
        let descriptor = Self.openCall(parent, name, O_WRONLY | O_CREAT | O_EXCL)
        guard descriptor >= 0 else { throw failure(path) }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: bytes)
            // Otherwise a loss of power could leave an empty file under the new name.
            while fsync(descriptor) != 0 && errno != EINVAL && errno != ENOTSUP {
                guard errno == EINTR else { throw failure(path) }
            }
            try handle.close()
        } catch {
            unlinkat(parent, name, 0)
            throw error
        }
        return path.dropLast() + [name]
    }

    /// Gives a file another name in its folder. A file or link that has this name is replaced.
    func rename(_ path: [String], to name: String) throws(Failure) {
        guard Self.isSegment(name) else { throw failure([name], EINVAL) }
        let (parent, old) = try openParent(of: path)
        defer { Self.closeCall(parent) }
        guard renameat(parent, old, parent, name) == 0 else { throw failure(path.dropLast() + [name]) }
    }

    /// Removes a file, if it exists. A folder stays.
    func remove(_ path: [String]) throws(Failure) {
        do throws(Failure) {
            let (parent, name) = try openParent(of: path)
            defer { Self.closeCall(parent) }
            guard unlinkat(parent, name, 0) != 0 else { return }
            let code = errno
            // Systems differ in the reason for which a folder can't be removed so.
            let folder = Self.openCall(parent, name, O_RDONLY | O_DIRECTORY)
            guard folder >= 0 else { throw failure(path, code) }
            Self.closeCall(folder)
        } catch {
            guard error.isMissing else { throw error }
        }
    }
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
