/// The fields of a message: an ordered multimap from case-insensitive names to values (RFC 9110 §5).
///
/// Order, duplicates and the spelling of names are kept: two `Set-Cookie` fields stay two.
///
/// ```swift
/// var fields: HTTPFields = [.accept: "application/json"]
/// fields["X-Client"] = "ios"                          // replaces what is there
/// fields.append(.cacheControl, "no-cache")            // adds another
/// let cookies = fields[values: .setCookie]            // each on its own
/// ```
public struct HTTPFields: Sendable, Hashable {
    @usableFromInline var fields: [HTTPField] = []

    /// No fields.
    public init() {}

    /// The given fields, in their order.
    public init(_ fields: some Sequence<HTTPField>) {
        self.fields = Array(fields)
    }

    /// The value of a field, `nil` where there is none.
    ///
    /// Several values of one name are joined by `", "` (RFC 9110 §5.3), those of `Cookie` by `"; "`. `Set-Cookie`, which
    /// can't be joined, gives its first value: read it by ``subscript(values:)``.
    /// Setting replaces every field of that name by one, at the place of the first; `nil` removes them.
    public subscript(name: HTTPField.Name) -> String? {
        get {
            guard let first = fields.firstIndex(where: { $0.name == name }) else { return nil }
            let rest = fields[(first + 1)...]
            guard rest.contains(where: { $0.name == name }), name != .setCookie else { return fields[first].value }
            return self[values: name].joined(separator: name == .cookie ? "; " : ", ")
        }
        set {
            if let newValue {
                replace(name, with: HTTPField(unchecked: name, newValue))
            } else {
                fields.removeAll { $0.name == name }
            }
        }
    }

    /// Every value of a name, in order; empty where there is none. Setting replaces them all.
    public subscript(values name: HTTPField.Name) -> [String] {
        get { fields.lazy.filter { $0.name == name }.map(\.value) }
        set {
            fields.removeAll { $0.name == name }
            for value in newValue { append(name, value) }
        }
    }

    /// Adds a field after those that are there.
    public mutating func append(_ field: HTTPField) { append(taking: field) }

    /// The same, without a copy where the caller needs the field no longer.
    mutating func append(taking field: consuming HTTPField) {
        // One allocation serves what most requests carry, instead of one for 1, 2, 4 and 8 fields.
        if fields.isEmpty { fields.reserveCapacity(8) }
        fields.append(field)
    }

    /// Adds two fields, for which room is made at once.
    package mutating func append(_ first: HTTPField, _ second: HTTPField) {
        fields.reserveCapacity(fields.count + 2)
        fields.append(first)
        fields.append(second)
    }

    /// Adds a text to the value of the last field, all of which is made anew.
    mutating func continueLast(with text: String) {
        guard let last = fields.popLast() else { return }
        fields.append(HTTPField(unchecked: last.name, last.value + text))
    }

    /// Adds a field after those that are there.
    public mutating func append(_ name: HTTPField.Name, _ value: String) {
        append(HTTPField(unchecked: name, value))
    }

    /// The value of the first field of this name, whatever comes after it.
    package func first(_ name: HTTPField.Name) -> String? {
        fields.first { $0.name == name }?.value
    }

    /// Whether there is a field of this name.
    public func contains(_ name: HTTPField.Name) -> Bool {
        fields.contains { $0.name == name }
    }

    /// Whether there is a field of one of these names: all are looked for at once.
    package func contains(anyOf names: [HTTPField.Name]) -> Bool {
        for index in fields.indices {
            for name in names where fields[index].name == name { return true }
        }
        return false
    }

    /// Removes every field of this name.
    public mutating func remove(_ name: HTTPField.Name) {
        fields.removeAll { $0.name == name }
    }

    /// Removes every field that matches.
    public mutating func removeAll(where matches: (HTTPField) throws -> Bool) rethrows {
        try fields.removeAll(where: matches)
    }

    /// Adds those of `others` whose names are not there yet.
    public mutating func addMissing(_ others: HTTPFields) {
        // Of the fields themselves: a copy of them to compare with would have to be made, as soon as one is added.
        let count = fields.count
        for field in others where !fields[..<count].contains(where: { $0.name == field.name }) { append(field) }
    }

    /// Takes over all of `others`: for each of their names, what was there is replaced.
    public mutating func override(with others: HTTPFields) {
        guard !others.isEmpty else { return }
        fields.removeAll { others.contains($0.name) }
        for field in others { append(field) }
    }

    /// The first field that must not be sent, if there is one.
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
    /// The field at a position.
    @inlinable public subscript(position: Int) -> HTTPField { fields[position] }
}

extension HTTPFields: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Fields in the order of the literal; a name may stand there more than once.
    public init(dictionaryLiteral elements: (HTTPField.Name, String)...) {
        fields = elements.map { HTTPField(unchecked: $0, $1) }
    }

    /// Fields in the order of the literal.
    public init(arrayLiteral elements: HTTPField...) {
        fields = elements
    }
}

extension HTTPFields: CustomStringConvertible {
    /// A line for each field, with the values of sensitive ones redacted.
    public var description: String { fields.map(\.description).joined(separator: "\n") }
}
