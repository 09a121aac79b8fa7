internal import Interceptors

/// The system calls that protect the bytes of a part. Tests replace them with failing ones.
package struct PartProtection: Sendable {
    /// Puts the bytes of a file on the disk.
    package var synchronize: @Sendable (OpenedFile) throws(SystemCallFailure) -> Void
    /// Puts the state of a part on the disk.
    package var synchronizeState: @Sendable (OpenedFile) throws(SystemCallFailure) -> Void
    /// Tries to acquire the lock of a file.
    package var tryLock: @Sendable (OpenedFile) -> OpenedFile.LockResult

    package init() {
        synchronize = { (file) throws(SystemCallFailure) in try file.synchronize() }
        synchronizeState = synchronize
        tryLock = { $0.tryLock() }
    }

    /// The result of claiming a file.
    enum Claim {
        case held(OpenedFile)
        /// Another download holds the lock.
        case busy
        /// The file system has no locks.
        case unsupported
    }

    /// Opens and locks a file. Closing the file releases the lock, and so does the end of the process.
    ///
    /// - Parameters:
    ///   - open: opens the file by its name.
    ///   - isNamed: whether the name still leads to the locked file. The download that held the lock before may have renamed or
    ///     removed the file.
    func claim(
        _ open: () throws(SystemCallFailure) -> OpenedFile,
        isNamed: (OpenedFile) throws(SystemCallFailure) -> Bool
    ) throws(SystemCallFailure) -> Claim {
        // Where locks exclude nobody, the attempts could go on forever.
        for _ in 0..<100 {
            let file = try open()
            switch tryLock(file) {
            case .busy: return .busy
            case .unsupported: return .unsupported
            case .locked: if try isNamed(file) { return .held(file) }
            }
        }
        return .unsupported
    }
}
