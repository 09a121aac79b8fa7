public import Foundation

/// What wraps a payload: a code and a message beside it, in the same JSON body or in the response's header fields.
///
/// A closure given to ``Success/custom(_:)`` decides by it.
public struct Envelope: Sendable {
    /// The code, where there is one: a number, a string or a boolean. `null` is none, and neither is an object or array.
    public let code: Code?
    /// The status of the response that it came in.
    public let status: HTTPResponse.Status
    /// The header fields of the response that it came in.
    public let headerFields: HTTPFields

    let isJSON: Bool
    let body: Data
    let flag: String?
    let payloadPlace: Range<Int>?
    private let messagePlace: Range<Int>?
    private let messageField: String?

    /// What the server says. A message that is an object or array is given as its JSON text.
    public var message: String? {
        guard let messagePlace else { return messageField }
        return body.reading(messagePlace, JSONText.text)
    }

    /// The payload's bytes, copied; `nil` where there is none. With an envelope of header fields it is the body, if that
    /// is in memory.
    public var payload: Data? {
        guard isJSON else { return body }
        return payloadPlace.map { body.bytes(at: $0) }
    }

    /// What else the envelope holds: the text of the string, number or boolean at a path, `nil` for all else.
    ///
    /// With an envelope of header fields it is the value of the field named so. Each call searches the body anew.
    public func text(at path: JSONKeyPath) -> String? {
        guard isJSON else { return HTTPField.Name(path.description).flatMap { headerFields[$0] } }
        let places = try? JSONScanner.find([path.encodedNames], in: body)
        return places?[0].flatMap { body.reading($0, JSONText.scalar) }
    }
}

extension Envelope {
    /// The envelope in a body, in which its parts were found.
    init(_ response: borrowing HTTPResponse, body: Data, _ parts: EnvelopeParts) {
        code = parts.code.flatMap { body.reading($0) { Code(json: $0) } }
        flag = parts.flag.flatMap { body.reading($0, JSONText.scalar) }
        payloadPlace = parts.payload
        messagePlace = parts.message
        self.body = body
        isJSON = true
        status = response.status
        headerFields = response.headerFields
        messageField = nil
    }

    /// Reads the envelope in the header fields.
    init(_ response: borrowing HTTPResponse, fields: EnvelopeFields, flag: HTTPField.Name?) {
        status = response.status
        headerFields = response.headerFields
        body = response.body.bytes ?? Data()
        isJSON = false
        code = response.headerFields[fields.code].map { Code($0) }
        messageField = response.headerFields[fields.message]
        // No closure: on a Mac, none captures a borrowed value whose size the compiler does not know.
        self.flag = if let flag { response.headerFields[flag] } else { nil }
        payloadPlace = nil
        messagePlace = nil
    }
}

/// Where the parts of an envelope stand in a body.
struct EnvelopeParts {
    private(set) var payload: Range<Int>?
    private(set) var code: Range<Int>?
    private(set) var message: Range<Int>?
    private(set) var flag: Range<Int>?
    /// The code, if it is written in digits alone, with quotes or without.
    private(set) var plainCode: Int?

    /// - Throws: where the body is no JSON object, or a broken one.
    init(in body: Data, _ paths: EnvelopePaths) throws(JSONScanner.Failure) {
        var parts = Self()
        try JSONScanner.find(paths.all, in: body) { places, bytes in
            parts.payload = places[EnvelopePaths.payloadIndex]
            parts.message = places[EnvelopePaths.messageIndex]
            parts.code = places[EnvelopePaths.codeIndex]
            if places.count > EnvelopePaths.flagIndex { parts.flag = places[EnvelopePaths.flagIndex] }
            parts.plainCode = parts.code.flatMap { JSONText.plainNumber(UnsafeRawBufferPointer(rebasing: bytes[$0])) }
        }
        self = parts
    }

    private init() {}
}

/// The paths that a scan looks for, each at its index. An object, since each response is looked at with it.
final class EnvelopePaths: Sendable {
    static let payloadIndex = 0
    static let codeIndex = 1
    static let messageIndex = 2
    static let flagIndex = 3

    let code: JSONKeyPath
    let all: JSONPaths

    init(payload: JSONKeyPath, code: JSONKeyPath, message: JSONKeyPath, flag: JSONKeyPath?) {
        self.code = code
        all = JSONPaths(([payload, code, message] + (flag.map { [$0] } ?? [])).map(\.encodedNames))
    }
}

/// The header fields that make an envelope when its parts don't stand in the body.
public struct EnvelopeFields: Sendable {
    /// Holds the code.
    public var code: HTTPField.Name
    /// Holds the message.
    public var message: HTTPField.Name

    /// The fields of these names.
    public init(code: HTTPField.Name = "status", message: HTTPField.Name = "message") {
        self.code = code
        self.message = message
    }

    /// The fields `status` and `message`.
    public static var standard: Self { Self() }
}
