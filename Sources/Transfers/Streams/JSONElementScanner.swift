internal import Interceptors

/// Finds the ends of the elements of a JSON text sequence (RFC 7464), however its chunks divide it. Looks at each byte once.
///
/// An LF ends an element unless it is inside an array, an object or a string. An RS ends any element, because no JSON text
/// contains one. So the elements after a malformed one are found again.
struct JSONElementScanner {
    /// The number of arrays and objects around the next byte.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false

    /// The offset of the first byte in the range that ends an element; `nil` if the element goes on after the range.
    mutating func end(in bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Int? {
        for index in range {
            switch bytes[index] {
            case 0x1E:
                self = JSONElementScanner()
                return index
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\"") where isInString: isInString = false
            case UInt8(ascii: "\\") where isInString: isEscaped = true
            case _ where isInString: break
            case UInt8(ascii: "\""): isInString = true
            case LineSplitter.lineFeed where depth == 0: return index
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth = max(0, depth - 1)
            default: break
            }
        }
        return nil
    }
}
