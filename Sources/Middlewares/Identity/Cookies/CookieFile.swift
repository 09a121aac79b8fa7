public import Foundation

/// A file with the cookies of a jar.
struct CookieFile: Sendable {
    let url: URL
    let report: @Sendable (any Error) -> Void

    /// The cookies in the file; none, with a report, if it can't be read.
    func read() -> [Cookie] {
        do {
            let data = try OpenedFile.open(url.path, O_RDONLY).contents()
            return data.isEmpty ? [] : try JSONDecoder().decode([Cookie].self, from: data)
        } catch let failure as SystemCallFailure {
            if !failure.isMissing { report(TransportError(.unreadableFile, failure.sentence)) }
            return []
        } catch {
            report(error)
            return []
        }
    }

    /// Replaces the file. Cookies without an expiry end with the program.
    func write(_ cookies: [Cookie]) {
        do {
            let data = try JSONEncoder().encode(cookies.filter { $0.expires != nil })
            let folder = url.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try replace(with: data)
        } catch let failure as SystemCallFailure {
            report(TransportError(.unwritableFile, failure.sentence))
        } catch {
            report(error)
        }
    }

    /// Writes a new file that only the user can read, because cookies are secrets, and gives it the name.
    private func replace(with data: Data) throws(SystemCallFailure) {
        let new = url.path + ".new"
        // Left by a program that ended while it wrote.
        try FileName.remove(new)
        try OpenedFile.open(new, O_WRONLY | O_CREAT | O_EXCL, permissions: 0o600).write(data, at: 0)
        try FileName.rename(new, to: url.path)
    }
}

extension CookieJar {
    /// Creates a jar whose cookies last across launches.
    ///
    /// ```swift
    /// let jar = CookieJar(file: folder.appending(path: "cookies.json"))
    /// ```
    /// The jar starts with the cookies in the file, and replaces the file after each change. Cookies without ``Cookie/expires`` are left
    /// out. Only the user can read the file. Use one jar for each file, because the last one to write wins.
    ///
    /// - Parameters:
    ///   - file: the file, which needn't exist. Its folder is made.
    ///   - time: its wall clock decides whether a cookie has expired.
    ///   - report: called if the file can't be read, and the jar starts empty, or can't be written. By default debug builds write the
    ///     error to standard error.
    public convenience init(file: URL, time: TimeSource = .system, report: (@Sendable (any Error) -> Void)? = nil) {
        let file = CookieFile(url: file, report: report ?? DebugReport.cookies)
        self.init(file.read(), time: time, persist: { file.write($0) })
    }
}
