public import Foundation

/// The answer of a `StubTransport` to one request.
///
/// ```swift
/// .json(#"{"id":42}"#)
/// .json(#"{"error":"busy"}"#, status: 503, headers: [.retryAfter: "2"]).delayed(by: .seconds(1))
/// .failure(TransportError(.timedOut, "Silence."))
/// ```
/// The module `InterceptorsTesting`'s server gives the same answers, and others that only a connection can give. Fields in
/// `headers:` replace the `Content-Type` that a factory would add.
public struct StubAnswer: Sendable {
    /// The content of an answer, as a value, so that a server can send it and a file can hold it.
    package enum Content: Sendable {
        case body(HTTPBody)
        case file(URL)
        case chunks([Chunk], thenFailing: (any Error)?)
        case failure(any Error)
        case never
        case closure(@Sendable (HTTPRequest) async throws -> HTTPResponse)
        case choice(@Sendable (HTTPRequest) async throws -> StubAnswer)
    }

    /// A part of a streamed content, after a pause.
    package struct Chunk: Sendable, Equatable {
        package var bytes: Data
        package var pause: Duration

        package init(_ bytes: Data, after pause: Duration = .zero) {
            self.bytes = bytes
            self.pause = pause
        }
    }

    package var status: HTTPResponse.Status = 200
    package var headers: HTTPFields = [:]
    package var content: Content
    package var delay: Duration = .zero
    /// `nil` if the trailer fields aren't known.
    package var trailers: HTTPFields? = [:]
    package var interims: [HTTPResponse] = []
    /// The server's treatment of its connection. A stub in memory has none, and refuses such an answer.
    package var onConnection: (any Sendable)?

    package init(_ content: Content) { self.content = content }

    package init(_ status: HTTPResponse.Status, _ headers: HTTPFields, _ content: Content) {
        self.status = status
        self.headers = headers
        self.content = content
    }

    /// This answer after an additional wait on the transport's clock.
    ///
    /// The wait ends early if the task is cancelled or a time limit of the request passes.
    public func delayed(by duration: Duration) -> Self {
        var answer = self
        answer.delay += duration
        return answer
    }

    /// This answer without knowledge of its trailer fields, as that of a file.
    package var withUnknownTrailers: Self {
        var answer = self
        answer.trailers = nil
        return answer
    }

    /// This answer after an interim response (RFC 9110 §15.2), such as `103` with `Link` fields: see `HTTPContext.interim`.
    ///
    /// The interim response comes before any delay. A status that isn't interim, or is 101, adds nothing.
    ///
    /// - Parameters:
    ///   - status: the interim status.
    ///   - headers: the fields of the interim response.
    public func preceded(byInterim status: HTTPResponse.Status, headers: HTTPFields = [:]) -> Self {
        var answer = self
        if status.isInterim { answer.interims.insert(HTTPResponse(status: status, headers: headers), at: 0) }
        return answer
    }
}

extension StubAnswer {
    /// A response with a status and, if given, fields and content.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - headers: the fields.
    ///   - body: nothing, bytes, a file or a stream.
    public static func status(
        _ status: HTTPResponse.Status,
        headers: HTTPFields = [:],
        body: HTTPBody = .empty
    ) -> Self {
        Self(status, headers, .body(body))
    }

    /// A response with a status and text, without a `Content-Type` unless the fields have one.
    public static func status(_ status: HTTPResponse.Status, headers: HTTPFields = [:], body: String) -> Self {
        Self.status(status, headers: headers, body: HTTPBody(body))
    }

    /// A response with a status and bytes.
    public static func status(_ status: HTTPResponse.Status, headers: HTTPFields = [:], body: Data) -> Self {
        Self.status(status, headers: headers, body: HTTPBody(body))
    }

    /// A response with text in UTF-8, of the type `text/plain; charset=utf-8`.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func text(
        _ text: String,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        data(Data(text.utf8), contentType: "text/plain; charset=utf-8", status: status, headers: headers)
    }

    /// A response with JSON text, sent exactly as given. The text isn't parsed, so it may be malformed on purpose.
    ///
    /// - Parameters:
    ///   - text: the JSON text.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func json(
        _ text: String,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        data(Data(text.utf8), contentType: "application/json", status: status, headers: headers)
    }

    /// A response with a value encoded as JSON. The value is encoded immediately; if that fails, the answered request throws
    /// the encoder's error.
    ///
    /// - Parameters:
    ///   - value: the value to encode.
    ///   - encoder: the encoder. By default it sorts keys, so that the bytes are the same each time.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func json(
        encoding value: some Encodable,
        encoder: JSONEncoder? = nil,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        do {
            let bytes = try StubContent.json(value, encoder)
            return data(bytes, contentType: "application/json", status: status, headers: headers)
        } catch {
            return answer { _ in throw error }
        }
    }

    /// A response with bytes. It has a `Content-Type` only if one is given.
    ///
    /// - Parameters:
    ///   - bytes: the content.
    ///   - contentType: the media type, if any.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func data(
        _ bytes: Data,
        contentType: String? = nil,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        Self.status(status, headers: StubContent.fields(headers, contentType), body: HTTPBody(bytes))
    }

    /// A response with the content of a file, read when a request is answered. If the file can't be read, the request fails
    /// with ``HTTPErrorCode/unreadableFile``.
    ///
    /// - Parameters:
    ///   - url: the file's URL.
    ///   - contentType: the media type. By default derived from a common file extension, and otherwise left out.
    ///   - status: the status.
    ///   - headers: the fields, which take precedence over a factory's `Content-Type`.
    public static func file(
        _ url: URL,
        contentType: String? = nil,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        Self(status, StubContent.fields(headers, contentType ?? StubContent.type(of: url)), .file(url))
    }

    /// A response with content of unknown length in chunks, as a server would stream it.
    ///
    /// - Parameters:
    ///   - chunks: the chunks of a streamed response. A buffered response joins them.
    ///   - pause: the wait before each chunk after the first, on the transport's clock. To wait before the first too, begin
    ///     with an empty chunk.
    ///   - error: an error after the last chunk, in place of the content's normal end, such as
    ///     ``HTTPErrorCode/truncated``.
    ///   - trailers: the fields after the content: see ``HTTPResponse/trailers``.
    ///   - status: the status.
    ///   - headers: the fields.
    public static func stream(
        _ chunks: [Data],
        every pause: Duration? = nil,
        thenFailing error: (any Error)? = nil,
        trailers: HTTPFields = [:],
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        let parts = chunks.enumerated().map { Chunk($1, after: $0 == 0 ? .zero : pause ?? .zero) }
        var answer = Self(status, headers, .chunks(parts, thenFailing: error))
        answer.trailers = trailers
        return answer
    }

    /// An error instead of a response. The call throws it unchanged.
    public static func failure(_ error: any Error) -> Self {
        Self(.failure(error))
    }

    /// Neither a response nor an error: the call waits until it is cancelled or a time limit of its request passes.
    public static var neverAnswer: Self { Self(.never) }

    /// The response or error of a closure, which is called for each request that is answered.
    ///
    /// If the request's time limit passes or the call is cancelled, the task that runs the closure is cancelled.
    public static func answer(_ body: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) -> Self {
        Self(.closure(body))
    }

    /// The answer that a closure chooses for each request.
    package static func choosing(_ choose: @escaping @Sendable (HTTPRequest) async throws -> StubAnswer) -> Self {
        Self(.choice(choose))
    }
}

extension StubAnswer {
    /// The answer in a few words, as a message lists it.
    package var summary: String {
        if onConnection != nil { return "an answer over a connection" }
        return switch content {
        case .body(let body): "\(status), \(body)"
        case .file(let url): "\(status), file \(url.lastPathComponent)"
        case .chunks(let chunks, _): "\(status), a stream of \(chunks.count) chunks"
        case .failure(let error): "failure \(type(of: error))"
        case .never: "never"
        case .closure, .choice: "a closure"
        }
    }
}
