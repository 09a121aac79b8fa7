internal import Foundation
internal import Interceptors

/// A message as a step saw it, without the content of a stream. The next step's message is compared with it.
///
/// A class, because most steps change nothing and then share the head of their neighbour.
final class JournalHead: Sendable {
    /// The method of a request.
    let method: HTTPRequest.Method?
    /// The status of a response.
    let status: Int
    let url: URL?
    let fields: HTTPFields
    let body: HTTPBody.Identity
    private let bytes: Data?

    private init(
        method: HTTPRequest.Method?,
        status: Int,
        url: URL?,
        fields: HTTPFields,
        body: HTTPBody
    ) {
        self.method = method
        self.status = status
        self.url = url
        self.fields = fields
        self.body = body.identity
        bytes = body.bytes
    }

    /// The head of a request: that of the step outside, if nothing has changed.
    static func of(_ request: borrowing HTTPRequest, after previous: JournalHead?) -> JournalHead {
        let (url, fields, body) = (request.url, request.headerFields, request.body)
        if let previous, previous.method == request.method, isIdentical(url, previous.url),
            fields.isIdentical(to: previous.fields), body.identity == previous.body
        {
            return previous
        }
        return JournalHead(method: request.method, status: 0, url: url, fields: fields, body: body)
    }

    /// The head of a response: that of an inner step, if nothing has changed.
    static func of(_ response: borrowing HTTPResponse, after previous: JournalHead?) -> JournalHead {
        let (url, fields, body) = (response.url, response.headerFields, response.body)
        if let previous, previous.status == response.status.code, isIdentical(url, previous.url),
            fields.isIdentical(to: previous.fields), body.identity == previous.body
        {
            return previous
        }
        return JournalHead(method: nil, status: response.status.code, url: url, fields: fields, body: body)
    }

    func hasSameURL(as other: URL?) -> Bool { Self.isIdentical(url, other) || url == other }

    // Comparing two URLs compares their texts. Nearly always both are the same object: equal bits of two values that are both
    // alive are certainly equal values.
    private static func isIdentical(_ url: URL?, _ other: URL?) -> Bool {
        withUnsafeBytes(of: url) { bits in
            withUnsafeBytes(of: other) { otherBits in
                guard let bits = bits.baseAddress, let otherBits = otherBits.baseAddress else { return false }
                return memcmp(bits, otherBits, MemoryLayout<URL?>.size) == 0
            }
        }
    }

    /// Whether a message's body is this message's, or has the same bytes in memory.
    func hasSameBody(as other: JournalHead) -> Bool { body == other.body || bytes != nil && bytes == other.bytes }
}

/// An error in the form in which it is compared and written.
struct JournalFault: Sendable, Equatable {
    let type: String
    let code: String?
    /// Not yet redacted.
    let text: String
    let isCancellation: Bool

    init(_ error: any Error) {
        type = "\(Swift.type(of: error))"
        isCancellation = error.isCancelled
        if let error = error as? any HTTPError {
            code = "\(error.code)"
            text = error.message
        } else {
            code = nil
            text = error is CancellationError ? "" : ErrorText.description(of: error)
        }
    }
}

/// The response or the error with which a step ended.
enum JournalOutcome: Sendable {
    case response(JournalHead)
    case failure(JournalFault)
}
