public import Foundation
public import Interceptors

/// What a ``MockServer`` does with a request: a proper answer, or a fault.
///
/// ```swift
/// server.enqueue(MockResponse(status: 201, headers: [.location: "/users/42"], body: "made"))
/// server.enqueue(.json(#"{"name":"Ada"}"#), .chunked([Data("a".utf8), Data("b".utf8)]))
/// server.enqueue(.closeInBody(after: 10, of: 100))
/// server.enqueue(MockResponse(steps: [.send("HTTP/1.1 200 OK\r\n"), .wait(.seconds(5)), .reset]))
/// ```
///
/// The server adds what frames the content, `Content-Length` or `Transfer-Encoding`, unless the fields hold one of
/// them already: then they go out as they are, right or wrong. It adds `Connection` where the connection is not kept
/// as the client expects, and nothing else. A `HEAD` request gets the fields without the content; so does every request
/// that is answered 1xx, 204 or 304.
public struct MockResponse: Sendable {
    enum Content: Sendable {
        case message(MockMessage)
        case steps([Step])
    }

    let content: Content
    private(set) var before: [Step] = []

    /// An answer with text.
    public init(status: HTTPResponse.Status = 200, headers: HTTPFields = HTTPFields(), body: String = "") {
        self.init(status: status, headers: headers, body: Data(body.utf8))
    }

    /// An answer with bytes.
    public init(status: HTTPResponse.Status = 200, headers: HTTPFields = HTTPFields(), body: Data) {
        self.init(MockMessage(status: status, headerFields: headers, body: .bytes(body)))
    }

    /// Steps, taken one after the other whatever the request was. After the last one the connection is kept.
    ///
    /// ```swift
    /// MockResponse(steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .run { await gate.opened() }, .send("ok")])
    /// ```
    public init(steps: [Step]) { content = .steps(steps) }

    init(_ message: MockMessage) { content = .message(message) }
}

extension MockResponse {
    /// An answer of JSON text, as it is.
    public static func json(
        _ text: String,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = HTTPFields()
    ) -> Self {
        var fields = headers
        fields.addMissing([.contentType: "application/json"])
        return Self(status: status, headers: fields, body: text)
    }

    /// An answer whose content goes out in the chunked coding, a chunk for each element that is not empty (RFC 9112 §7.1).
    ///
    /// A client of HTTP/1.0 gets the same bytes without the coding, ended by the close of the connection.
    public static func chunked(
        _ chunks: [Data],
        trailers: HTTPFields = HTTPFields(),
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = HTTPFields()
    ) -> Self {
        Self(MockMessage(status: status, headerFields: headers, body: .chunks(chunks, trailers: trailers, pause: nil)))
    }

    /// An answer with the same bytes again and again: content of any size that takes no memory.
    ///
    /// - Parameter chunked: whether it goes out in the chunked coding instead of with its length.
    public static func repeating(
        _ bytes: Data,
        times: Int,
        chunked: Bool = false,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = HTTPFields()
    ) -> Self {
        let body = MockMessage.Body.repeated(bytes, times: max(0, times), chunked: chunked)
        return Self(MockMessage(status: status, headerFields: headers, body: body))
    }

    /// An answer whose content ends with the connection (RFC 9112 §6.3, the last case).
    public static func untilClose(
        _ body: Data,
        status: HTTPResponse.Status = 200,
        headers: HTTPFields = HTTPFields()
    ) -> Self {
        Self(MockMessage(status: status, headerFields: headers, body: .untilClose(body)))
    }
}

extension MockResponse {
    /// The same after a pause on the server's clock.
    public func delayed(by duration: Duration) -> Self { preceded(by: [.wait(duration)]) }

    /// The same after an interim response (RFC 9110 §15.2), such as `103` with `Link` fields.
    public func preceded(byInterim status: HTTPResponse.Status, headers: HTTPFields = HTTPFields()) -> Self {
        preceded(by: [.send(MockMessage.head(status, headers))])
    }

    /// The same after some steps.
    public func preceded(by steps: [Step]) -> Self {
        var copy = self
        copy.before = steps + before
        return copy
    }

    /// The same, after which the connection is closed.
    ///
    /// - Parameter announced: whether `Connection: close` says so. Otherwise the client learns it when it tries to use the
    ///   connection again, as from a server that gives up idle connections.
    public func closing(announced: Bool = true) -> Self {
        switch content {
        case .steps(let steps):
            return Self(steps: steps + [.close]).preceded(by: before)
        case .message(var message):
            message.close = announced ? .announced : .silent
            return Self(message).preceded(by: before)
        }
    }

    /// What to do for a request, and whether the connection can be used for another.
    func script(for request: MockServer.Request, keepsAlive: Bool) -> (steps: [Step], keepsAlive: Bool) {
        switch content {
        case .steps(let steps):
            // Steps say themselves when to close.
            return (before + steps, true)
        case .message(let message):
            let script = message.script(for: request, keepsAlive: keepsAlive)
            return (before + script.steps, script.keepsAlive)
        }
    }
}
