internal import Transport

/// The attempts of a download, and the waits between them.
struct DownloadAttempts {
    private let maxAttempts: Int
    private var fruitless = 0
    /// The number of times that the version has changed.
    private var changes = 0
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
    /// More bytes of a version than ever before start the count again, at the number of changes of the version. So a download
    /// ends if its server changes the content again and again, or if nothing of the content can be continued.
    ///
    /// - Parameters:
    ///   - bytes: the number of bytes after an attempt that failed.
    ///   - version: the representation they are of; `nil` if they can't be continued.
    ///   - refusal: the response by which the server refused the attempt for now, if it did.
    mutating func wait(
        after bytes: Int64,
        of version: Representation?,
        _ refusal: HTTPResponse?,
        _ time: TimeSource
    ) -> Duration? {
        let isSame = self.version.map { $0 == version } ?? true
        if bytes > 0, !isSame { changes += 1 }
        fruitless = isSame && version != nil && bytes > mostBytes ? changes : fruitless + 1
        if bytes > 0 {
            mostBytes = isSame ? max(mostBytes, bytes) : bytes
            self.version = .some(version)
        }
        guard fruitless < maxAttempts else { return nil }
        return TransferBackoff.wait(after: fruitless, refusal, time)
    }
}
