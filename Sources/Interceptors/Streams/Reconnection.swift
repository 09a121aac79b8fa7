internal import Transport

/// When ``ServerSentEvents`` connects again, and how long it waits before.
///
/// ```swift
/// let patient = Reconnection(maxWait: .seconds(30), maxFailures: .max)
/// for try await event in api.events("/stream", reconnection: patient) { print(event.data) }
/// ```
/// The wait is random, between the reconnection time and twice that time. Each consecutive failure doubles the upper end. The
/// reconnection time is the server's, if it has sent one (`retry:`).
public struct Reconnection: Sendable, Hashable {
    /// The reconnection time until the server sends one.
    public var wait: Duration
    /// The upper limit of every wait, even if the server asks for longer.
    public var maxWait: Duration
    /// The number of consecutive failures after which the stream gives up and throws the last one.
    ///
    /// A failure is a connection that can't be made, or that breaks before the first byte of its content. A byte received
    /// starts the count again. A stream that the server ends, or that is silent for too long, isn't a failure.
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
        /// The server was silent for too long. It may have had nothing to say.
        case silent(any Error)
        /// A failure that another connection may not meet.
        case lost(any Error)
    }

    /// The least wait, so that a server that asks for none and ends each stream at once causes no busy loop.
    static let minWait = Duration.milliseconds(100)
    /// The least reconnection time for computing the wait after a failure.
    private static let minFailureWait = Duration.seconds(1)
    /// At 2^20 times the least wait every usual `maxWait` is reached.
    private static let maxDoublings = 20

    private let settings: Reconnection
    private var failures = 0
    /// The server's reconnection time.
    var retry: Duration?

    init(_ settings: Reconnection) { self.settings = settings }

    /// Records that a connection has delivered content.
    mutating func noteContent() { failures = 0 }

    /// The wait before the next connection.
    ///
    /// - Throws: the failure, if it is one too many.
    mutating func wait(after end: End, random: RandomSource) throws -> Duration {
        if case .lost(let failure) = end {
            failures += 1
            guard failures < settings.maxFailures else { throw failure }
        }
        let cap = max(Self.minWait, min(settings.maxWait, Stopwatch.farthest))
        let least = min(max(retry ?? settings.wait, Self.minWait), cap)
        let base = failures == 0 ? least : max(least, Self.minFailureWait)
        let most = min(base * (2 << min(failures, Self.maxDoublings)), cap)
        return least + max(.zero, most - least) * random.unit()
    }
}
