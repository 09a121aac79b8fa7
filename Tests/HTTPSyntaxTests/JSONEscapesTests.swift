import InterceptorsSyntax
import Testing

@Suite(.againstHanging) struct JSONEscapesTests {
    private func decoded(_ raw: String, isLenient: Bool = false) -> String? {
        Array(raw.utf8).withUnsafeBytes { JSONEscapes.decoded($0, isLenient: isLenient) }
            .map { String(decoding: $0, as: UTF8.self) }
    }

    // RFC 8259 §7
    @Test(arguments: [
        (#"\uD83D\uDE00"#, "\u{1F600}"), (#"\uD800\uDC00"#, "\u{10000}"), (#"\uDBFF\uDFFF"#, "\u{10FFFF}"),
        (#"\uDC00\uDC01"#, "\u{FFFD}\u{FFFD}"), (#"\uDC00"#, "\u{FFFD}"), (#"\uD800"#, "\u{FFFD}"),
        (#"\uD800x"#, "\u{FFFD}x"), (#"\uD800\u0041"#, "\u{FFFD}A"), (#"\uD800\uD83D\uDE00"#, "\u{FFFD}\u{1F600}"),
        (#"\uDFFF\uDC00\uD83D\uDE00"#, "\u{FFFD}\u{FFFD}\u{1F600}"), (#"\uD7FF\uE000"#, "\u{D7FF}\u{E000}"),
        (#"\"\\\/\b\f\n\r\t"#, "\"\\/\u{8}\u{C}\n\r\t"), ("é\u{0}", "é\u{0}"), ("", ""),
    ])
    func onlyALowHalfAfterAHighOneMakesAPair(raw: String, text: String) {
        #expect(decoded(raw) == text)
        #expect(decoded(raw, isLenient: true) == text)
    }

    // A reader of envelopes refuses such a string. A redactor must see a secret in it all the same.
    @Test(arguments: [
        (#"a\qb"#, "aqb"), (#"a\"#, #"a\"#), (#"\u12"#, "u12"), (#"\u+123"#, "u+123"), (#"\uD800\u12"#, "\u{FFFD}u12"),
    ])
    func anInvalidEscapeIsRefusedOrStandsForItsSecondByte(raw: String, text: String) {
        #expect(decoded(raw) == nil)
        #expect(decoded(raw, isLenient: true) == text)
    }
}
