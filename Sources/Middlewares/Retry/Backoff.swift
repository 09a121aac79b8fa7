/// How long to wait between two attempts: decided by the number of the attempt and by chance, without a clock.
///
/// ```swift
/// let policy = RetryPolicy(maxAttempts: 4, backoff: .exponential(base: .milliseconds(100), cap: .seconds(5)))
/// ```
public struct Backoff: Sendable {
    private let wait: @Sendable (_ attempt: Int, _ random: RandomSource) -> Duration

    private init(_ wait: @escaping @Sendable (Int, RandomSource) -> Duration) { self.wait = wait }

    /// Exponential with full jitter: any time up to `base` after the first attempt, up to `base * factor` after the second,
    /// and so on up to `cap`, each as likely as any other.
    ///
    /// Full jitter spreads clients that failed at the same moment the most evenly (Brooker: Exponential Backoff And Jitter,
    /// 2015).
    ///
    /// - Parameters:
    ///   - base: the longest wait after the first attempt.
    ///   - factor: by how much it grows with each attempt.
    ///   - cap: the longest wait of all.
    ///   - hasJitter: `false` for the longest wait each time, which only a single client should use.
    public static func exponential(
        base: Duration = .milliseconds(200),
        factor: Double = 2,
        cap: Duration = .seconds(20),
        hasJitter: Bool = true
    ) -> Self {
        Self { attempt, random in
            let longest = min(cap.inSeconds, base.inSeconds * growth(factor, attempt))
            return .seconds(bounded(hasJitter ? random.unit() * longest : longest))
        }
    }

    /// The same wait each time.
    public static func constant(_ wait: Duration) -> Self { Self { _, _ in wait } }

    /// What a closure says: it is given the number of the attempt that has failed, from 1, and the source of chance. Less
    /// than zero is zero.
    public static func custom(
        _ wait: @escaping @Sendable (_ attempt: Int, _ random: RandomSource) -> Duration
    ) -> Self {
        Self(wait)
    }

    /// The wait after an attempt, from zero to thirty years.
    ///
    /// - Parameter attempt: the number of the attempt that has failed, from 1.
    public func duration(after attempt: Int, random: RandomSource) -> Duration {
        min(max(.zero, wait(attempt, random)), Deadline.farthest)
    }

    private static func growth(_ factor: Double, _ attempt: Int) -> Double {
        // No wait grows further, and none of these steps overflows.
        var result = 1.0
        for _ in 1..<max(1, min(attempt, 128)) where result < 1e12 { result *= factor }
        return result
    }

    // Not a number, as infinity times nothing is, counts as nothing.
    private static func bounded(_ seconds: Double) -> Double { seconds > 0 ? min(seconds, 1e9) : 0 }
}

extension Duration {
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
