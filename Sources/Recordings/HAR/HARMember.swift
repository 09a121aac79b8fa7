internal import Foundation
internal import InterceptorsArchives
internal import InterceptorsTransport

/// A value in an archive and its path, which errors name.
struct HARMember {
    let value: OrderedJSON
    let path: String

    init(_ value: OrderedJSON, _ path: String) {
        self.value = value
        self.path = path
    }

    static func failure(_ reason: String, _ cause: (any Error)? = nil) -> TransportError {
        TransportError(.unreadableFile, "The HTTP Archive can't be read: " + reason, underlying: cause)
    }

    func isNo(_ kind: String) -> TransportError { Self.failure("\(path) is not \(kind).") }

    /// A member; `nil` if it is missing or `null`.
    func optional(_ name: String) -> HARMember? {
        switch value[name] {
        case nil, .null?: nil
        case let value?: HARMember(value, path == "archive" ? name : "\(path).\(name)")
        }
    }

    func member(_ name: String) throws -> HARMember {
        guard case .object = value else { throw isNo("an object") }
        guard let member = optional(name) else { throw Self.failure("\(path) has no member \"\(name)\".") }
        return member
    }

    func elements() throws -> [HARMember] {
        guard case .array(let elements) = value else { throw isNo("an array") }
        return elements.enumerated().map { HARMember($1, "\(path)[\($0)]") }
    }

    func string() throws -> String {
        guard case .string(let text) = value else { throw isNo("a string") }
        return text
    }

    func bool() throws -> Bool {
        guard case .bool(let bool) = value else { throw isNo("true or false") }
        return bool
    }

    func number() throws -> Double {
        guard case .number(let text) = value, let number = Double(text), number.isFinite else { throw isNo("a number") }
        return number
    }

    func integer() throws -> Int {
        let number = try number()
        guard let integer = Int(exactly: number) else { throw isNo("a whole number") }
        return integer
    }

    /// A number of milliseconds, limited to 30 years. A negative number, HAR's "unknown", counts as zero.
    func milliseconds() throws -> Duration {
        .microseconds(Int64(min(max(try number(), 0) * 1_000, 1e15).rounded()))
    }

    func base64() throws -> Data {
        let text = try string()
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else { throw isNo("base64") }
        return data
    }

    /// The text of this object as bytes: the member `text`, under the encoding that another member names.
    func content(encoding name: String) throws -> Data? {
        guard let text = optional("text") else { return nil }
        guard let encoding = optional(name) else { return Data(try text.string().utf8) }
        switch try encoding.string().lowercased() {
        case "base64": return try text.base64()
        case "": return Data(try text.string().utf8)
        default: throw encoding.isNo("base64, the only encoding of an archive")
        }
    }
}
