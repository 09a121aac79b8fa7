internal import Synchronization

/// The lock by which one process at a time writes a recording. All recorders of the process that write to the same place share it, and
/// the system releases that of a killed process.
final class WriteLock: Sendable {
    private static let held = Mutex<[String: (lock: WriteLock, users: Int)]>([:])

    /// The locked file or folder.
    let file: OpenedFile
    /// Held while something is written, by one recorder of this process at a time.
    let writing = Mutex(())

    private init(_ file: OpenedFile) { self.file = file }

    /// Acquires the lock of a file or folder, which stays acquired until each user has called ``release(_:)``.
    ///
    /// - Returns: `nil` if another process has the lock.
    static func acquired(_ path: String, _ flags: Int32) throws(SystemCallFailure) -> WriteLock? {
        try held.withLock { (held) throws(SystemCallFailure) -> WriteLock? in
            if let (lock, users) = held[path] {
                held[path] = (lock, users + 1)
                return lock
            }
            guard let lock = try locked(path, flags).map(WriteLock.init) else { return nil }
            held[path] = (lock, 1)
            return lock
        }
    }

    private static func locked(_ path: String, _ flags: Int32) throws(SystemCallFailure) -> OpenedFile? {
        #if canImport(Darwin) && !os(macOS)
        // An app has one process, and iOS ends an app that is suspended while it holds a lock in an App Group's folder.
        return try OpenedFile.open(path, flags)
        #else
        var file = try OpenedFile.open(path, flags)
        // A file system without locks excludes nobody.
        if file.tryLock() == .busy { return nil }
        while true {
            // The process that had the lock may have removed the file before: its name then leads to another one, which isn't locked.
            let named = try OpenedFile.open(path, flags)
            guard named.tryLock() == .locked else { return file }
            file = named
        }
        #endif
    }

    /// - Parameter last: called before the process releases the lock, unless others still use it.
    func release(_ last: () -> Void = {}) {
        Self.held.withLock { held in
            if let users = held[file.path]?.users, users > 1 {
                held[file.path] = (self, users - 1)
                return
            }
            last()
            held[file.path] = nil
            // A reference may keep the file open for a moment.
            file.unlock()
        }
    }
}
