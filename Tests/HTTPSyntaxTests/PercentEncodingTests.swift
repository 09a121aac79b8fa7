import InterceptorsSyntax
import Testing

@Suite(.againstHanging) struct PercentEncodingTests {
    @Test(arguments: UInt8.min...UInt8.max) func componentKeepsUnreservedCharactersOnly(byte: UInt8) {
        let isUnreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8.contains(byte)
        let encoded = PercentEncoding.component([byte])
        #expect((encoded.utf8.elementsEqual([byte])) == isUnreserved)
        #expect(Array(encoded.utf8).percentDecoded == [byte])
    }

    @Test(arguments: UInt8(0)...0x7F) func pathAndQueryKeepTheirCharacters(byte: UInt8) {
        let text = String(Unicode.Scalar(byte))
        let pchar = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@"
        #expect((PercentEncoding.path(text) == text) == (pchar + "/").utf8.contains(byte))
        #expect((PercentEncoding.query(text) == text) == (pchar + "/?").utf8.contains(byte))
    }

    @Test(arguments: [
        ("%41%2f", "%41%2f"), ("100%", "100%25"), ("%4", "%254"), ("%zz%41", "%25zz%41"), ("%%41", "%25%41"),
        ("%C3%A9 é|", "%C3%A9%20%C3%A9%7C"),
    ])
    func tripletsStayAndALonePercentSignIsEncoded(text: String, expected: String) {
        #expect(PercentEncoding.path(text) == expected)
        #expect(PercentEncoding.query(text) == expected)
    }

    @Test(arguments: [("%41%2F", "A/"), ("%", "%"), ("%4", "%4"), ("%g1", "%g1"), ("%2541", "%41"), ("%c3%A9", "é")])
    func decodingReplacesTripletsAndKeepsAnyOtherPercentSign(text: String, expected: String) {
        #expect(Array(text.utf8).percentDecoded == Array(expected.utf8))
    }

    @Test func hexadecimalIsTwoLowerCaseDigitsForEachByte() {
        #expect(([0x00, 0x0F, 0xA0, 0xFF] as [UInt8]).hexadecimal == "000fa0ff")
        #expect(([0x7F] as [UInt8]).hexadecimal(after: "é-") == "é-7f")
        #expect(([] as [UInt8]).hexadecimal == "")
        for byte in UInt8.min...UInt8.max {
            let digits = Hexadecimal.digits(of: byte, .upperCase)
            #expect(digits.compactMap(ASCII.hexadecimalValue).map(Int.init) == [Int(byte) / 16, Int(byte) % 16])
        }
    }
}
