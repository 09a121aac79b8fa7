internal import Foundation
internal import InterceptorsSyntax
internal import InterceptorsTransport

/// Text in UTF-16 or UTF-32, in which no search for ASCII finds anything.
struct WideText {
    var text: String
    private let mark: [UInt8]
    private let unitSize: Int
    private let isBigEndian: Bool

    /// Recognizes the text by its byte order mark, by its zeros, or by the charset of its type; `nil` for any other content.
    ///
    /// A charset may be wrong. Bytes that are text in UTF-8 and have no zeros are that text: in wide text, ASCII has zeros.
    ///
    /// Units that aren't Unicode become U+FFFD, and the bytes of an unfinished unit at the end are dropped.
    init?(_ bytes: Data, contentType: String?) {
        let bytes = Array(bytes)
        guard let form = Self.form(of: bytes, contentType) else { return nil }
        (mark, unitSize, isBigEndian) = form
        let units = Self.units(bytes.dropFirst(mark.count), unitSize, isBigEndian: isBigEndian)
        if unitSize == 2 {
            text = String(decoding: units.map { UInt16(truncatingIfNeeded: $0) }, as: UTF16.self)
        } else {
            text = units.reduce(into: "") { $0.unicodeScalars.append(Unicode.Scalar($1) ?? "\u{FFFD}") }
        }
    }

    /// The text in its original encoding.
    var bytes: Data {
        var result = Data(mark)
        let units = unitSize == 2 ? text.utf16.map(UInt32.init) : text.unicodeScalars.map(\.value)
        result.reserveCapacity(result.count + units.count * unitSize)
        for unit in units {
            for index in 0..<unitSize {
                let shift = 8 * (isBigEndian ? unitSize - 1 - index : index)
                result.append(UInt8(truncatingIfNeeded: unit >> shift))
            }
        }
        return result
    }

    private typealias Form = (mark: [UInt8], unitSize: Int, isBigEndian: Bool)

    private static func form(of bytes: [UInt8], _ contentType: String?) -> Form? {
        if let mark = ByteOrderMark.beginning(bytes) { return form(mark.encoding, mark: mark.bytes) }
        if let form = formByZeros(bytes) { return form }
        guard bytes.contains(0) || String(validating: bytes, as: UTF8.self) == nil else { return nil }
        return contentType.flatMap(HTTPResponse.encoding).flatMap { form($0, mark: []) }
    }

    private static func form(_ encoding: String.Encoding, mark: [UInt8]) -> Form? {
        switch encoding {
        case .utf16BigEndian: (mark, 2, true)
        case .utf16LittleEndian: (mark, 2, false)
        case .utf32BigEndian: (mark, 4, true)
        case .utf32LittleEndian: (mark, 4, false)
        default: nil
        }
    }

    /// Text of which at least half of the characters are ASCII has zeros in the same bytes of its units.
    private static func formByZeros(_ bytes: [UInt8]) -> Form? {
        guard bytes.count >= 4, bytes.contains(0) else { return nil }
        var zeros = [0, 0, 0, 0]
        for (index, byte) in bytes.enumerated() where byte == 0 { zeros[index & 3] += 1 }
        let isZero = zeros.map { $0 * 4 >= bytes.count / 2 }
        switch (isZero[0], isZero[1], isZero[2], isZero[3]) {
        case (true, true, true, false): return ([], 4, true)
        case (false, true, true, true): return ([], 4, false)
        case (true, false, true, false): return ([], 2, true)
        case (false, true, false, true): return ([], 2, false)
        default: return nil
        }
    }

    private static func units(_ bytes: ArraySlice<UInt8>, _ size: Int, isBigEndian: Bool) -> [UInt32] {
        stride(from: bytes.startIndex, to: bytes.endIndex - size + 1, by: size).map { start in
            let unit = bytes[start..<start + size]
            return isBigEndian
                ? unit.reduce(0) { $0 << 8 | UInt32($1) } : unit.reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
    }
}
