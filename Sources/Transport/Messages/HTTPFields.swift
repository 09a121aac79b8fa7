/// The fields of a message: an ordered multimap from case-insensitive names to values (RFC 9110 §5).
///
/// The order of fields, duplicates and the spelling of names are kept: two `Set-Cookie` fields stay two.
///
/// ```swift
/// var fields: HTTPFields = [.accept: "application/json"]
/// fields["X-Client"] = "ios"                          // replaces existing values
/// fields.append(.cacheControl, "no-cache")            // keeps existing values
/// let cookies = fields[values: .setCookie]            // a separate value for each field
/// ```
public struct HTTPFields: Sendable, Hashable {
    @usableFromInline var fields: [HTTPField] = []

    /// Creates an empty collection.
    public init() {}

    /// Creates a collection of the given fields, in order.
    public init(_ fields: some Sequence<HTTPField>) {
        self.fields = Array(fields)
    }

    /// Creates a collection from a literal, in its own order: `HTTPFields(["A": "1", "A": "2"])`.
    public init(_ fields: HTTPFields) { self = fields }

    /// Creates a collection from a dictionary, whose names are sorted. A request with a name or value that isn't valid isn't sent.
    @_disfavoredOverload  // A literal becomes fields in its own order, and may repeat names.
    public init(_ dictionary: [String: String]) {
        fields = dictionary.sorted { $0.key < $1.key }.map { HTTPField(unchecked: HTTPField.Name(unchecked: $0), $1) }
    }

    /// The value of a field, or `nil` if there is no field with that name.
    ///
    /// Several values are joined by `", "` (RFC 9110 §5.3), or by `"; "` for `Cookie`. `Set-Cookie` can't be joined and returns
    /// its first value: read all of them through ``subscript(values:)``.
    ///
    /// Setting replaces every field of that name by a single field, at the index of the first. Setting `nil` removes them.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            let rest = fields[(first + 1)...]
            guard rest.contains(where: { $0.name == name }), name != .setCookie else { return fields[first].value }
            return self[values: name].joined(separator: name == .cookie ? "; " : ", ")
        }
        set {
            guard let newValue else { return remove(name) }
            replace(name, with: HTTPField(unchecked: name, newValue))
        }
    }

    /// All values of a name, in order. Empty if there are none. Setting replaces them all.
    public subscript(values name: HTTPField.Name) -> [String] {
        get { fields.lazy.filter { $0.name == name }.map(\.value) }
        set {
            fields.removeAll { $0.name == name }
            for value in newValue { append(name, value) }
        }
    }

    /// Adds a field at the end.
    public mutating func append(_ field: HTTPField) { append(taking: field) }

    /// Adds a field at the end without copying, if the caller no longer needs it.
    mutating func append(taking field: consuming HTTPField) {
        // Most requests have at most 8 fields: one allocation replaces four, for 1, 2, 4 and 8 fields.
        if fields.isEmpty { fields.reserveCapacity(8) }
        fields.append(field)
    }

    /// Adds two fields, reserving their space at once.
    package mutating func append(_ first: HTTPField, _ second: HTTPField) {
        fields.reserveCapacity(fields.count + 2)
        fields.append(first)
        fields.append(second)
    }

    /// Appends a text to the value of the last field, by building a new field.
    mutating func continueLast(with text: String, isTranscoded: Bool) {
        guard let last = fields.popLast() else { return }
        let whole = HTTPField(unchecked: last.name, last.value + text)
        fields.append(
            HTTPField(
                name: last.name,
                trimmed: whole.value,
                hasControl: !whole.isValid,
                isTranscoded: last.isTranscoded || isTranscoded
            )
        )
    }

    /// Adds a field at the end.
    public mutating func append(_ name: HTTPField.Name, _ value: String) {
        append(HTTPField(unchecked: name, value))
    }

    /// The value of the first field with this name, even if more follow.
    package func first(_ name: HTTPField.Name) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// Whether there is a field with this name.
    public func contains(_ name: HTTPField.Name) -> Bool {
        fields.contains { $0.name == name }
    }

    /// Whether there is a field with any of these names, found in a single pass.
    package func contains(anyOf names: [HTTPField.Name]) -> Bool {
        for index in fields.indices {
            for name in names where fields[index].name == name { return true }
        }
        return false
    }

    /// Removes every field with this name.
    public mutating func remove(_ name: HTTPField.Name) {
        fields.removeAll { $0.name == name }
    }

    /// Removes every field that matches.
    public mutating func removeAll(where matches: (HTTPField) throws -> Bool) rethrows {
        try fields.removeAll(where: matches)
    }

    /// Adds each field of `others` whose name isn't present yet.
    public mutating func addMissing(_ others: HTTPFields) {
        // Compares with the original fields in place: holding a copy of the array would force a copy-on-write at the first
        // append.
        let count = fields.count
        for field in others where !fields[..<count].contains(where: { $0.name == field.name }) { append(field) }
    }

    /// Adds all fields of `others`, first removing every field whose name they contain.
    public mutating func override(with others: HTTPFields) {
        guard !others.isEmpty else { return }
        fields.removeAll { others.contains($0.name) }
        for field in others { append(field) }
    }

    /// Whether both share their storage, so that they certainly hold the same fields. Takes no time that grows with them.
    package func isIdentical(to other: HTTPFields) -> Bool {
        fields.withUnsafeBufferPointer { mine in
            other.fields.withUnsafeBufferPointer { mine.baseAddress == $0.baseAddress && mine.count == $0.count }
        }
    }

    /// The first field that must not be sent, if any.
    var firstInvalid: HTTPField? { fields.first { !$0.isValid } }

    private mutating func replace(_ name: HTTPField.Name, with field: HTTPField) {
        guard let first = fields.firstIndex(where: { $0.name == name }) else { return append(field) }
        fields[first] = field
        guard fields[(first + 1)...].contains(where: { $0.name == name }) else { return }
        let kept = fields[...first]
        fields = kept + fields[(first + 1)...].filter { $0.name != name }
    }
}

extension HTTPFields: RandomAccessCollection {
    /// The index of the first field.
    @inlinable public var startIndex: Int { fields.startIndex }
    /// The index after the last field.
    @inlinable public var endIndex: Int { fields.endIndex }
    /// The field at an index.
    @inlinable public subscript(position: Int) -> HTTPField { fields[position] }
}

extension HTTPFields: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates fields in the order of the literal. Names may repeat.
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        fields = elements.map { HTTPField(unchecked: $0, $1) }
    }

    /// Creates fields in the order of the literal.
    public init(arrayLiteral elements: HTTPField...) {
        fields = elements
    }
}

extension HTTPFields: CustomStringConvertible {
    /// One line for each field, with sensitive values redacted.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}
