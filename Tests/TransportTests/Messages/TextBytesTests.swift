import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct TextBytesTests {
    @Test func partsOfAnyLengthAreAddedInOrder() {
        var text = TextBytes(capacity: 0)
        var expected = ""
        for part in ["", "a", "é", "日本", String(repeating: "long ", count: 1_000), "😀"] {
            text.append(part)
            expected += part
        }
        #expect(text.text == expected)
    }

    @Test(arguments: [0, 1, 9, 10, 99, 100, 1_234_567_890, .max - 1, .max] as [UInt64])
    func numbersAreWrittenInDecimals(number: UInt64) {
        var text = TextBytes(capacity: 1)
        for _ in 0..<40 { text.append(number) }
        #expect(text.text == String(repeating: String(number), count: 40))
    }

    @Test(arguments: [0, 1, 100, 1_023, 1_024, 1_025, 100_000])
    func aTextOutgrowsTheStack(count: Int) {
        let part = String(repeating: "x", count: count)
        let text = TextBytes.making { text in
            text.append(literal: "é ")
            text.append(part)
            text.append(literal: "")
            text.append(line: part)
            text.append(literal: "µ")
        }
        #expect(text == "é " + part + part + "µ")
        #expect(text.utf8.count == 2 * count + 5)
    }

    @Test(arguments: ["", "plain", "a\nb", "\u{1B}[31m", "é", "a\u{7F}", "~ }", "\u{202E}x"])
    func aLineIsMadePrintable(line: String) {
        var text = TextBytes(capacity: 8)
        text.append("<")
        text.append(line: line)
        text.append(">")
        #expect(text.text == "<" + PrintableText.line(line) + ">")
    }
}
