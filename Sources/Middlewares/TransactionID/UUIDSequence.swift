internal import Synchronization

/// UUIDs of version 4 that can't repeat: a counter's values, sent through a keyed permutation of the 122 bits that such a
/// UUID leaves free.
///
/// A Feistel network is a permutation whatever its round function, so two counts never give one UUID. The keys come from
/// the system's random source, once: asking it for each ID takes fifteen times as long.
struct UUIDSequence: ~Copyable, Sendable {
    static let shared = UUIDSequence()

    private static let half: UInt64 = (1 << 61) - 1

    private let count: Atomic<UInt64>
    private let keys: (UInt64, UInt64, UInt64, UInt64)
    private let start: UInt64

    init() {
        var system = SystemRandomNumberGenerator()
        self.init(using: &system)
    }

    init(using generator: inout some RandomNumberGenerator) {
        count = Atomic(generator.next())
        keys = (generator.next(), generator.next(), generator.next(), generator.next())
        start = generator.next() & Self.half
    }

    func next() -> UUIDText {
        uuid(at: count.wrappingAdd(1, ordering: .relaxed).oldValue)
    }

    func uuid(at count: UInt64) -> UUIDText {
        var left = count & Self.half
        var right = start
        left ^= Self.mixed(right &+ keys.0)
        right ^= Self.mixed(left &+ keys.1)
        left ^= Self.mixed(right &+ keys.2)
        right ^= Self.mixed(left &+ keys.3)
        // RFC 9562 §5.4: 48 bits, the version, 12 bits; the variant, 62 bits. Of those 122 each half fills 61.
        let free = left >> 1
        let high = (free << 4) & ~0xFFFF | 0x4000 | (free & 0x0FFF)
        let low = 0b10 << 62 | (left & 1) << 61 | right
        return UUIDText(high: high, low: low)
    }

    /// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), cut to half a UUID.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return (value ^ (value >> 31)) & half
    }
}

/// The 128 bits of a UUID, and their text (RFC 9562 §4).
struct UUIDText: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    var description: String {
        String(unsafeUninitializedCapacity: 36) { text in
            var position = 0
            for nibble in 0..<32 {
                if nibble == 8 || nibble == 12 || nibble == 16 || nibble == 20 {
                    text[position] = UInt8(ascii: "-")
                    position += 1
                }
                let word = nibble < 16 ? high : low
                let digit = UInt8(truncatingIfNeeded: word >> (60 - 4 * UInt64(nibble & 15))) & 0xF
                text[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
                position += 1
            }
            return position
        }
    }
}
