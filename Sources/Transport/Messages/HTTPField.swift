internal import InterceptorsSyntax

/// One header or trailer field: a name and a value (RFC 9110 §5).
public struct HTTPField: Sendable, Hashable {
    /// The value, without leading and trailing whitespace.
    public let value: String
    /// The name, in its original spelling.
    public let name: Name
    /// Whether the name is a token and the value contains no control character except tab.
    ///
    /// An invalid field can be stored, so that no assignment ever traps, but is never sent: every transport refuses it with
    /// ``HTTPErrorCode/invalidRequest``.
    public let isValid: Bool
    /// Whether the received octets aren't UTF-8, so that ``value`` is their reading as ISO 8859-1. Such a value, sent again,
    /// would have other octets.
    package let isTranscoded: Bool

    /// Creates a field from untrusted text. Returns `nil` if the name isn't a token, or if the value contains CR, LF, NUL or
    /// any other control character except tab (RFC 9110 §5.5).
    public init?(name: Name, value: String) {
        self.init(unchecked: name, value)
        guard isValid else { return nil }
    }

    /// Why the field must not be sent; `nil` if it may.
    var invalidity: String? {
        if isValid { return nil }
        guard name.isValid else { return "\(String(reflecting: name.rawName)) is not a field name." }
        return "The value of the field \(name) holds a control character such as CR, LF or NUL."
    }

    /// Creates a field without checking it: ``isValid`` tells whether it may be sent.
    ///
    /// Use it for received fields and for fields that are checked before sending.
    public init(unchecked name: Name, _ value: String) {
        self.name = name
        let (needsTrimming, hasControl) = Self.inspect(value)
        self.value = needsTrimming ? Self.trimmed(value) : value
        self.isValid = name.isValid && !hasControl
        isTranscoded = false
    }

    /// Creates a field whose value is already trimmed and scanned, or is known to need neither.
    package init(name: Name, trimmed value: String, hasControl: Bool, isTranscoded: Bool = false) {
        self.name = name
        self.value = value
        isValid = name.isValid && !hasControl
        self.isTranscoded = isTranscoded
    }

    /// Whether both names are equal without regard to case, and both values byte by byte.
    public static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && ASCII.isSame(left.value, right.value)
    }

    /// Hashes the name and the value.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }

    private static func inspect(_ value: String) -> (needsTrimming: Bool, hasControl: Bool) {
        if let found = value.utf8.withContiguousStorageIfAvailable({ inspect(UnsafeRawBufferPointer($0)) }) {
            return found
        }
        return Array(value.utf8).withUnsafeBytes { inspect($0) }
    }

    private static func inspect(_ bytes: UnsafeRawBufferPointer) -> (needsTrimming: Bool, hasControl: Bool) {
        guard let first = bytes.first, let last = bytes.last else { return (false, false) }
        return (isWhitespace(first) || isWhitespace(last), ASCII.hasControl(bytes))
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func trimmed(_ value: String) -> String {
        let start = value.utf8.drop(while: isWhitespace)
        guard let last = start.lastIndex(where: { !isWhitespace($0) }) else { return "" }
        return String(start[...last]) ?? ""
    }
}

extension HTTPField: CustomStringConvertible {
    /// The field as it would appear in a message, with a sensitive value redacted and control characters escaped.
    public var description: String { PrintableText.line("\(name): \(Redaction.standard.value(of: self))") }
}
