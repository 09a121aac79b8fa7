internal import Foundation

/// One line of a side file: a checksum and JSON.
///
/// ```
/// 9f86d081884c7d65 {"log":…}
/// ```
/// A killed process may leave half a line, and so may a full disk. The checksum finds half a line wherever the file holds it, and
/// even if the half is JSON by chance.
struct SideLine: Sendable, Equatable {
    let json: Data

    private static let lineFeed = UInt8(ascii: "\n")
    private static let space = UInt8(ascii: " ")

    /// The line, with its line feed. Line feeds between the tokens of the JSON become spaces; within strings, JSON has none.
    var bytes: Data {
        var content = json
        var start = content.startIndex
        while let index = content[start...].firstIndex(of: Self.lineFeed) {
            content[index] = Self.space
            start = index
        }
        return Data("\(Self.checksum(content)) ".utf8) + content + [Self.lineFeed]
    }

    /// The whole lines of a side file. Leaves out every line that isn't as it was written.
    static func lines(of content: Data) -> [SideLine] {
        content.split(separator: lineFeed).compactMap { SideLine(line: $0) }
    }

    private init?(line: Data) {
        guard let first = line.firstIndex(of: Self.space),
            Self.checksum(line[(first + 1)...]) == String(decoding: line[..<first], as: UTF8.self)
        else { return nil }
        self.init(json: Data(line[(first + 1)...]))
    }

    init(json: Data) { self.json = json }

    /// FNV-1a, of 64 bits: it finds accidents, and nobody attacks a side file who couldn't write the recording itself.
    private static func checksum(_ bytes: Data) -> String {
        let sum = bytes.withUnsafeBytes { buffer in
            var sum: UInt64 = 0xCBF2_9CE4_8422_2325
            for byte in buffer { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01B3 }
            return sum
        }
        return String(sum, radix: 16)
    }
}
