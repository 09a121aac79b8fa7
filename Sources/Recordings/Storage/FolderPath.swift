internal import Foundation

/// A folder whose files are read and written without leaving it.
///
/// Every segment of a path is a plain name, and no link below the folder is followed. Only the folder itself may be a link. The
/// check of a path precedes its use, so it doesn't stop a program that swaps folders for links at the same time.
struct FolderPath: Sendable {
    /// A file that can't be listed, read or written.
    struct Failure: Error, Equatable {
        let code: Int32
        let file: String

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

    /// Reads a file.
    ///
    /// - Parameter limit: the maximum number of bytes.
    func read(_ path: [String], upTo limit: Int) throws(Failure) -> Data {
        let name = try checkedName(path)
        guard !FileName.isLink(name) else { throw failure(path, ELOOP) }
        guard !FileName.isOfAnotherKind(name) else { throw failure(path, EINVAL) }
        return try calling(path) { () throws(SystemCallFailure) in
            try OpenedFile.open(name, O_RDONLY | O_NOFOLLOW).contents(upTo: limit)
        }
    }

    static func text(_ path: [String]) -> String { path.joined(separator: "/") }
}

// MARK: Names

extension FolderPath {
    /// The content of a folder: the paths of its files, and of the entries that are neither files nor folders.
    typealias Listing = (files: [[String]], others: [[String]])

    /// A folder with more entries, or with deeper ones, is refused.
    static let entryLimit = 100_000
    private static let depthLimit = 64

    /// The regular files in the folder and its subfolders, sorted, without those whose names begin with a dot. Links aren't followed.
    ///
    /// - Throws: an error that names the folder if the folder or one of its subfolders can't be read.
    func list() throws(Failure) -> Listing {
        var listing: Listing = ([], [])
        var folders: [[String]] = [[]]
        var count = 0
        while let folder = folders.popLast() {
            for name in try names(in: folder) {
                let path = folder + [name]
                count += 1
                guard count <= Self.entryLimit, path.count <= Self.depthLimit else { throw failure(path, EFBIG) }
                if name.hasPrefix(".") { continue }
                let keys: Set<URLResourceKey> = [.isRegularFileKey, .isDirectoryKey]
                let values = try? URL(filePath: location(path)).resourceValues(forKeys: keys)
                if values?.isDirectory == true {
                    folders.append(path)
                } else if values?.isRegularFile == true {
                    listing.files.append(path)
                } else {
                    listing.others.append(path)
                }
            }
        }
        listing.files.sort { $0.lexicographicallyPrecedes($1) }
        listing.others.sort { $0.lexicographicallyPrecedes($1) }
        return listing
    }

    private func names(in folder: [String]) throws(Failure) -> [String] {
        guard url.isFileURL else { throw failure([], ENOENT) }
        let name = location(folder)
        // Foundation's error has no code of the system, so the folder is opened first.
        _ = try calling(folder) { () throws(SystemCallFailure) in try OpenedFile.open(name, O_RDONLY | O_DIRECTORY) }
        do {
            return try FileManager.default.contentsOfDirectory(atPath: name)
        } catch {
            throw failure(folder, EIO)
        }
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
        let folder = (try checkedName(path) as NSString).deletingLastPathComponent
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        let temporary = Array(path.dropLast()) + [Self.temporaryPrefix + random]
        let name = try checkedName(temporary)
        try calling(temporary) { () throws(SystemCallFailure) in
            let file = try OpenedFile.open(name, O_WRONLY | O_CREAT | O_EXCL, permissions: 0o644)
            do throws(SystemCallFailure) {
                try file.write(bytes, at: 0)
                // Otherwise a loss of power could leave an empty file under the new name.
                try file.synchronize()
            } catch {
                try? FileName.remove(name)
                throw error
            }
        }
        return temporary
    }

    /// Gives a file another name in its folder. A file or link that has this name is replaced.
    func rename(_ path: [String], to name: String) throws(Failure) {
        let new = Array(path.dropLast()) + [name]
        let (source, target) = (try checkedName(path), try checkedName(new))
        try calling(new) { () throws(SystemCallFailure) in try FileName.rename(source, to: target) }
    }

    /// Removes a file, if it exists. A folder stays.
    func remove(_ path: [String]) throws(Failure) {
        let name = try checkedName(path)
        let isFolder = try? URL(filePath: name).resourceValues(forKeys: [.isDirectoryKey]).isDirectory
        if isFolder == true { return }
        try calling(path) { () throws(SystemCallFailure) in try FileName.remove(name) }
    }
}

// MARK: Checks

extension FolderPath {
    func failure(_ path: [String], _ code: Int32) -> Failure {
        Failure(code: code, file: path.isEmpty ? url.lastPathComponent : Self.text(path))
    }

    private func calling<Value>(
        _ path: [String],
        _ body: () throws(SystemCallFailure) -> Value
    ) throws(Failure) -> Value {
        do throws(SystemCallFailure) {
            return try body()
        } catch {
            throw failure(path, error.code)
        }
    }

    /// Whether a name is one segment: not empty, not a way up or through, and without NUL.
    static func isSegment(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".."
            && !name.utf8.contains(where: { $0 == 0 || $0 == UInt8(ascii: "/") })
    }

    private func location(_ path: [String]) -> String {
        path.reduce(url.path) { ($0 as NSString).appendingPathComponent($1) }
    }

    /// The name of a file for a system call, if the path leads through no link.
    private func checkedName(_ path: [String]) throws(Failure) -> String {
        guard url.isFileURL, !path.isEmpty, path.allSatisfy(Self.isSegment) else { throw failure(path, EINVAL) }
        for depth in 1..<path.count where FileName.isLink(location(Array(path.prefix(depth)))) {
            throw failure(path, ELOOP)
        }
        return location(path)
    }
}
