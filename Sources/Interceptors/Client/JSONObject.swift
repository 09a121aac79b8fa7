/// A JSON object written as a literal, for content that isn't worth a type.
///
/// ```swift
/// try await api.post("/orders", body: .json(["limit": 20, "title": title, "tags": ["a", "b"], "note": nil]))
/// ```
/// Each value is encoded by the client's encoder, so dates follow its strategy, and names follow its key strategy. `nil` is
/// `null`. If the values of a nested object have several types, write `JSONObject` before it:
/// `"owner": JSONObject(["id": 7, "name": "Ada"])`.
///
/// If a name repeats, the last value counts.
public struct JSONObject: Encodable, Sendable, ExpressibleByDictionaryLiteral {
    private var members: [(name: String, value: (any Encodable & Sendable)?)]

    /// Creates an object from a literal's names and values.
    public init(dictionaryLiteral elements: (String, (any Encodable & Sendable)?)...) {
        members = elements.map { (name: $0.0, value: $0.1) }
    }

    /// Creates an object; by default without members.
    public init(_ object: JSONObject = [:]) { self = object }

    /// Sets the value of a name; `nil` is `null`.
    public mutating func set(_ name: String, to value: (any Encodable & Sendable)?) {
        members.removeAll { $0.name == name }
        members.append((name: name, value: value))
    }

    /// Encodes the names and values as a keyed container.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members {
            let key = Name(stringValue: name)
            if let value { try container.encode(value, forKey: key) } else { try container.encodeNil(forKey: key) }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension JSONObject: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The names of the members, without values, which may be secret.
    public var description: String { "JSON object with \(members.map(\.name).joined(separator: ", "))" }
    /// Equal to ``description``.
    public var debugDescription: String { description }
    /// A mirror that shows only ``description``.
    public var customMirror: Mirror { Mirror(self, children: ["names": description], displayStyle: .struct) }
}
