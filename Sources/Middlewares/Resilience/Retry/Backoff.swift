/// The wait between two attempts if the server asks for none, computed from the attempt's number and a random source.
///
/// ``RetryPolicy`` compares it with `Retry-After`, and decides.
///
/// ```swift
/// let policy = RetryPolicy(maxAttempts: 4, backoff: .exponential(base: .milliseconds(100), cap: .seconds(5)))
/// ```
public struct Backoff: Sendable {
    private let wait: @Sendable (_ attempt: Int, _ random: RandomSource) -> Duration

    private init(_ wait: @escaping @Sendable (Int, RandomSource) -> Duration) { self.wait = wait }

    /// Exponential backoff with full jitter: a uniformly random wait up to a maximum, which is `base` after the first attempt,
    /// `base * factor` after the second, and so on up to `cap`.
    ///
    /// Full jitter spreads clients that failed at the same moment more evenly than other kinds of jitter (Brooker: Exponential
    /// Backoff And Jitter, 2015).
    ///
    /// - Parameters:
    ///   - base: the maximum wait after the first attempt, 0.2 s by default.
    ///   - factor: the growth of the maximum with each attempt, 2 by default.
    ///   - cap: the upper limit of every wait, 20 s by default.
    ///   - hasJitter: pass `false` to always wait for the maximum, which only a single client should do.
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

    /// The same wait after every attempt, without jitter.
    public static func constant(_ wait: Duration) -> Self { Self { _, _ in wait } }

    /// A wait computed by a closure from the number of the failed attempt, counted from 1, and the random source. A negative
    /// wait counts as zero.
    public static func custom(
        _ wait: @escaping @Sendable (_ attempt: Int, _ random: RandomSource) -> Duration
    ) -> Self {
        Self(wait)
    }

    /// The wait after an attempt if the server asks for none, limited to the range from zero to about thirty years.
    ///
    /// - Parameters:
    ///   - attempt: the number of the failed attempt, counted from 1.
    ///   - random: the source of jitter.
    public func duration(after attempt: Int, random: RandomSource) -> Duration {
        min(max(.zero, wait(attempt, random)), Stopwatch.farthest)
    }

    private static func growth(_ factor: Double, _ attempt: Int) -> Double {
        // Stops at 1e12, above which no wait grows any more, so that the product doesn't overflow.
        var result = 1.0
        for _ in 1..<max(1, min(attempt, 128)) where result < 1e12 { result *= factor }
        return result
    }

    // NaN, such as infinity times zero, becomes zero.
    private static func bounded(_ seconds: Double) -> Double { seconds > 0 ? min(seconds, 1e9) : 0 }
}

extension Duration {
    var inSeconds: Double {
        Double(components.seconds) + Double(components.attoseconds) * 1e-18
    }
}
