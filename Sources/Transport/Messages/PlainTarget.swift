internal import Foundation
internal import InterceptorsSyntax

/// The scheme of a URL in the most common form, read from its text in one pass. The form is `http` or `https` in lower case, a
/// host of letters, digits, dots and hyphens, and optionally a port. Asking `URL` for its parts would create a string for each.
struct PlainTarget {
    let isTLS: Bool

    /// Returns `nil` for a URL that needs a parser.
    init?(_ url: URL) {
        var text = url.absoluteString
        guard let isTLS = text.withUTF8({ Self.scheme(of: $0) }) else { return nil }
        self.isTLS = isTLS
    }

    /// Whether the scheme is https. `nil` if the text isn't in the common form.
    private static func scheme(of text: UnsafeBufferPointer<UInt8>) -> Bool? {
        func begins(_ prefix: StaticString) -> Bool {
            guard let start = text.baseAddress, text.count > prefix.utf8CodeUnitCount else { return false }
            return memcmp(start, prefix.utf8Start, prefix.utf8CodeUnitCount) == 0
        }
        let isTLS = begins("https://")
        guard isTLS || begins("http://") else { return nil }
        let start = isTLS ? 8 : 7
        var end = start
        while end < text.count, isHostByte(text[end]) { end += 1 }
        guard end > start else { return nil }
        if end < text.count, text[end] == UInt8(ascii: ":") {
            guard let portEnd = endOfPort(in: text, from: end + 1) else { return nil }
            end = portEnd
        }
        return end == text.count || isAfterAuthority(text[end]) ? isTLS : nil
    }

    /// The end of a port from 1 to 65535, or `nil` if there is no such port.
    private static func endOfPort(in text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        var (end, port) = (start, 0)
        while end < text.count, text[end] &- 0x30 < 10 {
            port = port * 10 + Int(text[end] &- 0x30)
            guard port <= 65_535 else { return nil }
            end += 1
        }
        return port > 0 ? end : nil
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-")
    }

    private static func isAfterAuthority(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
    }
}

extension URL {
    /// Whether the scheme is https.
    var isHTTPS: Bool { PlainTarget(self)?.isTLS ?? (scheme?.lowercased() == "https") }
}
