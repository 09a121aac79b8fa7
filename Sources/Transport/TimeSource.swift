public import Foundation

/// A clock, a wall clock and a random source, injected so that a test can control all three.
///
/// Interceptors, stores and transports that wait, read the date or use random numbers have a parameter `time`. The default is
/// ``system``. `.platform()`, which picks a transport, and `transactionID`, whose closure makes the IDs, have no such
/// parameter. A test passes `.manual(clock)` from `InterceptorsTesting`, so that nothing sleeps for real:
///
/// ```swift
/// let clock = ManualClock()
/// let api = Client(
///     baseURL: url,
///     interceptors: [.cache(.memory(), time: .manual(clock)), .retry(time: .manual(clock))],
///     transport: stub
/// )
/// ```
/// To replace one of the three, pass only that argument: `TimeSource(clock: SuspendingClock())`.
public struct TimeSource: Sendable {
    /// Measures durations and waits: time limits, backoff, ages.
    public var clock: any Clock<Duration>
    /// Returns the wall clock's time, with which dates in messages are compared: `Retry-After`, `Date`, a token's expiry.
    public var now: @Sendable () -> Date
    /// The source of jitter, of samples and of IDs.
    public var random: RandomSource

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - clock: measures durations and waits; by default a `ContinuousClock`.
    ///   - now: returns the wall clock's time; by default the system's.
    ///   - random: the source of jitter; by default the system's generator.
    public init(
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() },
        random: RandomSource = .system
    ) {
        self.clock = clock
        self.now = now
        self.random = random
    }

    /// A `ContinuousClock`, the system's date and the system's generator.
    public static let system = TimeSource()

    /// Starts to measure. The closure returns the time since this call.
    ///
    /// ```swift
    /// let elapsed = TimeSource.system.startMeasuring()
    /// let user: User = try await api.get("/users/42")
    /// latency.record(elapsed(), labels: ["user"])
    /// ```
    public func startMeasuring() -> @Sendable () -> Duration { stopwatch().elapsed }

    /// A stopwatch that starts now.
    package func stopwatch() -> Stopwatch {
        // The compiler opens the existential of a local value, but not of a property.
        let clock = clock
        return .starting(clock)
    }
}
