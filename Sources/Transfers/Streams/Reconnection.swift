internal import Interceptors

/// When ``ServerSentEvents`` connects again, and how long it waits before.
///
/// ```swift
/// let patient = Reconnection(maxWait: .seconds(30), maxFailures: .max)
/// for try await event in api.events("/stream", reconnection: patient) { print(event.data) }
/// ```
/// The wait is random, between the reconnection time and twice that time. Each consecutive failure doubles the upper end, and so
/// does each connection that breaks without content before the reconnection time has passed. The reconnection time is the
/// server's, if it has sent one (`retry:`).
public struct Reconnection: Sendable, Hashable {
    /// The reconnection time until the server sends one.
    public var wait: Duration
    /// The upper limit of every wait, even if the server asks for longer. Only an interceptor that refuses to send can make it
    /// longer: the wait isn't shorter than the error's, such as `LimitError.wait`.
    public var maxWait: Duration
    /// The number of consecutive failures after which the stream gives up and throws the last one.
    ///
    /// A failure is a connection that can't be made, or a request that an interceptor refuses to send. A response with a
    /// success and the right type starts the count again. So a stream that the server ends, that breaks, or that is silent for
    /// too long isn't a failure.
    public var maxFailures: Int

    /// Creates settings.
    ///
    /// - Parameters:
    ///   - wait: the reconnection time until the server sends one, 3 s by default.
    ///   - maxWait: the upper limit of every wait, 5 min by default.
    ///   - maxFailures: the number of consecutive failures after which the stream gives up, 10 by default.
    public init(wait: Duration = .seconds(3), maxWait: Duration = .seconds(300), maxFailures: Int = 10) {
        self.wait = wait
        self.maxWait = maxWait
        self.maxFailures = maxFailures
    }
}

/// Counts the failures of a stream and computes its waits. A value without a clock.
struct ReconnectionPlan {
    /// How a connection ended.
    enum End {
        /// The server ended the stream.
        case ended
        /// The connection broke, or the server was silent for too long.
        case broken(any Error, lifetime: Duration, hasContent: Bool)
        /// There was no connection. Another attempt makes no sense before the wait.
        case failed(any Error, wait: Duration)
    }

    /// The minimum wait, because a server may send `retry: 0` and end each stream at once.
    static let minWait = Duration.milliseconds(100)
    /// The least reconnection time for computing the wait after a failure.
    private static let minFailureWait = Duration.seconds(1)
    /// At 2^20 times the least wait every usual `maxWait` is reached.
    private static let maxDoublings = 20

    private let settings: Reconnection
    /// The consecutive attempts without a connection.
    private var failures = 0
    /// The consecutive attempts that failed or broke at once.
    private var doublings = 0
    /// The server's reconnection time.
    var retry: Duration?

    init(_ settings: Reconnection) { self.settings = settings }

    private var cap: Duration { max(Self.minWait, min(settings.maxWait, Stopwatch.farthest)) }
    private var reconnectionTime: Duration { min(max(retry ?? settings.wait, Self.minWait), cap) }

    /// The wait before the next connection.
    ///
    /// - Throws: the failure, if it is the `maxFailures`th in a row.
    mutating func wait(after end: End, random: RandomSource) throws -> Duration {
        var least = reconnectionTime
        switch end {
        case .ended: (failures, doublings) = (0, 0)
        case .broken(_, let lifetime, let hasContent):
            failures = 0
            doublings = hasContent || lifetime >= least ? 0 : doublings + 1
        case .failed(let failure, let wait):
            (failures, doublings) = (failures + 1, doublings + 1)
            guard failures < settings.maxFailures else { throw failure }
            least = max(least, min(wait, Stopwatch.farthest))
        }
        let base = doublings == 0 ? least : max(least, Self.minFailureWait)
        let most = max(least, min(base * (2 << min(doublings, Self.maxDoublings)), cap))
        return least + (most - least) * random.unit()
    }
}
