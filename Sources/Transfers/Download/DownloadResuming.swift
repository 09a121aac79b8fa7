public import Foundation
internal import Interceptors

/// How far an interrupted download continues where it stopped, and how long it tries.
///
/// | value | after a temporary failure | after the end of the process |
/// | --- | --- | --- |
/// | ``withinCall`` | the call goes on | from the start |
/// | ``acrossLaunches`` | the call goes on | the next call goes on |
///
/// A failure is temporary if its code is `connectionLost`, `truncated`, `timedOut`, `offline`, `cannotConnect` or `cannotFindHost`,
/// or if an interceptor refused the request for now, as an open circuit does. A response with an error status ends the call: `retry`
/// repeats such requests.
///
/// Bytes are kept only if the server identifies their version strongly (RFC 9110 §8.8.1), and says how many there are.
public struct DownloadResuming: Sendable {
    let isAcrossLaunches: Bool
    private(set) var patience = Duration.seconds(120)
    /// The number of consecutive responses without new bytes after which a call fails.
    package var answerLimit = TransferPatience.usualAnswers
    private(set) var time = TimeSource.system
    /// How often a download across launches records how many bytes are safe on the disk. Limits the bytes that a kill can lose.
    package var checkpoint = (bytes: Int64(64 << 20), interval: Duration.seconds(1))
    package var protection = PartProtection()

    /// The download goes on after temporary failures. The call fails after two minutes without new bytes.
    public static let withinCall = Self(isAcrossLaunches: false)

    /// The same as ``withinCall``, and the next call goes on, also in another launch of the program.
    ///
    /// The bytes are in hidden files beside the destination, `.NAME.part` and `.NAME.part-state`, until the download succeeds.
    /// ``removeParts(of:)`` removes the files. If the process is killed, about the last second's bytes are lost.
    ///
    /// Locks on the files keep two downloads apart. Where the file system has no locks, the call throws a `TransportError` with
    /// `HTTPErrorCode.unsupported` before anything is sent.
    public static let acrossLaunches = Self(isAcrossLaunches: true)

    private init(isAcrossLaunches: Bool) { self.isAcrossLaunches = isAcrossLaunches }

    /// Sets how long a call that goes on tries.
    ///
    /// - Parameters:
    ///   - patience: the time without new bytes after which the call fails with the last error, from the first of consecutive
    ///     failures; two minutes by default. With zero, the first attempt without new bytes ends the call. Five consecutive
    ///     responses without new bytes always end it. Each change of the content leaves one fewer.
    ///   - time: its clock measures the waits between attempts, up to 0.2 s, 0.4 s and so on, at most 20 s, with full jitter.
    public func trying(for patience: Duration = .seconds(120), time: TimeSource = .system) -> Self {
        var copy = self
        (copy.patience, copy.time) = (patience, time)
        return copy
    }

    /// Removes the bytes that ``acrossLaunches`` keeps for a destination, if any. The destination itself stays.
    ///
    /// - Throws: ``TransferError`` with `HTTPErrorCode.downloadInProgress` while a download uses the bytes, or a
    ///   `TransportError` with `HTTPErrorCode.unwritableFile`.
    public static func removeParts(of file: URL) throws {
        guard file.isFileURL else { throw TransportError(.unwritableFile, "The URL isn't a file URL.") }
        do throws(SystemCallFailure) {
            try DownloadFiles(file).remove(PartProtection())
        } catch {
            throw error.downloadError(of: nil, to: file)
        }
    }
}
