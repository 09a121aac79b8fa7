internal import Foundation

/// A request and what came back, as a recording keeps them.
struct RecordedExchange: Sendable, Equatable {
    struct Request: Sendable, Equatable {
        var method: HTTPRequest.Method
        /// The whole URL. Text, because a redacted URL needn't be a valid one.
        var url: String
        var headers: HTTPFields = [:]
        /// The content; `nil` if it is unknown.
        var body: Data? = Data()
        /// Why the content was left out.
        var omission: String?
        /// The fields that the chain declares as credentials. This list isn't written.
        var credentialFields: [HTTPField.Name] = []
    }

    /// An error that ended the exchange, before the response's head or within its content.
    struct Failure: Sendable, Equatable {
        /// The raw value of the error's `HTTPErrorCode`.
        var code: String
        var message: String
    }

    struct Response: Sendable, Equatable {
        var status: HTTPResponse.Status
        var headers: HTTPFields = [:]
        /// The content as it arrived. A content that was in memory is at most one chunk, without a pause. Without
        /// bytes there is no chunk.
        var chunks: [StubAnswer.Chunk] = []
        /// Whether the content arrived as a stream.
        var isStream = false
        /// Why the content was left out. It isn't empty then, and the response can't be played.
        var omission: String?
        /// The trailer fields; `nil` if they aren't known.
        var trailers: HTTPFields?

        /// All of the content.
        var content: Data {
            chunks.count == 1 ? chunks[0].bytes : chunks.reduce(into: Data()) { $0 += $1.bytes }
        }
    }

    /// The number in a recording, which grows with the time of the request; `nil` outside of one, and for entries of other programs.
    var number: Int64?
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
