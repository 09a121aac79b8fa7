import Testing

@testable import Interceptors

@Suite(.againstHanging) struct PercentEncodingTests {
    private static let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    private static let subDelimiters = "!$&'()*+,;="

    /// The bytes from 0x00 to 0x7F that a function leaves as they are.
    private func kept(by encode: (String) -> String) -> String {
        String(
            String.UnicodeScalarView(
                (UInt8(0)..<0x80).map { Unicode.Scalar($0) }.filter { scalar in
                    let text = String(scalar)
                    let encoded = encode(text)
                    #expect(encoded == text || encoded.count == 3 && encoded.hasPrefix("%"))
                    return encoded == text
                }
            )
        )
    }

    // RFC 3986 §3.4
    @Test func aQueryKeepsTheBytesThatMayStandInIt() {
        let allowed = Self.unreserved + Self.subDelimiters + ":@/?"
        #expect(Set(kept { PercentEncoding.query($0) }) == Set(allowed))
    }

    // RFC 3986 §3.3
    @Test func aPathKeepsTheBytesThatMayStandInIt() {
        #expect(Set(kept { PercentEncoding.path($0) }) == Set(Self.unreserved + Self.subDelimiters + ":@/"))
    }

    // RFC 3986 §2.3
    @Test func aComponentKeepsTheUnreservedBytesAlone() {
        #expect(Set(kept { PercentEncoding.component($0) }) == Set(Self.unreserved))
    }

    @Test(arguments: [
        ("%41", "%41"), ("%4g", "%254g"), ("%", "%25"), ("%4", "%254"), ("%C3%A9 \u{E9}", "%C3%A9%20%C3%A9"),
        ("%%41", "%25%41"),
    ])
    func aQueryKeepsWhatIsEncodedAlready(text: String, encoded: String) {
        #expect(PercentEncoding.query(text) == encoded)
        #expect(PercentEncoding.path(text) == encoded)
    }
}
