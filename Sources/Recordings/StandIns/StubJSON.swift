/// Any JSON value, by its meaning: members have no order, and a number has the precision of `Double` unless it is an integer.
enum StubJSON: Sendable, Equatable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([StubJSON])
    case object([String: StubJSON])

    /// Deeper values are refused, because decoding one level takes stack that a thread may not have.
    static let maxDepth = 64
}

extension StubJSON: Codable {
    init(from decoder: any Decoder) throws {
        guard decoder.codingPath.count <= Self.maxDepth else {
            let text = "The value is nested in more than \(Self.maxDepth) levels."
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: text))
        }
        if let container = try? decoder.container(keyedBy: StubKey.self) {
            self = .object(try Self.members(of: container))
        } else if let container = try? decoder.unkeyedContainer() {
            self = .array(try Self.elements(of: container))
        } else {
            self = try Self.scalar(in: decoder.singleValueContainer())
        }
    }

    private static func members(of container: KeyedDecodingContainer<StubKey>) throws -> [String: StubJSON] {
        var members: [String: StubJSON] = [:]
        for key in container.allKeys { members[key.stringValue] = try container.decode(Self.self, forKey: key) }
        return members
    }

    private static func elements(of container: any UnkeyedDecodingContainer) throws -> [StubJSON] {
        var container = container
        var elements: [StubJSON] = []
        while !container.isAtEnd { elements.append(try container.decode(Self.self)) }
        return elements
    }

    private static func scalar(in container: any SingleValueDecodingContainer) throws -> StubJSON {
        if container.decodeNil() { return .null }
        if let value = try? container.decode(String.self) { return .string(value) }
        if let value = try? container.decode(Bool.self) { return .bool(value) }
        if let value = try? container.decode(Int64.self) { return .integer(value) }
        if let value = try? container.decode(UInt64.self) { return .unsigned(value) }
        return .number(try container.decode(Double.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}
