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
    /// The beginning of the names of files that aren't whole yet. The time at which they were begun follows.
    static let temporaryPrefix = ".recording-"

    /// One change of a folder. The system makes it whole or not at all.
    enum Step: Equatable {
        /// Gives a file another name in its folder. A file or link that has this name is replaced.
        case rename([String], to: String)
        /// Removes a file, if it exists.
        case remove([String])
    }

    /// Makes the folder itself, and those above it.
    func make() throws {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// Writes a file under a temporary name, which readers ignore, and makes missing folders.
    ///
    /// - Parameters:
    ///   - bytes: the content, which is on the disk when the method returns.
    ///   - path: a file in the same folder.
    ///   - now: the time, which the name contains. Reading the time of a file is a call for which Apple requires apps to
    ///     declare a reason.
    /// - Returns: the path of the file.
    func writeTemporary(_ bytes: Data, beside path: [String], now: Date) throws -> [String] {
        let (parent, _) = try openParent(of: path, isMade: true)
        defer { Self.closeCall(parent) }
        let random = String(UInt64.random(in: .min ... .max), radix: 36)
        let name = "\(Self.temporaryPrefix)\(Int64(now.timeIntervalSince1970))-\(random)"
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

    func perform(_ step: Step) throws(Failure) {
        switch step {
        case .rename(let path, let name): try rename(path, to: name)
        case .remove(let path): try remove(path)
        }
    }

    private func rename(_ path: [String], to name: String) throws(Failure) {
        guard Self.isSegment(name) else { throw failure([name], EINVAL) }
        let (parent, old) = try openParent(of: path)
        defer { Self.closeCall(parent) }
        guard renameat(parent, old, parent, name) == 0 else { throw failure(path.dropLast() + [name]) }
    }

    private func remove(_ path: [String]) throws(Failure) {
        do throws(Failure) {
            let (parent, name) = try openParent(of: path)
            defer { Self.closeCall(parent) }
            guard unlinkat(parent, name, 0) == 0 else { throw failure(path) }
        } catch {
            guard error.isMissing else { throw error }
        }
    }

    /// Gives a file a second name in its folder, unless a file has that name.
    func link(_ path: [String], to name: String) throws(Failure) {
        let (parent, old) = try openParent(of: path)
        defer { Self.closeCall(parent) }
        if linkat(parent, old, parent, name, 0) == 0 || errno == EEXIST { return }
        // A file system without links: the last of two processes that meet here wins.
        guard errno == EPERM || errno == ENOTSUP || errno == EOPNOTSUPP else { throw failure([name]) }
        guard renameat(parent, old, parent, name) == 0 else { throw failure([name]) }
    }

    /// Removes the files that recorders of killed processes left behind more than an hour ago. A time in the future counts as old.
    func removeLeftovers(_ paths: [[String]], now: Date) throws(Failure) {
        for path in paths where Self.isLeftover(path.last ?? "", now: now) { try remove(path) }
    }

    private static func isLeftover(_ name: String, now: Date) -> Bool {
        let time = name.dropFirst(temporaryPrefix.count).prefix { $0 != "-" }
        guard let begun = Double(time) else { return false }
        return !(0...3600).contains(now.timeIntervalSince1970.rounded(.down) - begun)
    }
}
