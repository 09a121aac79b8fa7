internal import InterceptorsSyntax

/// Makes text from a server or a user safe for a terminal or a log. Characters that could forge a line, move the cursor, change
/// colors or reverse the writing direction become escapes such as `\u{1B}`.
package enum PrintableText {
    /// The text on a single line: line breaks and tabs are escaped too.
    package static func line(_ text: String) -> String {
        // Fast path for printable ASCII, which nearly all text is: one pass and no copy.
        var text = text
        if text.withUTF8({ isPlain($0) }) { return text }
        var line = ""
        line.reserveCapacity(text.utf8.count + 16)
        for scalar in text.unicodeScalars { append(scalar, to: &line) }
        return line
    }

    /// Whether all bytes are printable ASCII characters.
    @inline(__always)
    static func isPlain(_ utf8: UnsafeBufferPointer<UInt8>) -> Bool {
        !ByteWord.contains(in: UnsafeRawBufferPointer(utf8)) { word in
            word.rawValue | ~word.isLow(atLeast: 0x20) | word.isLow(atLeast: 0x7F)
        }
    }

    /// The text on several lines, each indented. Tabs are kept, and CR LF becomes LF.
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

    /// Whether a scalar must be escaped: controls (C0, DEL, C1), line and paragraph separators, and marks or overrides of text
    /// direction.
    package static func isUnfit(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
        default: false
        }
    }
}
