/// SHA-256 (FIPS 180-4 §6.2), for file names and digests that don't reveal their origin.
///
/// The system's implementation needs OpenSSL on Linux, on which a cache must not depend. Each lookup computes a digest, so
/// this function allocates only its result.
package enum PortableSHA256 {
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    private static let initial: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    /// The 32 bytes of the digest.
    package static func digest(_ message: [UInt8]) -> [UInt8] { message.withUnsafeBytes { digest($0) } }

    /// The 32 bytes of the digest.
    package static func digest(_ message: UnsafeRawBufferPointer) -> [UInt8] {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 72) { memory in
            let words = UnsafeMutableBufferPointer(rebasing: memory[0..<64])
            let state = UnsafeMutableBufferPointer(rebasing: memory[64..<72])
            _ = state.initialize(from: initial)
            words.initialize(repeating: 0)
            let whole = message.count / 64 * 64
            for start in stride(from: 0, to: whole, by: 64) {
                compress(UnsafeRawBufferPointer(rebasing: message[start..<(start + 64)]), words, state)
            }
            finish(UnsafeRawBufferPointer(rebasing: message[whole...]), count: message.count, words, state)
            return [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
                for index in 0..<32 {
                    digest[index] = UInt8(truncatingIfNeeded: state[index / 4] >> (24 - 8 * UInt32(index % 4)))
                }
                count = 32
            }
        }
    }

    // The rest of the message, a 1 bit, and the message's length in bits, padded to one block or two.
    private static func finish(
        _ rest: UnsafeRawBufferPointer,
        count: Int,
        _ words: UnsafeMutableBufferPointer<UInt32>,
        _ state: UnsafeMutableBufferPointer<UInt32>
    ) {
        withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { padded in
            padded.initializeMemory(as: UInt8.self, repeating: 0)
            padded.copyMemory(from: rest)
            padded[rest.count] = 0x80
            let end = rest.count < 56 ? 64 : 128
            padded.storeBytes(of: (UInt64(count) * 8).bigEndian, toByteOffset: end - 8, as: UInt64.self)
            for start in stride(from: 0, to: end, by: 64) {
                compress(UnsafeRawBufferPointer(rebasing: padded[start..<(start + 64)]), words, state)
            }
        }
    }

    private static func compress(
        _ block: UnsafeRawBufferPointer,
        _ words: UnsafeMutableBufferPointer<UInt32>,
        _ state: UnsafeMutableBufferPointer<UInt32>
    ) {
        for index in 0..<16 {
            words[index] = UInt32(bigEndian: block.loadUnaligned(fromByteOffset: 4 * index, as: UInt32.self))
        }
        for index in 16..<64 {
            let (first, second) = (words[index - 15], words[index - 2])
            let low = rotate(first, 7) ^ rotate(first, 18) ^ (first >> 3)
            let high = rotate(second, 17) ^ rotate(second, 19) ^ (second >> 10)
            words[index] = words[index - 16] &+ low &+ words[index - 7] &+ high
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        constants.withUnsafeBufferPointer { constants in
            for index in 0..<64 {
                let choice = (e & f) ^ (~e & g)
                let first =
                    h &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ choice &+ constants[index] &+ words[index]
                let majority = (a & b) ^ (a & c) ^ (b & c)
                let second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ majority
                (h, g, f, e, d, c, b, a) = (g, f, e, d &+ first, c, b, a, first &+ second)
            }
        }
        (state[0], state[1], state[2], state[3]) = (state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d)
        (state[4], state[5], state[6], state[7]) = (state[4] &+ e, state[5] &+ f, state[6] &+ g, state[7] &+ h)
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }
}
