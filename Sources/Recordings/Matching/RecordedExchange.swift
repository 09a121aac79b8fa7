internal import Foundation
internal import Transport

/// A request and what came back, as a recording keeps them.
struct RecordedExchange: Sendable {
    struct Request: Sendable, Equatable {
        var method: HTTPRequest.Method
        /// The whole URL. Text, because a redacted URL needn't be a valid one.
        var url: String
        var headerFields: HTTPFields = [:]
        /// The content; `nil` if it is unknown.
        var body: Data? = Data()
    }

    /// An error that ended the exchange, before the response's head or within its content.
    struct Failure: Sendable, Equatable {
        /// The raw value of the error's ``HTTPErrorCode``.
        var code: String
        var message: String
    }

    struct Response: Sendable, Equatable {
        var status: HTTPResponse.Status
        var headerFields: HTTPFields = [:]
        /// The content as it arrived. A content that was in memory is one chunk.
        var chunks: [StubAnswer.Chunk] = []
        /// Whether the content arrived as a stream.
        var isStream = false
    }

    /// When the request was sent.
    var startedAt: Date
    /// The time from then to the response's head or the failure.
    var wait: Duration = .zero
    var request: Request
    /// The response; `nil` if a failure came instead.
    var response: Response?
    /// The failure; with a response, it ended the content.
    var failure: Failure?
}
