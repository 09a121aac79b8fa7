internal import HTTPSyntax
internal import Interceptors

/// A count of seconds as caches write them (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// What a greater one counts as.
    static let ceiling: Int64 = 1 << 31

    /// The seconds, at most ``ceiling``; `nil` for anything but digits.
    static func parse(_ bytes: ArraySlice<UInt8>) -> Int64? {
        var cursor = FieldCursor(bytes)
        guard let seconds = cursor.takeNumber(ceiling: ceiling), cursor.isAtEnd else { return nil }
        return seconds
    }

    /// The value of `Age`: the first member where there are several; `nil`, that is to be ignored, if it is no
    /// delta-seconds (RFC 9111 §5.1).
    static func age(in fields: HTTPFields) -> Int64? {
        guard let value = fields.first(.age) else { return nil }
        var cursor = FieldCursor(value)
        cursor.skipWhitespace()
        guard let age = cursor.takeNumber(ceiling: ceiling) else { return nil }
        cursor.skipWhitespace()
        return cursor.isAtEnd || cursor.peek == UInt8(ascii: ",") ? age : nil
    }
}

/// Which request fields a response was selected by (RFC 9110 §12.5.5).
enum VaryField: Equatable {
    /// Anything may have played a part: no other request is ever matched. So is a value that can't be read.
    case everything
    /// These fields, in lower case, sorted, each once.
    case names([String])

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
