internal import Foundation
internal import Transport

/// A message as a step saw it, without the content of a stream. The next step's message is compared with it.
struct JournalHead: Sendable {
    /// The method of a request.
    let method: HTTPRequest.Method?
    /// The status of a response.
    let status: Int
    let url: URL?
    let fields: HTTPFields
    let body: HTTPBody.Identity
    private let bytes: Data?

    init(_ request: borrowing HTTPRequest) {
        method = request.method
        status = 0
        url = request.url
        fields = request.headerFields
        body = request.body.identity
        bytes = request.body.bytes
    }

    init(_ response: borrowing HTTPResponse) {
        method = nil
        status = response.status.code
        url = response.url
        fields = response.headerFields
        body = response.body.identity
        bytes = response.body.bytes
    }

    /// Whether a body is this message's, or has the same bytes in memory.
    func hasSameBody(as other: HTTPBody) -> Bool { body == other.identity || bytes != nil && bytes == other.bytes }
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

/// What a step made of its request.
enum JournalOutcome: Sendable {
    case response(JournalHead)
    case failure(JournalFault)
}
