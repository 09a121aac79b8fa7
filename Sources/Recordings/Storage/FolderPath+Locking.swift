internal import Foundation
internal import InterceptorsCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// The lock of a folder: recorders hold it while they change the folder, and readers share it while they find an answer. So the
/// steps of two recorders don't mix, and a reader sees all steps of a change or none.
///
/// A lock ends with its descriptor, and so with the process. On a file system without locks, nobody waits.
extension FolderPath {
    /// How long to wait for a lock, which each process holds for milliseconds.
    static let lockLimit = Duration.seconds(10)

    /// Runs a closure while no other process or thread has a lock of the folder. Blocks the thread: call it on a thread that runs no tasks.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.unwritableFile` after the limit.
    func withLock<Result>(within limit: Duration, _ body: () throws -> Result) throws -> Result {
        let root = try openRoot()
        defer { Self.closeCall(root) }
        let start = ContinuousClock.now
        while !Self.lock(root, LOCK_EX) {
            guard start.duration(to: .now) < limit else { throw TransportError(.unwritableFile, Self.busy(limit)) }
            usleep(500)
        }
        return try body()
    }

    /// Runs a closure while no recorder changes the folder, which may be missing.
    ///
    /// - Throws: `TransportError` with `HTTPErrorCode.unreadableFile` after the limit; `CancellationError`.
    func withSharedLock<Result>(
        within limit: Duration = lockLimit,
        for request: HTTPRequest,
        _ body: () throws -> Result
    ) async throws -> Result {
        guard let root = try? openRoot() else { return try body() }
        defer { Self.closeCall(root) }
        let start = ContinuousClock.now
        while !Self.lock(root, LOCK_SH) {
            guard start.duration(to: .now) < limit else {
                throw TransportError(.unreadableFile, Self.busy(limit), request: request)
            }
            try await Task.sleep(for: .milliseconds(1))
        }
        return try body()
    }

    private static func busy(_ limit: Duration) -> String {
        "Another process has held the lock of the folder for \(limit). End it, or use another folder."
    }

    /// - Returns: `false` if another lock excludes this one. `true` if the lock is held, or if there are no locks.
    private static func lock(_ descriptor: Int32, _ kind: Int32) -> Bool {
        while flock(descriptor, kind | LOCK_NB) != 0 {
            if errno != EINTR { return errno != EWOULDBLOCK }
        }
        return true
    }
}
