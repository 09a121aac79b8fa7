public import Foundation

/// Bodies that show whether they are intact: a key and a version determine every byte.
public enum CacheFill {
    /// The body of a version: up to 3 kB, or up to 400 kB if the version is a multiple of four.
    public static func body(_ key: Int, _ version: UInt64) -> Data {
        var generator = SeededGenerator(seed: UInt64(key) &* 1_000_003 &+ version)
        let length = Int(generator.next() % (version % 4 == 0 ? 400_000 : 3_000))
        var words = [UInt64](repeating: 0, count: length / 8 + 1)
        var word = generator.next()
        for index in words.indices {
            word = word &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            words[index] = word
        }
        return words.withUnsafeBytes { Data($0.prefix(length)) }
    }
}
