internal import Interceptors
internal import InterceptorsSyntax

/// When a transfer that resumes gives up, and the waits between its attempts.
///
/// Time counts, from the first of consecutive failures without progress: without a network, attempts fail at once. A server that
/// answers, and answers badly, is asked only a few times.
struct TransferPatience: Sendable {
    /// The failure of an attempt without progress.
    enum Failure: Sendable {
        /// No response arrived.
        case unanswered
        /// Another request may hold the server's lock, whose end only time brings.
        case locked
        /// A response arrived that brought nothing.
        case answered
    }

    /// The number of consecutive responses without progress after which a transfer gives up.
    static let usualAnswers = 5
    /// The shortest wait while a server holds a lock. Without it, a `Retry-After` of zero would bring a loop.
    private static let leastWaitForLock = Duration.seconds(1)

    private let limit: Duration
    private let answerLimit: Int
    /// The number of consecutive attempts without progress.
    private(set) var failures = 0
    private var answers = 0
    private var firstFailure: Duration?
    private var last: (failure: Failure, left: Duration)?

    /// - Parameters:
    ///   - limit: the time after the first of consecutive failures after which the transfer gives up.
    ///   - answerLimit: the number of consecutive responses without progress after which it gives up.
    init(_ limit: Duration, answerLimit: Int) {
        self.limit = limit
        self.answerLimit = answerLimit
    }

    /// Notes that an attempt has brought something.
    ///
    /// - Parameter answers: the number of responses that still count against the server.
    mutating func noteProgress(answers: Int = 0) {
        (failures, firstFailure, last) = (0, nil, nil)
        self.answers = answers
    }

    /// Notes an attempt without progress.
    ///
    /// - Parameter now: the time since the transfer began.
    mutating func note(_ failure: Failure, at now: Duration) {
        failures += 1
        if failure == .answered { answers += 1 }
        let first = firstFailure ?? now
        firstFailure = first
        last = (failure, limit - (now - first))
    }

    /// Whether the transfer gives up.
    var isOver: Bool { answers >= answerLimit || last.map { $0.left <= .zero } ?? false }

    /// The wait before the next attempt: that of the backoff or of an interceptor's refusal, or the longer one that the server asks
    /// for, as `retry` waits. Only the server's wait may exceed the patience. Any other wait is cut, so that a last attempt is made.
    ///
    /// - Parameters:
    ///   - response: the response to the last attempt, if any.
    ///   - refusal: the refusal of the last attempt by an interceptor, if any.
    ///   - time: supplies the jitter and the date.
    /// - Returns: `nil` if the server asks for a longer wait than a minute.
    func wait(_ response: HTTPResponse?, _ refusal: (any TemporaryRefusal)?, _ time: TimeSource) -> Duration? {
        let least = last?.failure == .locked ? Self.leastWaitForLock : refusal?.wait ?? .zero
        let backoff = max(least, backoff(time.random))
        let limited = last.map { min(backoff, $0.left) } ?? backoff
        guard let response, let asked = RetryAfter.wait(in: response, now: time.now()) else { return limited }
        if asked > RetryAfter.usualLimit { return nil }
        return asked == .zero ? least : max(limited, asked)
    }

    /// The wait between two attempts: exponential, with full jitter.
    private func backoff(_ random: RandomSource) -> Duration {
        .seconds(random.unit() * min(20, 0.2 * Double(1 << min(max(0, failures - 1), 10))))
    }
}

extension Error {
    /// Whether another attempt of a transfer may succeed after this failure.
    var isTemporaryTransferFailure: Bool { isOrIsCausedBy(.lostConnections) || temporaryRefusal != nil }

    /// The refusal of an interceptor that caused the error, if any.
    var temporaryRefusal: (any TemporaryRefusal)? { causes.lazy.compactMap { $0 as? any TemporaryRefusal }.first }
}

extension Set<HTTPErrorCode> {
    /// The failures of a connection after which another one may do better.
    static let lostConnections: Self = [
        .offline, .cannotFindHost, .cannotConnect, .connectionLost, .timedOut, .truncated, .readerTooSlow,
    ]
}
