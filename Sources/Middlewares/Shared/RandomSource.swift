internal import Synchronization

/// Where jitter and sampling get their chance from, injected so that a test can repeat it.
///
/// ```swift
/// .retry(.exponential(maxAttempts: 3), random: .seeded(42))    // in a test: the same waits each time
/// ```
/// It may be shared by any number of tasks. It is for spreading load, not for keys: of ``seeded(_:)`` every number can be
/// foretold.
public struct RandomSource: Sendable {
    private let make: @Sendable () -> UInt64

    /// A source that asks a closure, from any thread, for 64 bits of which each value is as likely as any other.
    public init(_ next: @escaping @Sendable () -> UInt64) { make = next }

    /// The system's generator.
    public static let system = RandomSource { UInt64.random(in: .min ... .max) }

    /// The same numbers for the same seed, on every platform (SplitMix64).
    ///
    /// Each call makes a sequence of its own; copies of one source share its sequence.
    public static func seeded(_ seed: UInt64) -> RandomSource {
        let sequence = SplitMix(seed)
        return RandomSource { sequence.next() }
    }

    /// The next 64 bits.
    public func next() -> UInt64 { make() }

    /// The next number of at least 0 and less than 1.
    public func unit() -> Double { Double(make() >> 11) * 0x1p-53 }
}

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014): its state is a counter, so that
/// one atomic addition serves tasks that draw at once.
private final class SplitMix: Sendable {
    private let state: Atomic<UInt64>

    init(_ seed: UInt64) { state = Atomic(seed) }

    func next() -> UInt64 {
        var mixed = state.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
