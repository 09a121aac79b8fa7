/// Percent-encoding (RFC 3986 §2), byte by byte over the UTF-8 text.
package enum PercentEncoding {
    /// Encodes everything except the unreserved characters (RFC 3986 §2.3), so the result is data anywhere in a URL.
    package static func component(_ text: String) -> String {
        text.utf8.allSatisfy(isUnreserved) ? text : component(Array(text.utf8))
    }

    /// Encodes everything except the unreserved characters (RFC 3986 §2.3).
    package static func component(_ bytes: [UInt8]) -> String {
        encode(bytes, keepingTriplets: false, where: isUnreserved)
    }

    /// Encodes bytes that a path can't contain (RFC 3986 §3.3). Existing percent-encoding is kept.
    package static func path(_ text: some StringProtocol) -> String {
        encode(text, keepingTriplets: true) { isPathCharacter($0) || $0 == UInt8(ascii: "/") }
    }

    /// Encodes bytes that a query can't contain (RFC 3986 §3.4). Existing percent-encoding is kept.
    package static func query(_ text: some StringProtocol) -> String {
        encode(text, keepingTriplets: true) {
            isPathCharacter($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?")
        }
    }

    private static func encode(
        _ text: some StringProtocol,
        keepingTriplets: Bool,
        where isAllowed: (UInt8) -> Bool
    ) -> String {
        if text.utf8.allSatisfy(isAllowed) { return String(text) }
        return encode(Array(text.utf8), keepingTriplets: keepingTriplets, where: isAllowed)
    }

    private static func encode(_ bytes: [UInt8], keepingTriplets: Bool, where isAllowed: (UInt8) -> Bool) -> String {
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + bytes.count / 2)
        for (index, byte) in bytes.enumerated() {
            if isAllowed(byte) || keepingTriplets && isTriplet(bytes, at: index) {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "%")] + Hexadecimal.digits(of: byte, .upperCase)
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Whether a percent sign and two hexadecimal digits begin at the index.
    private static func isTriplet(_ bytes: [UInt8], at index: Int) -> Bool {
        bytes[index] == UInt8(ascii: "%") && index + 2 < bytes.count
            && ASCII.hexadecimalValue(bytes[index + 1]) != nil && ASCII.hexadecimalValue(bytes[index + 2]) != nil
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        ASCII.isAlphanumeric(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".")
            || byte == UInt8(ascii: "_")
            || byte == UInt8(ascii: "~")
    }

    private static func isPathCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("),
            UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"),
            UInt8(ascii: "="), UInt8(ascii: ":"), UInt8(ascii: "@"):
            true
        default: isUnreserved(byte)
        }
    }
}

extension [UInt8] {
    /// The bytes with each `%` and two hexadecimal digits replaced by the byte they encode (RFC 3986 §2.1). Any other `%` is
    /// kept.
    package var percentDecoded: [UInt8] {
        guard contains(UInt8(ascii: "%")) else { return self }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(count)
        var index = 0
        while index < count {
            if self[index] == UInt8(ascii: "%"), index + 2 < count,
                let high = ASCII.hexadecimalValue(self[index + 1]), let low = ASCII.hexadecimalValue(self[index + 2])
            {
                decoded.append(high << 4 | low)
                index += 3
            } else {
                decoded.append(self[index])
                index += 1
            }
        }
        return decoded
    }

    /// The bytes decoded repeatedly until nothing changes, because names may be encoded more than once.
    package var percentDecodedFully: [UInt8] {
        var decoded = self
        // Each pass shortens the text. A text that needs more than eight passes is no name.
        for _ in 0..<8 {
            let next = decoded.percentDecoded
            guard next.count < decoded.count else { break }
            decoded = next
        }
        return decoded
    }
}
