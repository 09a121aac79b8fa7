/// Any JSON value, by its meaning: members have no order, and a number has the precision of `Double` unless it is an integer.
enum StubJSON: Sendable {
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
        let value = try decoder.singleValueContainer()
        if value.decodeNil() {
            self = .null
        } else if (try? decoder.container(keyedBy: AnyKey.self)) != nil {
            self = .object(try value.decode([String: StubJSON].self))
        } else if (try? decoder.unkeyedContainer()) != nil {
            self = .array(try value.decode([StubJSON].self))
        } else if let text = try? value.decode(String.self) {
            self = .string(text)
        } else if let bool = try? value.decode(Bool.self) {
            self = .bool(bool)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let unsigned = try? value.decode(UInt64.self) {
            self = .unsigned(unsigned)
        } else {
            self = .number(try value.decode(Double.self))
        }
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
