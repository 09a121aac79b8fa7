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

extension FolderPath {
    /// The content of a folder: the paths of its files and of the entries that are neither files nor folders.
    struct Listing: Equatable {
        var files: [[String]] = []
        var others: [[String]] = []
        /// Files that a recorder is writing, or was writing when its process was killed.
        var temporaries: [[String]] = []
    }

    /// The maximum number of entries of a folder. A folder with more is refused, because each look-up reads it.
    static let entryLimit = 100_000
    private static let depthLimit = 64

    /// The regular files in the folder and its subfolders, sorted, without those whose names begin with a dot.
    ///
    /// - Throws: an error that names the folder if the folder or one of its subfolders can't be read.
    func list() throws(Failure) -> Listing {
        var listing = Listing()
        let root = try openRoot()
        var count = 0
        try collect(root, at: [], into: &listing, &count)
        listing.files.sort { $0.lexicographicallyPrecedes($1) }
        listing.others.sort { $0.lexicographicallyPrecedes($1) }
        return listing
    }

    /// The names of a file and of the files beside it, without those that begin with a dot; none if the folder is missing.
    func siblings(of path: [String]) throws(Failure) -> [String] {
        let parent: Int32
        do throws(Failure) {
            parent = try openParent(of: path).0
        } catch {
            guard error.isMissing else { throw error }
            return []
        }
        guard let stream = fdopendir(parent) else {
            let code = errno
            Self.closeCall(parent)
            throw failure(path, code)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = try next(path, { readdir(stream) }) {
            guard Int32(entry.pointee.d_type) != folderType, let name = Self.name(of: entry), !name.hasPrefix(".")
            else {
                continue
            }
            guard names.count < Self.entryLimit else { throw failure(path, EFBIG) }
            switch try kind(of: entry, parent, path.dropLast() + [name]) {
            case .file: names.append(name)
            case .folder(let child): Self.closeCall(child)
            case .other, .missing: continue
            }
        }
        return names
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
            Self.closeCall(descriptor)
            throw failure(path, code)
        }
        defer { closedir(stream) }
        while let entry = try next(path, { readdir(stream) }) {
            guard let name = Self.name(of: entry) else { continue }
            if name.hasPrefix(".") {
                if name.hasPrefix(Self.temporaryPrefix) { listing.temporaries.append(path + [name]) }
                continue
            }
            count += 1
            guard count <= Self.entryLimit else { throw failure(path, EFBIG) }
            let own = path + [name]
            switch try kind(of: entry, descriptor, own) {
            case .file: listing.files.append(own)
            case .other: listing.others.append(own)
            case .missing: continue
            case .folder(let child):
                guard path.count < Self.depthLimit else {
                    Self.closeCall(child)
                    listing.others.append(own)
                    continue
                }
                try collect(child, at: own, into: &listing, &count)
            }
        }
    }

    /// The next entry of a folder; `nil` at the end. A closure reads it, because the type of an open folder differs between systems.
    private func next(
        _ path: [String],
        _ read: () -> UnsafeMutablePointer<dirent>?
    ) throws(Failure) -> UnsafeMutablePointer<dirent>? {
        errno = 0
        if let entry = read() { return entry }
        // Only `errno` distinguishes the end from an error.
        guard errno == 0 else { throw failure(path) }
        return nil
    }

    private enum Kind {
        case file, other
        /// A folder, and its descriptor.
        case folder(Int32)
        /// An entry that somebody has removed since the folder was read.
        case missing
    }

    private func kind(
        of entry: UnsafeMutablePointer<dirent>,
        _ parent: Int32,
        _ path: [String]
    ) throws(Failure) -> Kind {
        let type = Int32(entry.pointee.d_type)
        guard type == folderType || type == unknownType else { return type == fileType ? .file : .other }
        let child = Self.openCall(parent, path.last ?? "", O_RDONLY | O_DIRECTORY)
        let code = errno
        if child >= 0 { return .folder(child) }
        switch code {
        case ENOENT: return .missing
        // The folder was replaced by something else. On Linux, opening a link fails with ENOTDIR too.
        case ENOTDIR where type == unknownType: return .file
        case ENOTDIR, ELOOP: return .other
        default: throw failure(path, code)
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

// `d_type` of a folder, of a regular file, and of an unknown kind. In glibc the constants have another type.
private let folderType: Int32 = 4
private let fileType: Int32 = 8
private let unknownType: Int32 = 0
