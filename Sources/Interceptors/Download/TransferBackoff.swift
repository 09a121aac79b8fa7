internal import Transport

/// The wait between two attempts of one transfer: exponential, with full jitter.
enum TransferBackoff {
    /// - Parameter failures: the number of consecutive attempts without progress.
    static func wait(after failures: Int, random: RandomSource) -> Duration {
        .seconds(random.unit() * min(20, 0.2 * Double(1 << min(max(0, failures - 1), 10))))
    }
}

extension HTTPErrorCode {
    /// The failures after which another attempt of a transfer may succeed.
    static let temporaryTransferFailures: Set<HTTPErrorCode> = [
        .offline, .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .truncated, .readerTooSlow,
    ]
}
