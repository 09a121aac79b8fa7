internal import Foundation

/// The texts of a value on their way to becoming a query, in the order in which the value encodes them.
///
/// A class, because each encoding container of a value adds to it. Only the task that encodes uses it.
final class QueryTexts {
    enum Step: Equatable {
        case member(String)
        case element(Int)

        var isMember: Bool { if case .member = self { true } else { false } }
        var name: String {
            switch self {
            case .member(let name): name
            case .element(let index): "\(index)"
            }
        }
    }

    let options: HTTPQueryEncoder
    /// A `nil` text is an encoded `nil`.
    var all: [(path: [Step], text: String?)] = []

    init(_ options: HTTPQueryEncoder) { self.options = options }
}

/// Adds the texts of a value under the path of the value.
struct QueryValueEncoder: Encoder, SingleValueEncodingContainer {
    let texts: QueryTexts
    let path: [QueryTexts.Step]
    /// The keys as the value spells them, for its errors.
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members(outer: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        // Even an empty array is a value without a name.
        if path.isEmpty { encodeNil() }
        return Elements(outer: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() { add(nil) }
    func encode<Value: Encodable>(_ value: Value) throws { try encode(any: value) }

    /// Adds a value. Bools, dates and data follow the encoder's formats, and a ``URLValue`` is its text.
    // The compiler makes a copy of a generic method for each type of the standard library.
    @inline(never)
    func encode(any value: any Encodable) throws {
        switch value {
        case let flag as Bool: add(texts.options.boolsAsNumbers ? (flag ? "1" : "0") : "\(flag)")
        case let date as Date: add(texts.options.dates.text(date))
        case let bytes as Data: add(bytes.base64EncodedString())
        case let url as URL: add(url.absoluteString)
        case let value as any URLValue: add(value.urlText)
        case let dictionary as any Dictionaries:
            for (name, member) in dictionary.sortedMembers {
                try inside(.member(name), QueryKey(.member(name))).encode(any: member)
            }
        default: try value.encode(to: self)
        }
    }

    private func add(_ text: String?) { texts.all.append((path, text)) }

    fileprivate func inside(_ step: QueryTexts.Step, _ key: any CodingKey) -> Self {
        Self(texts: texts, path: path + [step], codingPath: codingPath + [key])
    }
}

/// A dictionary with text keys. Its names are data, so they stay as they are; sorted, because its own order changes from one
/// run to the next.
private protocol Dictionaries {
    var sortedMembers: [(name: String, value: any Encodable)] { get }
}

extension Dictionary: Dictionaries where Key == String, Value: Encodable {
    fileprivate var sortedMembers: [(name: String, value: any Encodable)] {
        sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let outer: QueryValueEncoder
    var codingPath: [any CodingKey] { outer.codingPath }

    private func member(_ key: any CodingKey) -> QueryValueEncoder {
        outer.inside(.member(outer.texts.options.keys.name(key.stringValue)), key)
    }

    func encodeNil(forKey key: Key) { member(key).encodeNil() }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try member(key).encode(any: value) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { member(QueryKey(.member("super"))) }
    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

private struct Elements: UnkeyedEncodingContainer {
    let outer: QueryValueEncoder
    private(set) var count = 0
    var codingPath: [any CodingKey] { outer.codingPath }

    init(outer: QueryValueEncoder) { self.outer = outer }

    private mutating func next() -> QueryValueEncoder {
        defer { count += 1 }
        return outer.inside(.element(count), QueryKey(.element(count)))
    }

    mutating func encodeNil() { next().encodeNil() }
    mutating func encode<Value: Encodable>(_ value: Value) throws { try next().encode(any: value) }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { next().unkeyedContainer() }
    mutating func superEncoder() -> any Encoder { next() }
}

private struct QueryKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ step: QueryTexts.Step) {
        stringValue = step.name
        intValue = if case .element(let index) = step { index } else { nil }
    }
    init?(stringValue: String) { nil }
    init?(intValue: Int) { nil }
}
