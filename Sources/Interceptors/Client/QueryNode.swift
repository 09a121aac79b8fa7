internal import Foundation

/// A value on its way to becoming a query: a text, a list, or named members. `nil` content is an encoded `nil`.
///
/// A class, because encoding containers fill it after it was added to its parent. Only the task that encodes uses it.
final class QueryNode {
    enum Content { case text(String), elements, members }

    var content: Content?
    private(set) var elements: [QueryNode] = []
    private(set) var members: [(name: String, node: QueryNode)] = []
    private var indices: [String: Int] = [:]

    var text: String? { if case .text(let text)? = content { text } else { nil } }

    /// The node of a value. Bools, dates and data follow the encoder's formats, and a ``URLValue`` is its text.
    static func encoding(
        _ value: any Encodable,
        _ options: HTTPQueryEncoder,
        _ path: [any CodingKey]
    ) throws -> QueryNode {
        let node = QueryNode()
        switch value {
        case let flag as Bool: node.content = .text(options.text(of: flag))
        case let date as Date: node.content = .text(options.dates.text(date))
        case let bytes as Data: node.content = .text(bytes.base64EncodedString())
        case let url as URL: node.content = .text(url.absoluteString)
        case let value as any URLValue: node.content = .text(value.urlText)
        case let dictionary as any Dictionaries:
            node.content = .members
            for (name, member) in dictionary.sortedMembers {
                node.set(name, to: try encoding(member, options, path + [QueryKey(stringValue: name)]))
            }
        default: try value.encode(to: NodeEncoder(node: node, options: options, codingPath: path))
        }
        return node
    }

    func append(_ node: QueryNode) {
        content = .elements
        elements.append(node)
    }

    func set(_ name: String, to node: QueryNode) {
        content = .members
        if let index = indices[name] { return members[index].node = node }
        indices[name] = members.count
        members.append((name, node))
    }

    /// The node of a name, which is made if it isn't there.
    func member(_ name: String) -> QueryNode {
        if let index = indices[name] { return members[index].node }
        let node = QueryNode()
        set(name, to: node)
        return node
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

private struct NodeEncoder: Encoder {
    let node: QueryNode
    let options: HTTPQueryEncoder
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if node.content == nil { node.content = .members }
        return KeyedEncodingContainer(Members(node: node, options: options, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if node.content == nil { node.content = .elements }
        return Elements(node: node, options: options, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        Single(node: node, options: options, codingPath: codingPath)
    }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: QueryNode
    let options: HTTPQueryEncoder
    let codingPath: [any CodingKey]

    private func member(_ key: any CodingKey) -> NodeEncoder {
        let child = node.member(options.keys.name(key.stringValue))
        return NodeEncoder(node: child, options: options, codingPath: codingPath + [key])
    }

    func encodeNil(forKey key: Key) { _ = member(key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        node.set(options.keys.name(key.stringValue), to: try .encoding(value, options, codingPath + [key]))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type,
        forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        member(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { member(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { member(QueryKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { member(key) }
}

private struct Elements: UnkeyedEncodingContainer {
    let node: QueryNode
    let options: HTTPQueryEncoder
    let codingPath: [any CodingKey]

    var count: Int { node.elements.count }

    private func element() -> NodeEncoder {
        let child = QueryNode()
        let path = codingPath + [QueryKey(intValue: count)]
        node.append(child)
        return NodeEncoder(node: child, options: options, codingPath: path)
    }

    func encodeNil() { _ = element() }

    func encode<Value: Encodable>(_ value: Value) throws { try encode(any: value) }

    // The compiler makes a copy of the generic method for each type of the standard library.
    @inline(never)
    private func encode(any value: any Encodable) throws {
        node.append(try .encoding(value, options, codingPath + [QueryKey(intValue: count)]))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        element().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { element().unkeyedContainer() }
    func superEncoder() -> any Encoder { element() }
}

private struct Single: SingleValueEncodingContainer {
    let node: QueryNode
    let options: HTTPQueryEncoder
    let codingPath: [any CodingKey]

    func encodeNil() { node.content = nil }

    func encode<Value: Encodable>(_ value: Value) throws { try encode(any: value) }

    // The compiler makes a copy of the generic method for each type of the standard library.
    @inline(never)
    private func encode(any value: any Encodable) throws {
        let encoded = try QueryNode.encoding(value, options, codingPath)
        node.content = encoded.content
        for element in encoded.elements { node.append(element) }
        for (name, member) in encoded.members { node.set(name, to: member) }
    }
}

private struct QueryKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
