/// Percent-encoding (RFC 3986 §2), byte by byte over the UTF-8 text.
enum PercentEncoding {
    /// Encodes everything except the unreserved characters (RFC 3986 §2.3), so the result is data anywhere in a URL.
    static func component(_ text: String) -> String {
        encode(text, keepingTriplets: false, where: isUnreserved)
    }

    /// Encodes bytes that a path can't contain (RFC 3986 §3.3). Existing percent-encoding is kept.
    static func path(_ text: some StringProtocol) -> String {
        encode(text, keepingTriplets: true) { isPathCharacter($0) || $0 == UInt8(ascii: "/") }
    }

    /// Encodes bytes that a query can't contain (RFC 3986 §3.4). Existing percent-encoding is kept.
    static func query(_ text: some StringProtocol) -> String {
        encode(text, keepingTriplets: true) {
            isPathCharacter($0) || $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?")
        }
    }

    private static func encode(
        _ text: some StringProtocol,
        keepingTriplets: Bool,
        where isAllowed: (UInt8) -> Bool
    ) -> String {
        let bytes = text.utf8
        if bytes.allSatisfy(isAllowed) { return String(text) }
        var output: [UInt8] = []
        output.reserveCapacity(bytes.count + bytes.count / 2)
        var index = bytes.startIndex
        while index != bytes.endIndex {
            let byte = bytes[index]
            let isTriplet =
                byte == UInt8(ascii: "%") && keepingTriplets && bytes[index...].dropFirst().startsWithTwoHexDigits
            if isAllowed(byte) || isTriplet {
                output.append(byte)
            } else {
                output += [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
            }
            bytes.formIndex(after: &index)
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            true
        default: false
        }
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

extension Collection<UInt8> {
    fileprivate var startsWithTwoHexDigits: Bool {
        let digits = prefix(2)
        return digits.count == 2
            && digits.allSatisfy { byte in
                switch ASCII.lowercased(byte) {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
                default: false
                }
            }
    }
}
