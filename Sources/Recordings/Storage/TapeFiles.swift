internal import Foundation
internal import InterceptorsTransport
internal import Synchronization

/// The file of a recording, and the side file beside it.
///
/// ```
/// users.har               written whole: a temporary file, fsync, rename, fsync of the folder
/// users.har.unfinished    one line for each finished exchange, from its end until a merge; locked by the process that records
/// .users.har.tmp          the next users.har; left over only if the process was killed, and replaced by the next merge
/// ```
/// Readers need no lock: they read the side file first, so an entry that moves to the recording meanwhile is found twice, and never
/// missed.
struct TapeFiles: Sendable, Hashable {
    /// Without symbolic links, so that two paths to one file share its lock and its side file.
    let path: String

    static let sideSuffix = ".unfinished"
    /// In bytes, of each file.
    private static let limit = 1 << 30
    /// The side files that this process has locked (`flock`), by their recordings. Held while one of them is written. The system
    /// releases the lock of a killed process.
    private static let locked = Mutex<[TapeFiles: OpenedFile]>([:])

    var sidePath: String { path + Self.sideSuffix }
    private var folder: String { (path as NSString).deletingLastPathComponent }

    /// Resolves links in the file's path.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.unreadableFile` for a URL that isn't a file's and for a link that
    ///   leads nowhere.
    init(_ url: URL) throws {
        guard url.isFileURL else {
            throw TransportError(
                .unreadableFile,
                "A recording needs the URL of a file, not of the scheme \(url.scheme ?? "")."
            )
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
        var (existing, missing) = (path, [String]())
        while existing.count > 1 {
            if let resolved = try FileName.resolved(existing) {
                return missing.reduce(resolved) { ($0 as NSString).appendingPathComponent($1) }
            }
            missing.insert((existing as NSString).lastPathComponent, at: 0)
            existing = (existing as NSString).deletingLastPathComponent
        }
        return path
    }

    /// Whether the recording itself exists, whatever the side file holds.
    var exists: Bool { FileManager.default.fileExists(atPath: path) }

    var hasSideFile: Bool { FileManager.default.fileExists(atPath: sidePath) }
}

/// The content of both files; `nil` for a file that doesn't exist.
struct TapeBytes: Sendable {
    var side: Data?
    var tape: Data?
}

extension TapeFiles {
    /// Reads both files. Writes nothing, and takes no lock.
    func read() throws -> TapeBytes {
        do throws(SystemCallFailure) {
            let side = try Self.contents(of: sidePath)
            return TapeBytes(side: side, tape: try Self.contents(of: path))
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

    /// Appends lines to the side file, after a line feed if a killed process left half a line. Acquires the right to record, and
    /// makes the folder and the file.
    ///
    /// - Parameter lines: whole lines, each with its line feed. Without lines, only the right is acquired.
    /// - Throws: `TransportError` with `HTTPErrorCode.unwritableFile`, also if another process records.
    func append(_ lines: Data = Data()) throws {
        let isDone = try writing { file in
            let size = try file.size()
            if size == 0 { try file.takePermissions(of: path) }
            let bytes = try file.endsWithLine(size: size) ? lines : Data("\n".utf8) + lines
            do {
                try file.write(bytes, at: size)
            } catch {
                // Half a line would do no harm, but would take space on a disk that may be full.
                try? file.truncate(to: size)
                throw error
            }
        }
        if isDone { return }
        throw TransportError(
            .unwritableFile,
            "Another process is recording \(path), and one process records a file at a time. Wait for its end, record into another"
                + " file, or play in mode none."
        )
    }

    /// Replaces the recording by the result of a closure, and gives the right to record back. Without lines in the side file,
    /// nothing is written. Nothing happens if another process records.
    ///
    /// - Parameter merge: gets both files.
    func rewrite(_ merge: (TapeBytes) throws -> Data) throws {
        let isDone = try writing { file in
            let old = TapeBytes(side: try file.contents(upTo: Self.limit), tape: try Self.contents(of: path))
            guard old.side?.isEmpty == false else { return }
            let new = try merge(old)
            if new != old.tape { try replace(with: new) }
            try file.truncate(to: 0)
        }
        if isDone { release() }
    }

    /// Gives the right to record back, for all recordings of this process: each acquires it again when it appends. A side file
    /// without lines goes.
    func release() {
        Self.locked.withLock { locked in
            guard let file = locked.removeValue(forKey: self) else { return }
            if (try? file.size()) == 0 { try? FileName.remove(sidePath) }
            // A reference may keep the file open for a moment.
            file.unlock()
        }
    }

    /// Calls a closure with the locked side file, while no other recording of this process writes.
    ///
    /// - Returns: `false` if another process records.
    private func writing(_ body: (OpenedFile) throws -> Void) throws -> Bool {
        try Self.locked.withLock { locked in
            do {
                guard let file = try locked[self] ?? lockedSideFile() else { return false }
                locked[self] = file
                try body(file)
                return true
            } catch let error as SystemCallFailure {
                throw error.unwritable
            }
        }
    }

    private func lockedSideFile() throws -> OpenedFile? {
        do {
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        } catch {
            throw TransportError(.unwritableFile, "The folder \(folder) can't be created.", underlying: error)
        }
        if FileName.isOfAnotherKind(sidePath) { throw SystemCallFailure("open", sidePath, EISDIR) }
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        let file = try OpenedFile.open(sidePath, flags)
        // On other systems an app has one process, and iOS ends an app that is suspended while it holds a lock in an App Group's
        // folder.
        #if !canImport(Darwin) || os(macOS)
        // A file system without locks excludes nobody.
        if file.tryLock() == .busy { return nil }
        // The process that had the lock may have removed the file before: its name then leads to another one, which isn't locked.
        if try OpenedFile.open(sidePath, flags).tryLock() == .locked { return try lockedSideFile() }
        #endif
        return file
    }

    private func replace(with bytes: Data) throws {
        let temporary = (folder as NSString).appendingPathComponent(".\((path as NSString).lastPathComponent).tmp")
        try FileName.remove(temporary)
        let file = try OpenedFile.open(temporary, O_RDWR | O_CREAT | O_EXCL)
        do {
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
}

extension OpenedFile {
    /// The whole content, unless it is longer than a number of bytes.
    func contents(upTo limit: Int) throws(SystemCallFailure) -> Data {
        guard try size() <= limit else { throw SystemCallFailure("read", path, EFBIG) }
        return try contents()
    }
}
