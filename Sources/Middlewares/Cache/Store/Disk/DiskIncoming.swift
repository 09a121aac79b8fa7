internal import Dispatch
internal import Synchronization

/// Counts the bodies that a store is receiving towards its limit, and removes abandoned files.
///
/// ```
/// reserve ──▶ write to a file ──▶ release (committed: the usage counts the bytes)
///                    └──────────▶ discard (removed on the queue, then released)
/// ```
/// Other stores over the directory receive bodies too. Their bytes are the size of all files in `incoming` minus this store's
/// reservations.
final class DiskIncoming: Sendable {
    /// The maximum bytes of bodies in progress: at most this much may be evicted for bodies that may never end.
    let limit: Int64
    /// How many bytes a writer reserves at once.
    let step: Int64
    private let state = Mutex((own: Int64(0), others: Int64(0)))
    // Removing a long file takes milliseconds, and no reader should wait for it. A file in the queue still counts towards the
    // limit, which bounds the queue.
    let queue = DispatchQueue(label: "http-cache.incoming", qos: .utility)

    init(byteLimit: Int64, entryByteLimit: Int64) {
        limit = max(byteLimit / 2, entryByteLimit)
        step = min(1 << 20, max(1, byteLimit / 64))
    }

    /// The bytes of bodies in progress, as of the last reservation.
    var bytes: Int64 { state.withLock { $0.own + $0.others } }

    /// Measures the bodies that other stores over the directory are receiving, and reserves bytes that are about to be written.
    /// Returns whether there is room for them.
    @discardableResult
    func reserve(_ count: Int64, in directory: DiskDirectory) -> Bool {
        let all = directory.incomingBytes()
        return state.withLock { state in
            state.others = max(0, all - state.own)
            guard state.own + state.others + count <= limit else { return false }
            state.own += count
            return true
        }
    }

    func release(_ count: Int64) { state.withLock { $0.own -= count } }

    /// Removes a file in the background, and closes it there too: the last close of a removed file frees its blocks.
    func discard(_ file: OpenedFile, _ name: String, reserved: Int64, in directory: DiskDirectory) {
        queue.async { [self] in
            try? directory.incoming.remove(name)
            release(reserved)
            withExtendedLifetime(file) {}
        }
    }
}
