public import Foundation

extension StubAnswer {
    /// The server's treatment of its connection, apart from the answer.
    struct Connection: Sendable {
        enum Close: Sendable { case announced, silent }

        /// The content, in place of the answer's.
        var content: MockContent?
        /// The server's behaviour in place of a response.
        var steps: [MockServer.Step]?
        var before: [MockServer.Step] = []
        var close: Close?
    }

    var connection: Connection {
        get { onConnection as? Connection ?? Connection() }
        set { onConnection = newValue }
    }

    init(_ status: HTTPResponse.Status, _ headers: HTTPFields, _ content: MockContent) {
        self.init(status, headers, .never)
        connection.content = content
    }

    /// A ``MockServer``'s reaction from steps, performed in order whatever the request is. The connection stays open after the
    /// last step. A `StubTransport` can't give this answer, nor any other that needs a connection, and fails the request.
    ///
    /// ```swift
    /// StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .run { await gate.opened() }, .send("ok")])
    /// ```
    public init(steps: [MockServer.Step]) {
        self.init(.never)
        connection.steps = steps
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
        return Self(status, headers, MockContent(framing, [.send(bytes, times: times)]))
    }

    /// A response whose content ends with the connection (RFC 9112 §6.3, the last case).
    ///
    /// - Parameters:
    ///   - body: the content.
    ///   - status: the status.
    ///   - headers: the fields.
    public static func untilClose(_ body: Data, status: HTTPResponse.Status = 200, headers: HTTPFields = [:]) -> Self {
        Self(status, headers, MockContent(.close, [.send(body)]))
    }

    /// This answer after some steps of the server.
    public func preceded(by steps: [MockServer.Step]) -> Self {
        var answer = self
        answer.connection.before = steps + leadingSteps
        (answer.interims, answer.delay) = ([], .zero)
        return answer
    }

    /// This answer, after which the server closes the connection.
    ///
    /// - Parameter announced: whether a `Connection: close` field announces the close. If not, the client notices when it next
    ///   uses the connection, as with a server that drops idle connections.
    public func closing(announced: Bool = true) -> Self {
        var answer = self
        answer.connection.close = announced ? .announced : .silent
        return answer
    }
}

extension StubAnswer {
    /// The server's steps before the response.
    private var leadingSteps: [MockServer.Step] {
        interims.map { .send(MockContent.head($0.status, $0.headers)) } + (delay > .zero ? [.wait(delay)] : [])
            + connection.before
    }

    /// Whether a closure gives the answer.
    var isChosen: Bool {
        switch content {
        case .closure, .choice: true
        default: false
        }
    }

    /// This answer without closures: they have answered.
    func chosen(for request: MockServer.Request) async throws -> Self {
        guard let sent = HTTPRequest(request) else { return .text("The target isn't a path.\n", status: 400) }
        var chosen: Self
        switch content {
        case .closure(let answer):
            let response = try await answer(sent)
            chosen = .status(response.status, headers: response.headers, body: response.body)
        case .choice(let choose): chosen = try await choose(sent).chosen(for: request)
        default: return self
        }
        chosen = chosen.preceded(by: leadingSteps)
        chosen.connection.close = connection.close ?? chosen.connection.close
        return chosen
    }

    /// The steps that answer a request, and whether the connection can be reused afterwards.
    func script(for request: MockServer.Request, keepsAlive: Bool) -> (steps: [MockServer.Step], keepsAlive: Bool) {
        let connection = connection
        if let steps = connection.steps ?? stepsOfFailure {
            // Steps close the connection explicitly.
            return (leadingSteps + steps + (connection.close == nil ? [] : [.close]), true)
        }
        do {
            let content = try connection.content ?? MockContent(content, trailers: trailers ?? [:])
            let script = script(content, for: request, keepsAlive: keepsAlive)
            return (leadingSteps + script.steps, script.keepsAlive)
        } catch {
            let answer = Self.text("\(error)\n", status: 500).preceded(by: leadingSteps)
            return answer.script(for: request, keepsAlive: keepsAlive)
        }
    }

    /// A time-out never answers, and another error of a connection resets it.
    private var stepsOfFailure: [MockServer.Step]? {
        switch content {
        case .never where connection.content == nil: [.waitForever]
        case .failure(let error): [(error as? any HTTPError)?.code == .timedOut ? .waitForever : .reset]
        default: nil
        }
    }

    private func script(
        _ content: MockContent,
        for request: MockServer.Request,
        keepsAlive: Bool
    ) -> (steps: [MockServer.Step], keepsAlive: Bool) {
        var fields = headers
        let close = connection.close
        let hasLength = fields.contains(.contentLength)
        let isFramed = hasLength || fields.contains(.transferEncoding)
        let mayHaveContent = HTTPResponse.hasContent(status: status.code, answering: .get)
        var keepsOpen =
            keepsAlive && close == nil && !fields[values: .connection].contains { $0.lowercased() == "close" }
        var steps = content.steps
        switch content.framing {
        // HTTP/1.0 has no transfer codings: its content ends with the connection. A `Content-Length` excludes them
        // (RFC 9112 §6.2).
        case .chunked(let trailers)
        where request.version != "1.0" && (fields.contains(.transferEncoding) || !hasLength):
            if !isFramed, mayHaveContent { fields[.transferEncoding] = "chunked" }
            steps = content.framedSteps(trailers)
        case .length(let length): if !isFramed, mayHaveContent { fields[.contentLength] = String(length) }
        // The announced length need not be that of the chunks, so only the end of the connection ends them.
        case .chunked: if isFramed || mayHaveContent { keepsOpen = false }
        case .close: if !isFramed, mayHaveContent { keepsOpen = false }
        }
        if !fields.contains(.connection) {
            if !keepsOpen, close != .silent { fields[.connection] = "close" }
            if keepsOpen, request.version == "1.0" { fields[.connection] = "keep-alive" }
        }
        if !HTTPResponse.hasContent(status: status.code, answering: request.method) {
            content.discard()
            steps = []
        }
        return (MockContent.joined([.send(MockContent.head(status, fields))] + steps), keepsOpen)
    }
}

extension HTTPRequest {
    /// A request as a server received it, with its body in memory; `nil` if its target isn't a path.
    init?(_ request: MockServer.Request) {
        let target = request.pathAndQuery
        guard request.method != .connect, target.hasPrefix("/"), let url = URL(string: "http://127.0.0.1" + target)
        else { return nil }
        self.init(method: request.method, url: url, headers: request.headers, body: HTTPBody(request.body))
    }
}

// Faults of a ``MockServer``: a few steps each, or a response that breaks its head's promises. Build others with `init(steps:)`.
extension StubAnswer {
    /// Closes the connection instead of answering.
    public static var closeBeforeHead: Self { Self(steps: [.close]) }

    /// Closes the connection in the middle of a field line.
    public static var closeInHead: Self { Self(steps: [.send("HTTP/1.1 200 OK\r\nContent-Le"), .close]) }

    /// Announces a content length in bytes, and closes the connection after fewer.
    public static func closeInBody(after sent: Int, of announced: Int) -> Self {
        wrongContentLength(announced: announced, body: Data(repeating: UInt8(ascii: "x"), count: max(0, sent)))
    }

    /// Announces a content length in bytes, sends only the beginning, and keeps the connection open until the client closes it.
    public static func stallInBody(after beginning: Data, of announced: Int) -> Self {
        status(200, body: .restartable(length: Int64(announced)) { AsyncStream { $0.yield(beginning) } })
    }

    /// Announces one content length and sends another.
    ///
    /// If the content is shorter than announced, the connection is closed after it, so that the client can notice. If the
    /// content is longer, the connection stays open, and the excess bytes precede the next response.
    public static func wrongContentLength(announced: Int, body: Data) -> Self {
        let answer = Self.status(200, headers: [.contentLength: String(announced)], body: body)
        return body.count < announced ? answer.closing(announced: false) : answer
    }

    /// Announces one content length and sends text of another.
    public static func wrongContentLength(announced: Int, body: String) -> Self {
        wrongContentLength(announced: announced, body: Data(body.utf8))
    }

    /// Sends bytes that aren't HTTP, including NUL and invalid UTF-8, and closes the connection.
    public static var garbage: Self {
        let bytes: [UInt8] = [0x00, 0xFF, 0xFE, 0x15, 0x03, 0x01] + Array("%$!\r\n\r\n\u{1B}[2J".utf8) + [0xC3, 0x28]
        return raw(Data(bytes))
    }

    /// Resets the connection instead of answering.
    public static var reset: Self { Self(steps: [.reset]) }

    /// Sends bytes unchanged, and closes the connection.
    public static func raw(_ bytes: Data) -> Self { Self(steps: [.send(bytes), .close]) }

    /// Sends text unchanged in UTF-8, and closes the connection.
    public static func raw(_ text: String) -> Self { raw(Data(text.utf8)) }
}
