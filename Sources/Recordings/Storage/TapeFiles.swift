internal import Foundation
internal import Synchronization

/// The file of a recording, and the side file beside it.
///
/// ```
/// users.har               written whole: a temporary file, fsync, rename, fsync of the folder
/// users.har.unfinished    one line for each finished exchange, from its end until a merge; locked by the process that records
/// .users.har.….tmp        the next users.har; left over only if the process was killed, and removed by the next merge
/// ```
/// Readers need no lock: they read the side file first, so an entry that moves to the recording meanwhile is found twice, and never
/// missed.
struct TapeFiles: Sendable, Hashable {
    /// Without symbolic links, so that two paths to one file share its lock and its side file.
    let path: String

    static let sideSuffix = ".unfinished"
    /// In bytes, of each file: a larger one is neither read nor written.
    private static let limit = 1 << 30

    var sidePath: String { path + Self.sideSuffix }
    private var folder: String { (path as NSString).deletingLastPathComponent }
    private var name: String { (path as NSString).lastPathComponent }
    private var temporaryPrefix: String { ".\(name)." }
    private static let temporarySuffix = ".tmp"

    /// Resolves links in the file's path.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.unreadableFile` for a URL that isn't a file's and for a link that
    ///   leads nowhere.
    init(_ url: URL) throws {
        guard url.isFileURL else {
            let scheme = url.scheme ?? ""
            throw TransportError(.unreadableFile, "A recording needs the URL of a file, not of the scheme \(scheme).")
        }
        let path = url.standardizedFileURL.path
        do throws(SystemCallFailure) {
            self.path = try Self.resolved(path)
        } catch {
            throw error.unreadable
        }
        guard !FileName.isLink(self.path) else {
            throw TransportError(.unreadableFile, "\(path) is a symbolic link to a file that doesn't exist.")
        }
    }

    /// The path without the links in its part that exists. The rest will be made there.
    private static func resolved(_ path: String) throws(SystemCallFailure) -> String {
        if path.count < 2 { return path }
        if let resolved = try FileName.resolved(path) { return resolved }
        let folder = try resolved((path as NSString).deletingLastPathComponent) as NSString
        return folder.appendingPathComponent((path as NSString).lastPathComponent)
    }

    /// Whether the recording itself exists, whatever the side file holds.
    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    var hasSideFile: Bool { FileManager.default.fileExists(atPath: sidePath) }
}

/// The content of both files; `nil` for a file that doesn't exist.
typealias TapeBytes = (side: Data?, tape: Data?)

extension TapeFiles {
    /// Reads both files. Writes nothing, and takes no lock.
    func read() throws -> TapeBytes {
        do throws(SystemCallFailure) {
            let side = try Self.contents(of: sidePath)
            return (side, try Self.contents(of: path))
        } catch {
            throw error.unreadable
        }
    }

    private static func contents(of path: String) throws(SystemCallFailure) -> Data? {
        // A device has no end.
        if FileName.isOfAnotherKind(path) { throw SystemCallFailure("read", path, EISDIR) }
        do throws(SystemCallFailure) {
            return try OpenedFile.open(path, O_RDONLY).contents(upTo: limit)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// Acquires the right to record, and makes the folder. `nil` if another process records.
    func lock() throws -> WriteLock? {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw TransportError(.unwritableFile, "The folder \(folder) can't be created.", underlying: error)
        }
        return try writing { () throws(SystemCallFailure) in
            if FileName.isOfAnotherKind(sidePath) { throw SystemCallFailure("open", sidePath, EISDIR) }
            return try WriteLock.acquired(sidePath, O_RDWR | O_CREAT)
        }
    }

    /// Gives the right to record back. A side file without lines goes.
    func release(_ lock: WriteLock) {
        lock.release { if (try? lock.file.size()) == 0 { try? FileName.remove(sidePath) } }
    }

    /// Appends lines to the side file, after a line feed if a killed process left half a line.
    ///
    /// - Parameter lines: whole lines, each with its line feed.
    func append(_ lines: Data, _ lock: WriteLock) throws {
        try lock.writing.withLock { _ in
            try writing { () throws(SystemCallFailure) in
                let (file, size) = (lock.file, try lock.file.size())
                if size == 0 { try file.takePermissions(of: path) }
                let bytes = try file.endsWithLine(size: size) ? lines : Data("\n".utf8) + lines
                guard size + Int64(bytes.count) <= Self.limit else { throw SystemCallFailure("write", sidePath, EFBIG) }
                do throws(SystemCallFailure) {
                    try file.write(bytes, at: size)
                } catch {
                    // Half a line would do no harm, but would take space on a disk that may be full.
                    try? file.truncate(to: size)
                    throw error
                }
            }
        }
    }

    /// Replaces the recording by the result of a closure, and empties the side file. Without lines in it, nothing is written.
    ///
    /// - Parameter merge: gets both files.
    func rewrite(_ lock: WriteLock, _ merge: (TapeBytes) throws -> Data) throws {
        try lock.writing.withLock { _ in
            let old = try writing { () throws(SystemCallFailure) -> TapeBytes in
                (try lock.file.contents(upTo: Self.limit), try Self.contents(of: path))
            }
            guard old.side?.isEmpty == false else { return }
            let new = try merge(old)
            try writing { () throws(SystemCallFailure) in
                guard new.count <= Self.limit else { throw SystemCallFailure("write", path, EFBIG) }
                if new != old.tape {
                    removeLeftovers()
                    try replace(with: new)
                }
                try lock.file.truncate(to: 0)
            }
        }
    }

    private func replace(with bytes: Data) throws(SystemCallFailure) {
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        let temporary = (folder as NSString).appendingPathComponent(temporaryPrefix + random + Self.temporarySuffix)
        let file = try OpenedFile.open(temporary, O_RDWR | O_CREAT | O_EXCL)
        do throws(SystemCallFailure) {
            try file.takePermissions(of: path)
            try file.write(bytes, at: 0)
            try file.synchronize()
            try FileName.rename(temporary, to: path)
        } catch {
            try? FileName.remove(temporary)
            throw error
        }
        try OpenedFile.open(folder, O_RDONLY | O_DIRECTORY).synchronize()
    }

    // Only under the lock, so that no other process is writing one of them.
    private func removeLeftovers() {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        where name.hasPrefix(temporaryPrefix) && name.hasSuffix(Self.temporarySuffix) {
            try? FileName.remove((folder as NSString).appendingPathComponent(name))
        }
    }

    private func writing<Value>(_ body: () throws(SystemCallFailure) -> Value) throws -> Value {
        do throws(SystemCallFailure) {
            return try body()
        } catch {
            throw error.unwritable
        }
    }
}

extension OpenedFile {
    /// The whole content, unless it is longer than a number of bytes.
    func contents(upTo limit: Int) throws(SystemCallFailure) -> Data {
        guard try size() <= limit else { throw SystemCallFailure("read", path, EFBIG) }
        return try contents()
    }
}

extension SystemCallFailure {
    /// The error that a caller gets when a file couldn't be read.
    fileprivate var unreadable: TransportError { TransportError(.unreadableFile, sentence) }

    /// The error that a caller gets when a file couldn't be written.
    fileprivate var unwritable: TransportError {
        let remedy: String
        switch POSIXErrorCode(rawValue: code) {
        case .EACCES, .EPERM, .EROFS: remedy = " Put the recording into a folder that this process can write."
        case .EFBIG: remedy = " A recording has at most 1 GiB: begin another file."
        case .EISDIR, .ENOTDIR: remedy = " A recording is a file in a folder."
        default: remedy = isOfFullDisk ? " Free space on the disk." : ""
        }
        return TransportError(.unwritableFile, sentence + remedy)
    }
}
