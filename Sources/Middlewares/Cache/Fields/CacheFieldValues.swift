internal import InterceptorsCore
internal import InterceptorsSyntax

/// A number of seconds in a cache field (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// The maximum: a greater number counts as this one.
    static let ceiling: Int64 = 1 << 31

    /// The seconds, at most ``ceiling``; `nil` unless all bytes are digits.
    static func parse(_ bytes: ArraySlice<UInt8>) -> Int64? {
        var cursor = FieldCursor(bytes)
        guard let seconds = cursor.takeNumber(ceiling: ceiling), cursor.isAtEnd else { return nil }
        return seconds
    }

    /// The value of `Age`, or the first member of several; `nil` if it is malformed and must be ignored (RFC 9111 §5.1).
    static func age(in fields: HTTPFields) -> Int64? {
        guard let value = fields.first(.age) else { return nil }
        var cursor = FieldCursor(value)
        cursor.skipWhitespace()
        guard let age = cursor.takeNumber(ceiling: ceiling) else { return nil }
        cursor.skipWhitespace()
        return cursor.isAtEnd || cursor.peek == UInt8(ascii: ",") ? age : nil
    }
}

/// The request fields that select a response (RFC 9110 §12.5.5).
enum VaryField: Equatable {
    /// `*` or a malformed value: anything may have affected the response, so no other request matches.
    case everything
    /// These fields: lower case, sorted, unique.
    case names([String])

    var names: [String]? { if case .names(let names) = self { names } else { nil } }

    init(_ fields: HTTPFields) {
        guard fields.contains(.vary) else {
            self = .names([])
            return
        }
        var names: Set<String> = []
        for line in fields where line.name == .vary {
            guard let members = TokenList.parse(line.value), !members.contains("*") else {
                self = .everything
                return
            }
            names.formUnion(members)
        }
        self = .names(names.sorted())
    }
}
