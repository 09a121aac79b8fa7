internal import HTTPSyntax
internal import Transport

extension TransferBackoff {
    /// The wait before the next attempt of a transfer: that of the backoff, or the longer one that the server asks for, as `retry`
    /// waits.
    ///
    /// - Parameters:
    ///   - failures: the number of consecutive attempts without progress.
    ///   - response: the response to the last attempt, if any.
    ///   - time: supplies the jitter and the date.
    /// - Returns: `nil` if the server asks for a longer wait than a minute.
    static func wait(after failures: Int, _ response: HTTPResponse?, _ time: TimeSource) -> Duration? {
        let backoff = wait(after: failures, random: time.random)
        guard let response, let asked = RetryAfter.wait(in: response, now: time.now()) else { return backoff }
        if asked > RetryAfter.usualLimit { return nil }
        return asked == .zero ? .zero : max(backoff, asked)
    }
}
