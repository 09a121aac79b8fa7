public import Foundation

/// The wrapper an API puts around a payload in a JSON body, with a code and a message.
///
/// The closure given to ``Success/custom(_:)`` receives an envelope and decides whether the call succeeded.
public struct Envelope: Sendable {
    /// The code: a number, a string or a boolean. `nil` if the code is missing, `null`, an object or an array.
    public let code: Code?
    /// The status of the response that carried the envelope.
    public let status: HTTPResponse.Status
    /// The header fields of the response that carried the envelope.
    public private(set) var headers: HTTPFields

    let body: Data
    let flag: String?
    let payloadPlace: Range<Int>?
    private let messagePlace: Range<Int>?

    /// The envelope without cookies, for the context of a response that an outer `coalesce` may hand to other callers.
    var withoutCookies: Self {
        var copy = self
        copy.headers.remove(.setCookie)
        return copy
    }

    /// The server's message. A message that is an object or array is returned as its JSON text.
    public var message: String? { messagePlace.flatMap { body.reading($0, JSONText.text) } }

    /// A copy of the payload's bytes; `nil` if the envelope has no payload.
    public var payload: Data? { payloadPlace.map { body.bytes(at: $0) } }

    /// The text of the string, number or boolean at a path in the envelope, such as `paging.total`; `nil` for any other value and
    /// for a missing one. Each call scans the body again.
    public func text(at path: String) -> String? {
        let places = try? JSONScanner.find([path.namesOfMembers], in: body)
        return places?[0].flatMap { body.reading($0, JSONText.scalar) }
    }
}

extension Envelope {
    /// Reads the envelope in a JSON body.
    ///
    /// - Throws: if the body isn't a JSON object, or the object is malformed.
    init(_ response: borrowing HTTPResponse, body: Data, _ paths: EnvelopePaths) throws(JSONScanner.Failure) {
        var payload: Range<Int>?
        var message: Range<Int>?
        var code: Range<Int>?
        var flag: Range<Int>?
        try JSONScanner.find(paths.all, in: body) { places, _ in
            payload = places[EnvelopePaths.payloadIndex]
            message = places[EnvelopePaths.messageIndex]
            code = places[EnvelopePaths.codeIndex]
            if places.count > EnvelopePaths.flagIndex { flag = places[EnvelopePaths.flagIndex] }
        }
        self.code = code.flatMap { body.reading($0) { Code(json: $0) } }
        self.flag = flag.flatMap { body.reading($0, JSONText.scalar) }
        payloadPlace = payload
        messagePlace = message
        self.body = body
        status = response.status
        headers = response.headers
    }
}

/// The paths that a scan searches for, each at a fixed index.
///
/// A class, because every response uses the paths: one reference costs less to pass than several arrays.
final class EnvelopePaths: Sendable {
    static let payloadIndex = 0
    static let codeIndex = 1
    static let messageIndex = 2
    static let flagIndex = 3

    let payload: String
    let code: String
    let all: JSONPaths

    init(payload: String, code: String, message: String, flag: String?) {
        self.payload = payload
        self.code = code
        all = JSONPaths(([payload, code, message] + (flag.map { [$0] } ?? [])).map(\.namesOfMembers))
    }
}

extension String {
    /// The names in a path such as `data.result`, in UTF-8; none for an empty path, which leads to the whole text.
    var namesOfMembers: [[UInt8]] {
        isEmpty ? [] : split(separator: ".", omittingEmptySubsequences: false).map { Array($0.utf8) }
    }
}
