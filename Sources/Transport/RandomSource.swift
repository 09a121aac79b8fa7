internal import Synchronization

/// The source of randomness for jitter and sampling, injected so that a test can repeat its numbers.
///
/// ```swift
/// .tracing(time: TimeSource(random: .seeded(42)))     // in a test: the same IDs each time
/// ```
/// Any number of tasks can share a source. Use a source to spread load, never to make keys: the numbers of ``seeded(_:)`` are
/// predictable.
public struct RandomSource: Sendable {
    private let make: @Sendable () -> UInt64

    /// Creates a source from a closure that returns 64 uniformly distributed bits. Any thread can call the closure.
    public init(_ next: @escaping @Sendable () -> UInt64) { make = next }

    /// The system's generator, `SystemRandomNumberGenerator`.
    public static let system = RandomSource { UInt64.random(in: .min ... .max) }

    /// A source with the same numbers for the same seed, on every platform (SplitMix64).
    ///
    /// Each call of this method starts a new sequence; copies of one source share its sequence.
    public static func seeded(_ seed: UInt64) -> RandomSource {
        let sequence = SplitMix(seed)
        return RandomSource { sequence.next() }
    }

    /// Returns the next 64 random bits.
    public func next() -> UInt64 { make() }

    /// Returns a random number from 0 up to, but not including, 1.
    public func unit() -> Double { Double(make() >> 11) * 0x1p-53 }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). Its state is a counter, so one
/// atomic addition is enough to serve several tasks at once.
package final class SplitMix: Sendable {
    private let state: Atomic<UInt64>

    package init(_ seed: UInt64) { state = Atomic(seed) }

    package func next() -> UInt64 {
        Self.mixed(state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue)
    }

    /// The finaliser: different counts have different results.
    @inlinable
    package static func mixed(_ count: UInt64) -> UInt64 {
        var mixed = count
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
