internal import Foundation
internal import Interceptors
internal import Recordings
package import Transport

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
    /// - Throws: errors of a closure, and of a file or a stream that can't be read.
    package init(_ answer: StubAnswer, to request: HTTPRequest) async throws {
        let response: MockResponse
        var fields = answer.headerFields
        fields.removeFraming(keepingLength: request.method == .head)
        switch answer.content {
        case .body(let body):
            let bytes = try await body.collect(upTo: Self.contentLimit)
            response = .status(answer.status, headers: fields, body: bytes)
        case .file(let file):
            let bytes = try await HTTPBody(file: file).collect(upTo: Self.contentLimit)
            response = .status(answer.status, headers: fields, body: bytes)
        case .chunks(let chunks, let failure):
            let body = MockMessage.Body.timedChunks(chunks, isCut: failure != nil)
            response = Self(MockMessage(status: answer.status, headerFields: fields, body: body))
        case .failure(let error):
            response = (error as? any HTTPError)?.code == .timedOut ? .neverAnswer : .reset
        case .never:
            response = .neverAnswer
        case .closure(let closure):
            response = try await Self(closure(request))
        case .choice(let choose):
            response = try await Self(choose(request), to: request)
        }
        self = answer.delay > .zero ? response.delayed(by: answer.delay) : response
    }

    /// The maximum bytes of an answer's body, which is read before it is sent.
    private static let contentLimit = 1 << 30

    private init(_ response: HTTPResponse) async throws {
        let bytes = try await response.body.collect(upTo: Self.contentLimit)
        self = .status(response.status, headers: response.headerFields, body: bytes)
    }
}
