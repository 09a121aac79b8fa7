public import Foundation
internal import InterceptorsSyntax

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
    public var message: String? { messagePlace.flatMap { body.jsonText(at: $0, isNestedToo: true) } }

    /// A copy of the payload's bytes; `nil` if the envelope has no payload.
    public var payload: Data? { payloadPlace.map(body.bytes) }

    /// The text of the string, number or boolean at a path in the envelope, such as `paging.total`; `nil` for any other value and
    /// for a missing one. Each call scans the body again.
    public func text(at path: String) -> String? {
        let place = try? JSONScanner.find([JSONScanner.path(path)], in: body) { $0[0] }
        return place.flatMap { body.jsonText(at: $0) }
    }
}

extension Envelope {
    /// Reads the envelope in a JSON body.
    ///
    /// - Throws: if the body isn't a JSON object, or the object is malformed.
    init(_ response: borrowing HTTPResponse, body: Data, _ paths: EnvelopePaths) throws(JSONScanner.Failure) {
        let places = try JSONScanner.find(paths.all, in: body) { ($0[0], $0[1], $0[2], $0.dropFirst(3).first ?? nil) }
        (payloadPlace, messagePlace) = (places.0, places.2)
        code = places.1.flatMap { Code(json: body, at: $0) }
        flag = places.3.flatMap { body.jsonText(at: $0) }
        self.body = body
        status = response.status
        headers = response.headers
    }
}

/// The paths that a scan searches for.
///
/// A class, because every response uses the paths: one reference costs less to pass than several arrays.
final class EnvelopePaths: Sendable {
    let payload: String
    let code: String
    /// The paths of the payload, the code, the message and, if there is one, the flag.
    let all: [[UInt8]]

    init(payload: String, code: String, message: String, flag: String?) {
        self.payload = payload
        self.code = code
        all = ([payload, code, message] + (flag.map { [$0] } ?? [])).map(JSONScanner.path)
    }
}

extension Data {
    /// A copy of the bytes in a range of offsets, counted from the start.
    ///
    /// The copy begins at index 0 and doesn't keep the rest of this data alive.
    func bytes(at range: Range<Int>) -> Data {
        subdata(in: startIndex + range.lowerBound..<startIndex + range.upperBound)
    }

    /// The text of the string, number or boolean of JSON in a range of offsets; `nil` for `null`.
    ///
    /// A string with an invalid escape is returned with all its escapes undecoded; invalid UTF-8 becomes U+FFFD.
    ///
    /// - Parameter isNestedToo: whether an object or an array has a text too, which is its JSON.
    func jsonText(at range: Range<Int>, isNestedToo: Bool = false) -> String? {
        withUnsafeBytes { bytes in
            var value = UnsafeRawBufferPointer(rebasing: bytes[range])
            switch value.first {
            case UInt8(ascii: "{") where !isNestedToo, UInt8(ascii: "[") where !isNestedToo: return nil
            case UInt8(ascii: "n"), nil: return nil
            case UInt8(ascii: "\""):
                value = UnsafeRawBufferPointer(rebasing: value.dropFirst().dropLast())
                guard value.contains(UInt8(ascii: "\\")), let text = JSONEscapes.decoded(value) else { break }
                return String(decoding: text, as: UTF8.self)
            default: break
            }
            return String(decoding: value, as: UTF8.self)
        }
    }
}
