internal import InterceptorsCore
internal import InterceptorsSyntax

extension Range<Int64> {
    /// The number of bytes. `count` would trap where `Int` has 32 bits, as on watches.
    var length: Int64 { upperBound - lowerBound }
}

/// A single byte range of a `Range` field (RFC 9110 §14.1.2).
enum ByteRange: Equatable {
    case from(Int64, through: Int64?)
    case suffix(Int64)

    /// The ranges that a request asks for.
    enum Request: Equatable {
        case none
        case single(ByteRange)
        /// Several ranges, another unit or a malformed field, which is left to the server.
        case other
    }

    static func requested(in fields: HTTPFields) -> Request {
        guard let text = fields[.range] else { return .none }
        var cursor = FieldCursor(text)
        guard cursor.takeLowercasedToken() == "bytes", cursor.take("=") else { return .other }
        cursor.skipWhitespace()
        guard let range = take(&cursor) else { return .other }
        cursor.skipWhitespace()
        return cursor.isAtEnd ? .single(range) : .other
    }

    private static func take(_ cursor: inout FieldCursor) -> ByteRange? {
        if cursor.take("-") { return cursor.takeNumber().map { .suffix($0) } }
        guard let first = cursor.takeNumber(), cursor.take("-") else { return nil }
        let last = cursor.takeNumber()
        if let last, last < first { return nil }
        return .from(first, through: last)
    }

    /// The bytes that the range selects in a representation of this length; `nil` if it selects no bytes (RFC 9110 §14.1.1).
    func bytes(of length: Int64) -> Range<Int64>? {
        switch self {
        case .from(let first, let last):
            guard first < length else { return nil }
            let end = last.map { $0 < length - 1 ? $0 + 1 : length } ?? length
            return first..<end
        case .suffix(let count):
            guard count > 0, length > 0 else { return nil }
            return (length - min(count, length))..<length
        }
    }
}
