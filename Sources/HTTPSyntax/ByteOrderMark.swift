package import Foundation

/// A mark at the start of Unicode text that names its encoding (RFC 2781 §3.2, RFC 3629 §6, Unicode 23.8).
package struct ByteOrderMark: Sendable {
    package let bytes: [UInt8]
    package let encoding: String.Encoding

    package static let utf8 = Self(bytes: [0xEF, 0xBB, 0xBF], encoding: .utf8)

    // UTF-32's mark is listed first, because it begins with UTF-16's.
    private static let all = [
        utf8, Self(bytes: [0xFF, 0xFE, 0, 0], encoding: .utf32LittleEndian),
        Self(bytes: [0, 0, 0xFE, 0xFF], encoding: .utf32BigEndian),
        Self(bytes: [0xFF, 0xFE], encoding: .utf16LittleEndian), Self(bytes: [0xFE, 0xFF], encoding: .utf16BigEndian),
    ]

    /// The mark that the bytes begin with, or `nil` without one.
    package static func beginning(_ bytes: some Sequence<UInt8>) -> Self? {
        all.first { bytes.starts(with: $0.bytes) }
    }

    /// The number of bytes of UTF-8's mark at the beginning: 3 or 0.
    // Inlinable, because an unspecialized iterator costs an allocation for each envelope.
    @inlinable package static func lengthOfUTF8(_ bytes: some Sequence<UInt8>) -> Int {
        var iterator = bytes.makeIterator()
        return iterator.next() == 0xEF && iterator.next() == 0xBB && iterator.next() == 0xBF ? 3 : 0
    }
}
