internal import Interceptors

/// Finds the ends of the elements of a JSON text sequence (RFC 7464), however its chunks divide it. Looks at each byte once.
///
/// An LF ends an element unless it is inside an array, an object or a string. An RS ends any element, because no JSON text
/// contains one. So the elements after a malformed one are found again.
struct JSONElementScanner {
    private static let recordSeparator: UInt8 = 0x1E
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")

    /// The number of arrays and objects around the next byte.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// The offset of the first byte in the range that ends an element; `nil` if the element goes on after the range.
    mutating func end(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        var index = range.lowerBound
        while index < range.upperBound {
            let byte = bytes[index]
            if byte == Self.recordSeparator {
                self = JSONElementScanner()
                return index
            }
            if isInString {
                readInString(byte)
            } else if byte == LineSplitter.lineFeed, depth == 0 {
                return index
            } else {
                readBetweenStrings(byte)
            }
            index += 1
        }
        return nil
    }

    private mutating func readInString(_ byte: UInt8) {
        if isEscaped {
            isEscaped = false
        } else if byte == Self.backslash {
            isEscaped = true
        } else if byte == Self.quote {
            isInString = false
        }
    }

    private mutating func readBetweenStrings(_ byte: UInt8) {
        switch byte {
        case Self.quote: isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
        default: break
        }
    }
}
