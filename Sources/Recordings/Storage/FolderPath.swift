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

        /// Whether there is no such file.
        var isMissing: Bool { code == ENOENT || code == ENOTDIR }

        /// The system's words for the error.
        var reason: String {
            switch code {
            case ELOOP: "It is a symbolic link, and links aren't followed."
            case EINVAL, ENXIO: "It is not a regular file."
            default: String(cString: strerror(code)) + "."
            }
        }
    }

    /// The content of a folder: the paths of its files and of the entries that are neither files nor folders.
    struct Listing: Equatable {
        var files: [[String]] = []
        var others: [[String]] = []
    }

    /// The maximum number of entries of a folder. A folder with more is refused, because each look-up reads it.
    static let entryLimit = 100_000
    private static let depthLimit = 64

    let url: URL

    init(_ url: URL) { self.url = url }

    /// The regular files in the folder and its subfolders, sorted, without those whose names begin with a dot.
    func list() throws(Failure) -> Listing {
        var listing = Listing()
        let root = try openRoot()
        var count = 0
        try collect(root, at: [], into: &listing, &count)
        listing.files.sort { $0.lexicographicallyPrecedes($1) }
        listing.others.sort { $0.lexicographicallyPrecedes($1) }
        return listing
    }

    /// Opens a file for reading.
    func open(_ path: [String]) throws(Failure) -> FileHandle {
        let (parent, name) = try openParent(of: path)
        defer { closeCall(parent) }
        let descriptor = openCall(parent, name, O_RDONLY)
        guard descriptor >= 0 else { throw failure(path) }
        // A directory can be opened and a FIFO too, but neither can be read from a position. This avoids `fstat()`, for which
        // Apple requires apps to declare a reason.
        var byte: UInt8 = 0
        guard pread(descriptor, &byte, 1, 0) >= 0 else {
            let code = errno
            closeCall(descriptor)
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

    /// Writes a file whole or not at all, and makes the folders on its way. A file or link that has its name is replaced.
    func write(_ bytes: Data, to path: [String]) throws {
        let (parent, name) = try openParent(of: path, isMade: true)
        defer { closeCall(parent) }
        let temporary = ".recording-\(getpid())-\(String(UInt64.random(in: .min ... .max), radix: 36))"
        let descriptor = openCall(parent, temporary, O_WRONLY | O_CREAT | O_EXCL)
        guard descriptor >= 0 else { throw failure(path) }
        do {
            let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            try handle.write(contentsOf: bytes)
            try handle.close()
            guard renameat(parent, temporary, parent, name) == 0 else { throw failure(path) }
        } catch {
            unlinkat(parent, temporary, 0)
            throw error
        }
    }

    /// Removes a file, if it exists.
    func remove(_ path: [String]) throws(Failure) {
        do throws(Failure) {
            let (parent, name) = try openParent(of: path)
            defer { closeCall(parent) }
            guard unlinkat(parent, name, 0) == 0 else { throw failure(path) }
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Makes the folder itself, and those above it.
    func make() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    static func text(_ path: [String]) -> String { path.joined(separator: "/") }
}

extension FolderPath {
    private func failure(_ path: [String], _ code: Int32 = errno) -> Failure {
        Failure(code: code, file: path.isEmpty ? url.lastPathComponent : Self.text(path))
    }

    private func openRoot() throws(Failure) -> Int32 {
        guard url.isFileURL else { throw failure([], ENOENT) }
        // The folder itself may be a link: its owner chose it.
        let descriptor = openCall(AT_FDCWD, url.path, O_RDONLY | O_DIRECTORY, followsLinks: true)
        guard descriptor >= 0 else { throw failure([]) }
        return descriptor
    }

    /// Whether a name is one segment: not empty, not a way up or through, and without NUL.
    private static func isSegment(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".."
            && !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
    }

    private func openParent(of path: [String], isMade: Bool = false) throws(Failure) -> (Int32, name: String) {
        guard let name = path.last, path.allSatisfy(Self.isSegment) else { throw failure(path, EINVAL) }
        var parent = try openRoot()
        for segment in path.dropLast() {
            if isMade { mkdirat(parent, segment, 0o777) }
            let child = openCall(parent, segment, O_RDONLY | O_DIRECTORY)
            let code = errno
            closeCall(parent)
            // Linux says that a link isn't a directory.
            guard child >= 0 else { throw failure(path, code) }
            parent = child
        }
        return (parent, name)
    }

    /// Lists a folder, whose descriptor it closes.
    private func collect(
        _ descriptor: Int32,
        at path: [String],
        into listing: inout Listing,
        _ count: inout Int
    ) throws(Failure) {
        guard let stream = fdopendir(descriptor) else {
            let code = errno
            closeCall(descriptor)
            throw failure(path, code)
        }
        defer { closedir(stream) }
        while let entry = readdir(stream) {
            guard let name = Self.name(of: entry), !name.hasPrefix(".") else { continue }
            count += 1
            guard count <= Self.entryLimit else { throw failure(path, EFBIG) }
            let own = path + [name]
            let kind = Int32(entry.pointee.d_type)
            let child = kind == folder || kind == unknownKind ? openCall(descriptor, name, O_RDONLY | O_DIRECTORY) : -1
            if child >= 0, path.count < Self.depthLimit {
                try collect(child, at: own, into: &listing, &count)
            } else if child < 0, kind == regularFile || kind == unknownKind {
                listing.files.append(own)
            } else {
                if child >= 0 { closeCall(child) }
                listing.others.append(own)
            }
        }
    }

    /// The name of a directory's entry; `nil` if it isn't UTF-8.
    private static func name(of entry: UnsafeMutablePointer<dirent>) -> String? {
        withUnsafePointer(to: &entry.pointee.d_name) { pointer in
            pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
                String(validatingCString: $0)
            }
        }
    }
}

// `d_type` of a folder, of a regular file, and of a file system that doesn't tell; in glibc the constants have another type.
private let folder: Int32 = 4
private let regularFile: Int32 = 8
private let unknownKind: Int32 = 0

private func closeCall(_ descriptor: Int32) { _ = close(descriptor) }

private func openCall(_ parent: Int32, _ name: String, _ flags: Int32, followsLinks: Bool = false) -> Int32 {
    let flags = flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (followsLinks ? 0 : O_NOFOLLOW)
    while true {
        let descriptor = openat(parent, name, flags, 0o644)
        if descriptor >= 0 || errno != EINTR { return descriptor }
    }
}
