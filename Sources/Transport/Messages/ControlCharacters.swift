internal import HTTPSyntax

extension ASCII {
    /// Whether any byte is a control character other than tab.
    static func hasControl(_ bytes: UnsafeRawBufferPointer) -> Bool {
        ByteWord.contains(in: bytes) { word in
            let isBeforeSpace = ~word.isLow(atLeast: 0x20) & word.isLow(otherThan: 0x09)
            return (isBeforeSpace | word.isLow(atLeast: 0x7F)) & ~word.rawValue
        }
    }
}
