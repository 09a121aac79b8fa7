import Testing

@testable import InterceptorsTransport

/// Text from a server must neither control a terminal nor forge or reorder a line of a log.
@Suite(.againstHanging) struct PrintableTextTests {
    @Test func noScalarThatControlsOrReordersTextIsPrinted() {
        let unfit = [0..<0x20, 0x7F..<0xA0, 0x2028..<0x202A, 0xFEFF..<0xFF00].joined().compactMap(Unicode.Scalar.init)
        let reordering = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter(\.properties.isBidiControl)
        #expect(reordering.count == 12)
        for scalar in unfit + reordering {
            let line = PrintableText.line("a\(scalar)b")
            #expect(!line.unicodeScalars.contains(scalar), "\(line)")
            #expect(line.hasPrefix("a\\") && line.hasSuffix("b"), "\(line)")
        }
    }

    @Test func neighboursOfSuchScalarsArePrinted() {
        let fit: [UInt32] = [
            0x20, 0x7E, 0xA0, 0x061B, 0x061D, 0x200D, 0x2010, 0x2027, 0x202F, 0x2065, 0x206A, 0xFEFE, 0xFF00, 0x1F600,
        ]
        for scalar in fit.compactMap(Unicode.Scalar.init) {
            #expect(PrintableText.line("a\(scalar)b") == "a\(scalar)b")
        }
    }

    @Test func linesKeepLineFeedsAndTabsAndEscapeALoneCarriageReturn() {
        #expect(PrintableText.lines("a\r\nb\tc\rd\r", indent: "  ") == "  a\n  b\tc\\rd\\r")
        #expect(PrintableText.line("a\r\nb\tc") == "a\\r\\nb\\tc")
    }
}
