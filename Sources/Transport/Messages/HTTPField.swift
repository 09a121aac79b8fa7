/// One header or trailer field: a name and a value (RFC 9110 §5).
public struct HTTPField: Sendable, Hashable {
    /// The value, without leading and trailing whitespace.
    public let value: String
    /// The name, in its original spelling.
    public let name: Name
    /// Whether the name is a token and the value holds no control character but tab.
    ///
    /// A field that isn't valid can be held, so that no assignment ever traps, but it is never sent:
    /// every transport refuses it with ``TransportError/Code/invalidRequest``.
    public let isValid: Bool

    /// A field from untrusted text, or `nil` if the value holds CR, LF, NUL or another control character but tab
    /// (RFC 9110 §5.5).
    public init?(name: Name, value: String) {
        self.init(unchecked: name, value)
        guard isValid else { return nil }
    }

    /// A field as it is, whose ``isValid`` tells whether it may be sent.
    ///
    /// For what was received, and for what is checked before it is sent.
    public init(unchecked name: Name, _ value: String) {
        self.name = name
        let (needsTrimming, hasControl) = Self.inspect(value)
        self.value = needsTrimming ? Self.trimmed(value) : value
        self.isValid = name.isValid && !hasControl
    }

    /// A field whose value was trimmed and looked through already, or was made such that there is nothing to find.
    package init(name: Name, trimmed value: String, hasControl: Bool) {
        self.name = name
        self.value = value
        isValid = name.isValid && !hasControl
    }

    /// Names compare without regard to case, values byte by byte.
    public static func == (left: Self, right: Self) -> Bool {
        left.name == right.name && ASCII.isSame(left.value, right.value)
    }

    /// Hashes what `==` compares.
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
    /// The field as it would stand in a message, with the value of a sensitive field redacted and control characters
    /// escaped.
    public var description: String { PrintableText.line("\(name): \(Redaction.standard.value(of: self))") }
}
