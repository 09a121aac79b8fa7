/// Text from a server or a user, made fit for a terminal or a log: what could forge a line, move the cursor, change colours
/// or turn the direction of writing is written as an escape such as `\u{1B}`.
package enum PrintableText {
    /// Text for one line: line breaks and tabs are escaped too.
    package static func line(_ text: String) -> String {
        // What is nearly always so is found in one pass, and costs no copy.
        var text = text
        if text.withUTF8({ isPlain($0) }) { return text }
        var line = ""
        line.reserveCapacity(text.utf8.count + 16)
        for scalar in text.unicodeScalars { append(scalar, to: &line) }
        return line
    }

    /// Whether there are only the printable characters of ASCII.
    @inline(__always)
    static func isPlain(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        !ByteWord.contains(in: UnsafeRawBufferPointer(utf8)) { word in
            word.rawValue | ~word.isLow(atLeast: 0x20) | word.isLow(atLeast: 0x7F)
        }
    }

    /// Text of several lines, each with an indent before it; tabs stay, and CR LF becomes LF.
    package static func lines(_ text: String, indent: String = "") -> String {
        var lines = indent
        lines.reserveCapacity(text.utf8.count + text.utf8.count / 16 + 64)
        var wasCarriageReturn = false
        for scalar in text.unicodeScalars {
            if wasCarriageReturn, scalar != "\n" { append("\r", to: &lines) }
            wasCarriageReturn = scalar == "\r"
            switch scalar {
            case "\r": break
            case "\n": lines += "\n" + indent
            case "\t": lines += "\t"
            default: append(scalar, to: &lines)
            }
        }
        if wasCarriageReturn { append("\r", to: &lines) }
        return lines
    }

    private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
        guard isUnfit(scalar) else { return text.unicodeScalars.append(scalar) }
        switch scalar {
        case "\n": text += "\\n"
        case "\r": text += "\\r"
        case "\t": text += "\\t"
        default: text += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
    }

    /// Controls (C0, DEL, C1), separators of lines and paragraphs, and what marks or overrides the direction of text.
    package static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
