public import Foundation

/// The wrapper an API puts around a payload: a code and a message, in the same JSON body or in the response's header fields.
///
/// The closure given to ``Success/custom(_:)`` receives an envelope and decides whether the call succeeded.
public struct Envelope: Sendable {
    /// The code: a number, a string or a boolean. `nil` if the code is missing, `null`, an object or an array.
    public let code: Code?
    /// The status of the response that carried the envelope.
    public let status: HTTPResponse.Status
    /// The header fields of the response that carried the envelope.
    public private(set) var headers: HTTPFields

    let isJSON: Bool
    let body: Data
    let flag: String?
    let payloadPlace: Range<Int>?
    private let messagePlace: Range<Int>?
    private let messageField: String?

    /// The envelope without cookies, for the context of a response that an outer `coalesce` may hand to other callers.
    var withoutCookies: Self {
        var copy = self
        copy.headers.remove(.setCookie)
        return copy
    }

    /// The server's message. A message that is an object or array is returned as its JSON text.
    public var message: String? {
        guard let messagePlace else { return messageField }
        return body.reading(messagePlace, JSONText.text)
    }

    /// A copy of the payload's bytes; `nil` if the envelope has no payload.
    ///
    /// With an envelope in header fields, the payload is the whole body, or no bytes at all if the body is streamed.
    public var payload: Data? {
        guard isJSON else { return body }
        return payloadPlace.map { body.bytes(at: $0) }
    }

    /// The text of the string, number or boolean at a path in the envelope; `nil` for any other value and for a missing one.
    ///
    /// With an envelope in header fields, returns the value of the field with that name. Each call scans the body again.
    public func text(at path: JSONKeyPath) -> String? {
        guard isJSON else { return HTTPField.Name(path.description).flatMap { headers[$0] } }
        let places = try? JSONScanner.find([path.encodedNames], in: body)
        return places?[0].flatMap { body.reading($0, JSONText.scalar) }
    }
}

extension Envelope {
    /// An envelope in a JSON body whose parts a scan has located.
    init(_ response: borrowing HTTPResponse, body: Data, _ parts: EnvelopeParts) {
        code = parts.code.flatMap { body.reading($0) { Code(json: $0) } }
        flag = parts.flag.flatMap { body.reading($0, JSONText.scalar) }
        payloadPlace = parts.payload
        messagePlace = parts.message
        self.body = body
        isJSON = true
        status = response.status
        headers = response.headers
        messageField = nil
    }

    /// Reads the envelope in the header fields.
    init(_ response: borrowing HTTPResponse, _ fields: EnvelopeFields) {
        status = response.status
        headers = response.headers
        body = response.body.data ?? Data()
        isJSON = false
        code = response.headers[fields.code].map { Code($0) }
        messageField = response.headers[fields.message]
        // No closure here: on macOS, a closure can't capture a borrowed value whose size the compiler doesn't know.
        flag = if let flag = fields.flag { response.headers[flag] } else { nil }
        payloadPlace = nil
        messagePlace = nil
    }
}

/// The byte ranges of an envelope's parts in a body.
struct EnvelopeParts {
    private(set) var payload: Range<Int>?
    private(set) var code: Range<Int>?
    private(set) var message: Range<Int>?
    private(set) var flag: Range<Int>?

    /// - Throws: if the body isn't a JSON object, or the object is malformed.
    init(in body: Data, _ paths: EnvelopePaths) throws(JSONScanner.Failure) {
        var parts = Self()
        try JSONScanner.find(paths.all, in: body) { places, _ in
            parts.payload = places[EnvelopePaths.payloadIndex]
            parts.message = places[EnvelopePaths.messageIndex]
            parts.code = places[EnvelopePaths.codeIndex]
            if places.count > EnvelopePaths.flagIndex { parts.flag = places[EnvelopePaths.flagIndex] }
        }
        self = parts
    }

    private init() {}
}

/// The paths that a scan searches for, each at a fixed index.
///
/// A class, because every response uses the paths: one reference costs less to pass than several arrays.
final class EnvelopePaths: Sendable {
    static let payloadIndex = 0
    static let codeIndex = 1
    static let messageIndex = 2
    static let flagIndex = 3

    let payload: JSONKeyPath
    let code: JSONKeyPath
    let all: JSONPaths

    init(payload: JSONKeyPath, code: JSONKeyPath, message: JSONKeyPath, flag: JSONKeyPath?) {
        self.payload = payload
        self.code = code
        all = JSONPaths(([payload, code, message] + (flag.map { [$0] } ?? [])).map(\.encodedNames))
    }
}

/// The names of the header fields that carry the code, the message and the flag of success when the body doesn't.
struct EnvelopeFields: Sendable {
    let code: HTTPField.Name
    let message: HTTPField.Name
    let flag: HTTPField.Name?
}
