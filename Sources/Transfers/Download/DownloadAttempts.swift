internal import Interceptors

/// Decides which attempts of a download made progress.
struct DownloadAttempts {
    private(set) var patience: TransferPatience
    /// The number of times that the version has changed.
    private var changes = 0
    private var mostBytes: Int64
    /// The version of those bytes. The outer optional is `nil` until there are bytes.
    private var version: Representation??

    /// - Parameters:
    ///   - bytes: the number of bytes from earlier calls.
    ///   - version: the representation they are of.
    init(_ resuming: DownloadResuming, bytes: Int64, of version: Representation?) {
        patience = TransferPatience(resuming.patience, answerLimit: resuming.answerLimit)
        mostBytes = bytes
        if bytes > 0 { self.version = .some(version) }
    }

    /// Notes an attempt that failed.
    ///
    /// More bytes of a version than ever before are progress. Each change of the version still counts as a bad response. So a
    /// download ends if its server changes the content again and again, or if nothing of the content can be continued.
    ///
    /// - Parameters:
    ///   - failure: the failure, if the attempt brought nothing.
    ///   - bytes: the number of bytes after the attempt.
    ///   - version: the representation they are of; `nil` if they can't be continued.
    ///   - now: the time since the download began.
    mutating func note(
        _ failure: TransferPatience.Failure,
        after bytes: Int64,
        of version: Representation?,
        at now: Duration
    ) {
        let isSame = self.version.map { $0 == version } ?? true
        if bytes > 0, !isSame { changes += 1 }
        if isSame, version != nil, bytes > mostBytes {
            patience.noteProgress(answers: changes)
        } else {
            patience.note(failure, at: now)
        }
        if bytes > 0 {
            mostBytes = isSame ? max(mostBytes, bytes) : bytes
            self.version = .some(version)
        }
    }
}
