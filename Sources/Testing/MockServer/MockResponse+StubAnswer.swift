internal import Foundation
internal import InterceptorsCore
internal import InterceptorsRecordings
package import InterceptorsTransport

extension MockResponse {
    /// The response that a stub's answer is over a socket.
    ///
    /// Chunks are sent in the chunked coding, with their pauses. A failure after them breaks the content off. A failure instead
    /// of a response resets the connection, except that a time-out never answers. Fields that frame the content are the server's,
    /// because a recording has those of another connection.
    ///
    /// - Parameters:
    ///   - answer: the answer.
    ///   - request: the request, with its body in memory.
    /// - Throws: errors of a closure, and of a file that can't be opened.
    package init(_ answer: StubAnswer, to request: HTTPRequest) async throws {
        var response: MockResponse
        var fields = answer.headerFields
        fields.removeFraming(keepingLength: request.method == .head)
        switch answer.content {
        case .body(let body):
            response = Self(answer.status, fields, body, to: request)
        case .file(let file):
            response = try Self(answer.status, fields, HTTPBody(file: file), to: request)
        case .chunks(let chunks, let failure):
            let trailers = answer.trailers ?? [:]
            let content = MockContent(chunks, trailers: trailers, isCut: failure != nil)
            response = Self(MockMessage(answer.status, fields, content))
        case .failure(let error):
            response = (error as? any HTTPError)?.code == .timedOut ? .neverAnswer : .reset
        case .never:
            response = .neverAnswer
        case .closure(let closure):
            let answered = try await closure(request)
            response = Self(answered.status, answered.headerFields, answered.body, to: request)
        case .choice(let choose):
            response = try await Self(choose(request), to: request)
        }
        if answer.delay > .zero { response = response.delayed(by: answer.delay) }
        self = answer.interims.reversed().reduce(response) {
            $0.preceded(byInterim: $1.status, headers: $1.headerFields)
        }
    }

    /// Bytes in memory, or content that is read while it is sent.
    private init(_ status: HTTPResponse.Status, _ fields: HTTPFields, _ body: HTTPBody, to request: HTTPRequest) {
        var fields = fields
        if request.method == .head {
            // The length of a content that isn't sent (RFC 9110 §8.6).
            if let length = body.length, !fields.contains(.contentLength) { fields[.contentLength] = String(length) }
            body.discard()
            self = .status(status, headers: fields)
        } else if let bytes = body.bytes {
            self = .status(status, headers: fields, body: bytes)
        } else {
            self.init(MockMessage(status, fields, MockContent(body)))
        }
    }
}
