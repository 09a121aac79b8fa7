/// XXH64, a 64-bit checksum that runs at the speed of memory (xxhash.com, doc/xxhash_spec.md).
///
/// It detects accidental damage, not tampering: anyone who can write the files can write the checksums too.
enum Checksum {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    static func of(_ bytes: UnsafeRawBufferPointer, seed: UInt64 = 0) -> UInt64 {
        var offset = 0
        var hash: UInt64
        if bytes.count >= 32 {
            var (first, second) = (seed &+ prime1 &+ prime2, seed &+ prime2)
            var (third, fourth) = (seed, seed &- prime1)
            repeat {
                first = round(first, word(bytes, offset))
                second = round(second, word(bytes, offset + 8))
                third = round(third, word(bytes, offset + 16))
                fourth = round(fourth, word(bytes, offset + 24))
                offset += 32
            } while offset <= bytes.count - 32
            hash = rotate(first, 1) &+ rotate(second, 7) &+ rotate(third, 12) &+ rotate(fourth, 18)
            hash = merge(merge(merge(merge(hash, first), second), third), fourth)
        } else {
            hash = seed &+ prime5
        }
        return finish(hash &+ UInt64(bytes.count), bytes, from: offset)
    }

    private static func finish(_ start: UInt64, _ bytes: UnsafeRawBufferPointer, from start0: Int) -> UInt64 {
        var (hash, offset) = (start, start0)
        while offset + 8 <= bytes.count {
            hash = rotate(hash ^ round(0, word(bytes, offset)), 27) &* prime1 &+ prime4
            offset += 8
        }
        if offset + 4 <= bytes.count {
            let half = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            hash = rotate(hash ^ (UInt64(half) &* prime1), 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            hash = rotate(hash ^ (UInt64(bytes[offset]) &* prime5), 11) &* prime1
            offset += 1
        }
        hash = (hash ^ (hash >> 33)) &* prime2
        hash = (hash ^ (hash >> 29)) &* prime3
        return hash ^ (hash >> 32)
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    private static func round(_ value: UInt64, _ input: UInt64) -> UInt64 {
        rotate(value &+ input &* prime2, 31) &* prime1
    }

    private static func merge(_ hash: UInt64, _ value: UInt64) -> UInt64 {
        (hash ^ round(0, value)) &* prime1 &+ prime4
    }

    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 { value &<< count | value &>> (64 &- count) }
}
