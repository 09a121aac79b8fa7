internal import Transport

/// The attempts of a download, and the waits between them.
struct DownloadAttempts {
    private let maxAttempts: Int
    private var fruitless = 0
    private var mostBytes: Int64
    /// The version of those bytes. The outer optional is `nil` until there are bytes.
    private var version: Representation??

    /// - Parameters:
    ///   - bytes: the number of bytes from earlier calls.
    ///   - version: the representation they are of.
    init(_ resuming: DownloadResuming, bytes: Int64, of version: Representation?) {
        maxAttempts = resuming.maxAttempts
        mostBytes = bytes
        if bytes > 0 { self.version = .some(version) }
    }

    /// The wait before the next attempt, or `nil` to give up.
    ///
    /// More bytes of a version than ever before start the count again. The first bytes of another version don't, so that a
    /// download from a server that always changes its content ends.
    ///
    /// - Parameters:
    ///   - bytes: the number of bytes after an attempt that failed.
    ///   - version: the representation they are of; `nil` if they can't be continued.
    mutating func wait(after bytes: Int64, of version: Representation?, random: RandomSource) -> Duration? {
        let isSame = self.version.map { $0 == version } ?? true
        fruitless = isSame && bytes > mostBytes ? 0 : fruitless + 1
        if bytes > 0 {
            mostBytes = isSame ? max(mostBytes, bytes) : bytes
            self.version = .some(version)
        }
        guard fruitless < maxAttempts else { return nil }
        return TransferBackoff.wait(after: fruitless, random: random)
    }
}
