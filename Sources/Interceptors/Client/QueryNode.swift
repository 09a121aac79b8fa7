internal import Foundation

/// A value on its way to becoming a query: a text, a list, or named members. `nil` content is an encoded `nil`.
///
/// A class, because encoding containers fill it after it was added to its parent. Only the task that encodes uses it.
final class QueryNode {
    enum Content {
        case text(String)
        case elements([QueryNode])
        case members([(name: String, node: QueryNode)])
    }

    var content: Content?

    var text: String? { if case .text(let text)? = content { text } else { nil } }

    static func encoding(
        _ value: any Encodable,
        _ options: HTTPQueryEncoder,
        _ path: [any CodingKey]
    ) throws -> QueryNode {
        let node = QueryNode()
        switch value {
        case let date as Date: node.content = .text(options.dates.text(date))
        case let bytes as Data: node.content = .text(bytes.base64EncodedString())
        case let url as URL: node.content = .text(url.absoluteString)
        case let number as Decimal: node.content = .text(number.description)
        default: try value.encode(to: NodeEncoder(node: node, options: options, codingPath: path))
        }
        return node
    }

    func append(_ node: QueryNode) {
        if case .elements(let nodes)? = content {
            content = .elements(nodes + [node])
        } else {
            content = .elements([node])
        }
    }

    func set(_ name: String, to node: QueryNode) {
        guard case .members(var members)? = content else { return content = .members([(name, node)]) }
        members.removeAll { $0.name == name }
        members.append((name, node))
        content = .members(members)
    }
}

private struct NodeEncoder: Encoder {
    let node: QueryNode
    let options: HTTPQueryEncoder
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if node.content == nil { node.content = .members([]) }
        return KeyedEncodingContainer(Members(node: node, options: options, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if node.content == nil { node.content = .elements([]) }
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
        let child = QueryNode()
        node.set(options.keys.name(key.stringValue), to: child)
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

    var count: Int { if case .elements(let nodes)? = node.content { nodes.count } else { 0 } }

    private func element() -> NodeEncoder {
        let child = QueryNode()
        let path = codingPath + [QueryKey(intValue: count)]
        node.append(child)
        return NodeEncoder(node: child, options: options, codingPath: path)
    }

    func encodeNil() { _ = element() }

    func encode<Value: Encodable>(_ value: Value) throws {
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
    func encode(_ value: Bool) { node.content = .text(options.bools.text(value)) }
    func encode(_ value: String) { node.content = .text(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        // Numbers encode themselves as a single value, which would lead back here.
        if let number = value as? any URLValue {
            node.content = .text(number.urlText)
        } else {
            node.content = try QueryNode.encoding(value, options, codingPath).content
        }
    }
}

private struct QueryKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}
