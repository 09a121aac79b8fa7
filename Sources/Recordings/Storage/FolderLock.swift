internal import Foundation
internal import InterceptorsTransport
internal import Synchronization

/// The lock of a folder, which one writer of all processes holds. The system releases the lock of a killed process.
///
/// A folder is never replaced, so no process can hold the lock of a folder that another process has just removed.
struct FolderLock: Sendable {
    let path: String
    /// How long a writer waits. Each holds the lock for milliseconds.
    var limit = Duration.seconds(30)

    /// One writer of this process for each folder, so that none polls for a lock that its neighbour holds. Folders of equal hash
    /// share a mutex, so that the number stays small.
    private static let writers = (0..<64).map { _ in Writer() }

    private final class Writer: Sendable {
        let mutex = Mutex(())
    }

    private var writer: Writer { Self.writers[Int(UInt(bitPattern: path.hashValue) % UInt(Self.writers.count))] }

    /// Runs a closure while no other writer has the lock. Blocks the thread: call it on a thread that runs no tasks.
    ///
    /// - Parameter body: gets whether the file system has locks. Without locks, the last writer wins.
    /// - Throws: `TransportError` with `HTTPErrorCode.unwritableFile` after the limit; `SystemCallFailure`.
    func run(_ body: (_ isLocked: Bool) throws -> Void) throws {
        try writer.mutex.withLock { _ in
            let folder = try OpenedFile.open(path, O_RDONLY | O_DIRECTORY)
            let isLocked = try lock(folder)
            try withExtendedLifetime(folder) { try body(isLocked) }
        }
    }

    private func lock(_ folder: OpenedFile) throws -> Bool {
        let start = ContinuousClock.now
        while true {
            switch folder.tryLock() {
            case .locked: return true
            case .unsupported: return false
            case .busy: break
            }
            guard start.duration(to: .now) < limit else {
                throw TransportError(
                    .unwritableFile,
                    "Another process has held the lock of the folder \(path) for \(limit). End it, or record into another folder."
                )
            }
            usleep(500)
        }
    }
}
