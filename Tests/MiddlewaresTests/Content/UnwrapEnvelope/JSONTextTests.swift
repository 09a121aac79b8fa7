import Testing

@testable import Middlewares

@Suite(.againstHanging) struct JSONTextTests {
    private func unescaped(_ raw: String) -> String? {
        Array(raw.utf8).withUnsafeBytes { JSONText.unescaped($0) }.map { String(decoding: $0, as: UTF8.self) }
    }

    // RFC 8259 §7
    @Test(arguments: [
        (#"\uD83D\uDE00"#, "\u{1F600}"), (#"\uD800\uDC00"#, "\u{10000}"), (#"\uDBFF\uDFFF"#, "\u{10FFFF}"),
        (#"\uDC00\uDC01"#, "\u{FFFD}\u{FFFD}"), (#"\uDC00"#, "\u{FFFD}"), (#"\uD800"#, "\u{FFFD}"),
        (#"\uD800x"#, "\u{FFFD}x"), (#"\uD800\u0041"#, "\u{FFFD}A"), (#"\uD800\uD83D\uDE00"#, "\u{FFFD}\u{1F600}"),
        (#"\uDFFF\uDC00\uD83D\uDE00"#, "\u{FFFD}\u{FFFD}\u{1F600}"), (#"\uD7FF\uE000"#, "\u{D7FF}\u{E000}"),
    ])
    func onlyALowHalfAfterAHighOneMakesAPair(raw: String, text: String) {
        #expect(unescaped(raw) == text)
    }
}
