internal import Synchronization

/// Generates UUIDs of version 4 that can't repeat: the values of a counter, mapped by a keyed permutation of the 122 free bits.
///
/// A Feistel network is a permutation whatever its round function, so different counts always give different UUIDs. The keys
/// come from the system's random source once; drawing each UUID from that source would take fifteen times as long.
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
        // RFC 9562 §5.4: 48 bits, the version, 12 bits, the variant, 62 bits. Each half fills 61 of the 122 free bits.
        let free = left >> 1
        let high = (free << 4) & ~0xFFFF | 0x4000 | (free & 0x0FFF)
        let low = 0b10 << 62 | (left & 1) << 61 | right
        return UUIDText(high: high, low: low)
    }

    /// The finaliser of SplitMix64 (Steele, Lea and Flood, 2014), truncated to the 61 bits of a half.
    private static func mixed(_ value: UInt64) -> UInt64 {
        var value = value
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return (value ^ (value >> 31)) & half
    }
}

/// The 128 bits of a UUID, and its text (RFC 9562 §4).
struct UUIDText: Sendable, Hashable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    var description: String {
        String(unsafeUninitializedCapacity: 36) { text in
            let bytes = UnsafeMutableRawBufferPointer(text)
            // Writes eight digits at a time; the next write, or a hyphen, overwrites surplus digits.
            bytes.storeBytes(of: Self.digits(high >> 32), toByteOffset: 0, as: UInt64.self)
            bytes.storeBytes(of: Self.digits(high), toByteOffset: 9, as: UInt64.self)
            bytes.storeBytes(of: Self.digits(high << 16), toByteOffset: 14, as: UInt64.self)
            bytes.storeBytes(of: Self.digits(low >> 32), toByteOffset: 19, as: UInt64.self)
            bytes.storeBytes(of: Self.digits(low >> 16), toByteOffset: 24, as: UInt64.self)
            bytes.storeBytes(of: Self.digits(low), toByteOffset: 28, as: UInt64.self)
            (text[8], text[13]) = (UInt8(ascii: "-"), UInt8(ascii: "-"))
            (text[18], text[23]) = (UInt8(ascii: "-"), UInt8(ascii: "-"))
            return 36
        }
    }

    /// The hexadecimal digits of the lower 32 bits, with the first digit in the first byte of memory.
    private static func digits(_ number: UInt64) -> UInt64 {
        let ones: UInt64 = 0x0101_0101_0101_0101
        var digits = number & 0xFFFF_FFFF
        digits = (digits | digits << 16) & 0x0000_FFFF_0000_FFFF
        digits = (digits | digits << 8) & 0x00FF_00FF_00FF_00FF
        digits = (digits | digits << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // Sets the lowest bit of each byte that is 10 or more: adding 6 carries into its bit 4.
        let letters = ((digits &+ ones &* 6) >> 4) & ones
        return (digits &+ ones &* 0x30 &+ letters &* 39).bigEndian
    }
}
