internal import Interceptors

/// The wait between two attempts of one transfer: exponential, with full jitter.
enum TransferBackoff {
    /// - Parameter failures: the number of consecutive attempts without progress.
    static func wait(after failures: Int, random: RandomSource) -> Duration {
        .seconds(random.unit() * min(20, 0.2 * Double(1 << min(max(0, failures - 1), 10))))
    }
}

extension Error {
    /// Whether another attempt of a transfer may succeed after this failure.
    var isTemporaryTransferFailure: Bool {
        isOrIsCausedBy(HTTPErrorCode.temporaryTransferFailures) || temporaryRefusal != nil
    }

    /// The refusal of an interceptor that caused the error, if any.
    var temporaryRefusal: (any TemporaryRefusal)? { causes.lazy.compactMap { $0 as? any TemporaryRefusal }.first }
}

extension HTTPErrorCode {
    fileprivate static let temporaryTransferFailures: Set<HTTPErrorCode> = [
        .offline, .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .truncated, .readerTooSlow,
    ]
}
