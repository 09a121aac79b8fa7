public import Foundation
public import InterceptorsCore

/// A ``MockServer``'s reaction to a request: a proper response, or a fault.
///
/// ```swift
/// server.enqueue(.status(201, headers: [.location: "/users/42"], body: "made"))
/// server.enqueue(.json(#"{"name":"Ada"}"#), .stream([Data("a".utf8), Data("b".utf8)]))
/// server.enqueue(.closeInBody(after: 10, of: 100))
/// server.enqueue(MockResponse(steps: [.send("HTTP/1.1 200 OK\r\n"), .wait(.seconds(5)), .reset]))
/// ```
/// The factories have the names and the labels of `StubAnswer`, the answer of a `StubTransport`. Fields in `headers:` replace
/// the `Content-Type` that a factory would add.
///
/// The server adds `Content-Length` or `Transfer-Encoding`, unless the fields already contain either of them. Given framing
/// fields are sent unchanged, right or wrong. The server also adds `Connection: close` if it closes the connection afterwards,
/// `Connection: keep-alive` if it keeps an HTTP/1.0 connection, and no other field. Responses to `HEAD`, and 1xx, 204 and 304
/// responses, are sent without their content.
public struct MockResponse: Sendable {
    enum Content: Sendable {
        case message(MockMessage)
        case steps([Step])
    }

    let content: Content
    private(set) var before: [Step] = []

    /// Creates a response from steps, performed in order whatever the request is. The connection stays open after the last
    /// step.
    ///
    /// ```swift
    /// MockResponse(steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .run { await gate.opened() }, .send("ok")])
    /// ```
    public init(steps: [Step]) { content = .steps(steps) }

    init(_ message: MockMessage) { content = .message(message) }
}

extension MockResponse {
    /// A response with a status and, if given, fields and text as content.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - headers: the fields.
    ///   - body: the text.
    public static func status(
        _ status: HTTPResponse.Status,
        headers: HTTPFields = [:],
        body: String = ""
    ) -> Self {
        Self.status(status, headers: headers, body: Data(body.utf8))
    }

    /// A response with a status, fields and bytes as content.
    ///
    /// - Parameters:
    ///   - status: the status.
    ///   - headers: the fields.
    ///   - body: the bytes.
    public static func status(_ status: HTTPResponse.Status, headers: HTTPFields = [:], body: Data) -> Self {
        Self(MockMessage(status, headers, MockContent(body)))
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

    /// A response with a value encoded as JSON. The value is encoded immediately; if that fails, the response is a 500 with the
    /// encoder's error as text.
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
            return text("\(type(of: value)) can't be encoded: \(error)\n", status: 500)
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
        Self.status(status, headers: StubContent.fields(headers, contentType), body: bytes)
    }

    /// A response with the content of a file, read when a request is answered. If the file can't be read, the response is a 500
    /// with the error as text.
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
        let fields = StubContent.fields(headers, contentType ?? StubContent.type(of: url))
        var message = MockMessage(status, fields, MockContent(Data()))
        message.file = url
        return Self(message)
    }

    /// A response with content of unknown length in the chunked coding, with one chunk for each non-empty element (RFC 9112
    /// §7.1).
    ///
    /// An HTTP/1.0 client gets the same bytes without the coding, ended by closing the connection. So does any client if `headers`
    /// has a `Content-Length`: with one that is greater than the chunks, the response breaks off.
    ///
    /// - Parameters:
    ///   - chunks: the chunks.
    ///   - pause: the wait before each chunk after the first, on the server's clock. The head and the first chunk are sent at
    ///     once. To wait before the first too, begin with an empty chunk.
    ///   - trailers: the fields after the content.
    ///   - status: the status.
    ///   - headers: the fields.
    public static func stream(
        _ chunks: [Data],
        every pause: Duration? = nil,
        trailers: HTTPFields = [:],
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        let chunks = chunks.enumerated().map { StubAnswer.Chunk($1, after: $0 == 0 ? .zero : pause ?? .zero) }
        return Self(MockMessage(status, headers, MockContent(chunks, trailers: trailers)))
    }

    /// A response that repeats the same bytes: content of any size in little memory.
    ///
    /// - Parameters:
    ///   - bytes: the bytes to repeat.
    ///   - times: how often they are sent.
    ///   - chunked: whether to use the chunked coding instead of `Content-Length`. By default `false`.
    ///   - status: the status.
    ///   - headers: the fields.
    public static func repeating(
        _ bytes: Data,
        times: Int,
        chunked: Bool = false,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        let (length, isOver) = bytes.count.multipliedReportingOverflow(by: max(0, times))
        let framing: MockContent.Framing = chunked ? .chunked(trailers: [:]) : isOver ? .close : .length(length)
        return Self(MockMessage(status, headers, MockContent(framing, [.send(bytes, times: times)])))
    }

    /// A response whose content ends with the connection (RFC 9112 §6.3, the last case).
    ///
    /// - Parameters:
    ///   - body: the content.
    ///   - status: the status.
    ///   - headers: the fields.
    public static func untilClose(
        _ body: Data,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = [:]
    ) -> Self {
        Self(MockMessage(status, headers, MockContent(.close, [.send(body)])))
    }
}

extension MockResponse {
    /// This response after a pause on the server's clock.
    public func delayed(by duration: Duration) -> Self { preceded(by: [.wait(duration)]) }

    /// This response after an interim response (RFC 9110 §15.2), such as `103` with `Link` fields.
    public func preceded(byInterim status: HTTPResponse.Status, headers: HTTPFields = [:]) -> Self {
        preceded(by: [.send(MockMessage.head(status, headers))])
    }

    /// This response after some steps.
    public func preceded(by steps: [Step]) -> Self {
        var copy = self
        copy.before = steps + before
        return copy
    }

    /// This response, after which the server closes the connection.
    ///
    /// - Parameter announced: whether a `Connection: close` field announces the close. If not, the client notices when it next
    ///   uses the connection, as with a server that drops idle connections.
    public func closing(announced: Bool = true) -> Self {
        switch content {
        case .steps(let steps):
            return Self(steps: steps + [.close]).preceded(by: before)
        case .message(var message):
            message.close = announced ? .announced : .silent
            return Self(message).preceded(by: before)
        }
    }

    /// The steps that answer a request, and whether the connection can be reused afterwards.
    func script(for request: MockServer.Request, keepsAlive: Bool) -> (steps: [Step], keepsAlive: Bool) {
        switch content {
        case .steps(let steps):
            // Steps close the connection explicitly.
            return (before + steps, true)
        case .message(let message):
            let script = message.withFileRead().script(for: request, keepsAlive: keepsAlive)
            return (before + script.steps, script.keepsAlive)
        }
    }
}
