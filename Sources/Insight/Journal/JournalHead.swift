internal import Foundation

/// A message without its secrets. The steps that pass it on unchanged share it.
final class JournalMessage: Sendable {
    let value: JournalCall.Message
    /// The estimated memory that the message takes beside the texts that it shares with the message before it, in bytes.
    let size: Int
    /// The number of fields that `value` leaves out, unless the message before it left them out too.
    let omittedCount: Int

    init(_ value: JournalCall.Message, size: Int, omittedCount: Int) {
        (self.value, self.size, self.omittedCount) = (value, size, omittedCount)
    }

    /// The response with nothing but its status, for a call that has used up its room.
    var cut: JournalMessage {
        var cut = JournalCall.Message(status: value.status, body: .init(size: nil))
        cut.isCut = true
        return JournalMessage(cut, size: JournalWriter.messageSize, omittedCount: omittedCount + value.fields.count)
    }
}

/// A message as a step saw it, secrets included, with its redacted form. The next step's message is compared with it.
///
/// A class, because most steps change nothing and then share the head of their neighbour. Only a run that isn't over keeps a
/// head; a call's record keeps its ``message``.
final class JournalHead: Sendable {
    let parts: JournalParts
    let message: JournalMessage

    private init(_ parts: JournalParts, _ message: JournalMessage) { (self.parts, self.message) = (parts, message) }

    /// The head of a message: the previous one, if nothing has changed.
    ///
    /// - Parameters:
    ///   - previous: the head that the message was made from, if any.
    ///   - request: on a response, the head of its request.
    static func of(
        _ parts: JournalParts,
        after previous: JournalHead?,
        to request: JournalHead? = nil,
        by writer: JournalWriter
    ) -> JournalHead {
        if let previous, parts.isIdentical(to: previous.parts) { return previous }
        return JournalHead(parts, writer.message(of: parts, after: previous, to: request))
    }
}

/// The parts of a request or of a response that a journal compares, without the content of a stream.
struct JournalParts: Sendable {
    let method: HTTPRequest.Method?
    let status: Int?
    let url: URL?
    let fields: HTTPFields
    /// The fields that the chain declares as credentials.
    var credentialFields: [HTTPField.Name] = []
    let body: HTTPBody.Identity
    /// The content in memory; `nil` for a stream.
    let bytes: Data?
    let length: Int64?

    init(_ request: borrowing HTTPRequest) {
        self.init(request.method, nil, request.url, request.headers, request.body)
        credentialFields = request.context.credentialFields
    }

    init(_ response: borrowing HTTPResponse) {
        self.init(nil, response.status.code, response.url, response.headers, response.body)
    }

    private init(_ method: HTTPRequest.Method?, _ status: Int?, _ url: URL?, _ fields: HTTPFields, _ body: HTTPBody) {
        (self.method, self.status, self.url, self.fields) = (method, status, url, fields)
        (self.body, bytes, length) = (body.identity, body.data, body.length)
    }

    func isIdentical(to other: Self) -> Bool {
        method == other.method && status == other.status && hasIdenticalURL(to: other)
            && fields.isIdentical(to: other.fields) && body == other.body
    }

    func hasSameURL(as other: Self) -> Bool { hasIdenticalURL(to: other) || url == other.url }

    // Comparing two URLs compares their texts. Nearly always both are the same object: equal bits of two values that are both
    // alive are certainly equal values.
    private func hasIdenticalURL(to other: Self) -> Bool {
        withUnsafeBytes(of: url) { bits in
            withUnsafeBytes(of: other.url) { otherBits in
                guard let bits = bits.baseAddress, let otherBits = otherBits.baseAddress else { return false }
                return memcmp(bits, otherBits, MemoryLayout<URL?>.size) == 0
            }
        }
    }

    /// Whether both have the same body, or the same bytes in memory.
    func hasSameBody(as other: Self) -> Bool { body == other.body || bytes != nil && bytes == other.bytes }
}
