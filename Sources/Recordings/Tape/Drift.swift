internal import Foundation
internal import InterceptorsArchives
internal import InterceptorsTransport

/// How an entry that was recorded again differs from the old one, in what a client relies on: the status, the content type, and
/// the shape of JSON. Values may differ.
enum Drift {
    /// The difference in words; `nil` if the two agree.
    static func difference(from old: RecordedExchange, to new: RecordedExchange) -> String? {
        let (before, after) = (result(of: old), result(of: new))
        guard before == after else { return "was \(before), is \(after)" }
        guard let old = old.response, let new = new.response else { return nil }
        let (oldType, newType) = (type(of: old), type(of: new))
        guard oldType == newType else { return "content type was \(named(oldType)), is \(named(newType))" }
        guard MediaType(newType ?? "").isJSON, let oldShape = JSONShape(old.content),
            let newShape = JSONShape(new.content), let text = oldShape.difference(to: newShape, at: "$")
        else { return nil }
        return Redaction.standard.text("JSON \(text)")
    }

    private static func result(of exchange: RecordedExchange) -> String {
        let status = exchange.response.map { "status \($0.status.code)" }
        // A reader that discards the rest says nothing about the server.
        let failure = exchange.failure.flatMap { $0.isOfReader ? nil : "failure \($0.code)" }
        return [status, failure].compactMap(\.self).joined(separator: " with ")
    }

    private static func type(of response: RecordedExchange.Response) -> String? {
        response.headerFields[.contentType].map { MediaType($0).essence }
    }

    private static func named(_ type: String?) -> String { type ?? "missing" }
}

/// The names and kinds in a JSON text, without its values.
///
/// `null` and an empty array say nothing about what else may be there, so they agree with everything.
indirect enum JSONShape: Equatable {
    case unknown
    case string, number, bool
    case array(JSONShape)
    case object([String: JSONShape])
    /// Elements of one array, of several kinds.
    case mixed

    /// The shape of a text; `nil` if it isn't JSON.
    init?(_ text: Data) {
        guard let value = try? OrderedJSON(parsing: text) else { return nil }
        self.init(value)
    }

    private init(_ value: OrderedJSON) {
        switch value {
        case .null: self = .unknown
        case .string: self = .string
        case .number: self = .number
        case .bool: self = .bool
        case .array(let elements): self = .array(elements.reduce(.unknown) { $0.joined(with: JSONShape($1)) })
        case .object(let members):
            self = .object(Dictionary(members.map { ($0.name, JSONShape($0.value)) }) { $1 })
        }
    }

    /// The shape of both, as elements of one array. Members that only some objects have are kept.
    private func joined(with other: JSONShape) -> JSONShape {
        switch (self, other) {
        case (.unknown, let shape), (let shape, .unknown): shape
        case (.array(let one), .array(let other)): .array(one.joined(with: other))
        case (.object(let one), .object(let other)): .object(one.merging(other) { $0.joined(with: $1) })
        default: self == other ? self : .mixed
        }
    }

    private var name: String {
        switch self {
        case .unknown: "null"
        case .string: "a string"
        case .number: "a number"
        case .bool: "true or false"
        case .array: "an array"
        case .object: "an object"
        case .mixed: "of several kinds"
        }
    }

    /// The first difference, with its path.
    func difference(to other: JSONShape, at path: String) -> String? {
        switch (self, other) {
        case (.unknown, _), (_, .unknown): return nil
        case (.array(let one), .array(let other)): return one.difference(to: other, at: path + "[]")
        case (.object(let one), .object(let other)):
            for name in Set(one.keys).union(other.keys).sorted() {
                let path = "\(path).\(name)"
                guard let before = one[name] else { return "\(path) is new" }
                guard let after = other[name] else { return "\(path) is missing" }
                if let text = before.difference(to: after, at: path) { return text }
            }
            return nil
        default: return self == other ? nil : "\(path) was \(name), is \(other.name)"
        }
    }
}
