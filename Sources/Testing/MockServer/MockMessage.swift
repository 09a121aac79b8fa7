internal import Foundation
internal import InterceptorsCore

/// The content of a response: steps that send it without framing, and the framing.
struct MockContent: Sendable {
    enum Framing: Sendable {
        case length(Int)
        case chunked(trailers: HTTPFields)
        /// The end of the connection ends the content.
        case close
    }

    var steps: [MockResponse.Step]
    var framing: Framing

    init(_ framing: Framing, _ steps: [MockResponse.Step]) {
        self.steps = steps
        self.framing = framing
    }

    init(_ bytes: Data) { self.init(.length(bytes.count), [.send(bytes)]) }

    /// Content that is read while it is sent.
    init(_ body: HTTPBody) {
        let length = body.length.flatMap(Int.init(exactly:))
        self.init(length.map { .length($0) } ?? .chunked(trailers: [:]), [.init(action: .sendBody(body))])
    }

    /// Chunks with a pause before each. If the content is cut, its end doesn't come.
    init(_ chunks: [StubAnswer.Chunk], trailers: HTTPFields, isCut: Bool = false) {
        let pieces = chunks.flatMap { chunk -> [MockResponse.Step] in
            (chunk.pause > .zero ? [.wait(chunk.pause)] : []) + [.send(chunk.bytes)]
        }
        self.init(.chunked(trailers: trailers), pieces + (isCut ? [.close] : []))
    }

    var length: Int? { if case .length(let length) = framing { length } else { nil } }
}

/// A response in HTTP terms. It becomes steps once its request is known.
struct MockMessage: Sendable {
    enum Close: Sendable { case announced, silent }

    var status: HTTPResponse.Status
    var headerFields: HTTPFields
    var content: MockContent
    /// The content, in place of `content`.
    var file: URL?
    var close: Close?
    var headPace: (bytes: Int, pause: Duration)?

    init(_ status: HTTPResponse.Status, _ headerFields: HTTPFields, _ content: MockContent) {
        self.status = status
        self.headerFields = headerFields
        self.content = content
    }

    /// This message with the content of its file, or a 500 that says why the file can't be read.
    func withFileRead() -> Self {
        guard let file else { return self }
        var message = self
        do {
            message.content = MockContent(try Data(contentsOf: file))
        } catch {
            message.status = 500
            message.headerFields[.contentType] = "text/plain; charset=utf-8"
            let text = "The file \(file.lastPathComponent) can't be read: \(error)\n"
            message.content = MockContent(Data(text.utf8))
        }
        return message
    }

    func script(
        for request: MockServer.Request,
        keepsAlive: Bool
    ) -> (steps: [MockResponse.Step], keepsAlive: Bool) {
        var fields = headerFields
        let hasLength = fields.contains(.contentLength)
        let isFramed = hasLength || fields.contains(.transferEncoding)
        var keepsOpen =
            keepsAlive && close == nil && !fields[values: .connection].contains { $0.lowercased() == "close" }
        var steps = content.steps
        switch content.framing {
        // HTTP/1.0 has no transfer codings: its content ends with the connection. A `Content-Length` excludes them
        // (RFC 9112 §6.2).
        case .chunked(let trailers)
        where request.version != "1.0" && (fields.contains(.transferEncoding) || !hasLength):
            if !isFramed, hasContent(answering: .get) { fields[.transferEncoding] = "chunked" }
            steps = steps.compactMap(Self.framed) + [.send(Self.end(trailers))]
        case .length(let length): if !isFramed, hasContent(answering: .get) { fields[.contentLength] = String(length) }
        // The announced length need not be that of the chunks, so only the end of the connection ends them.
        case .chunked: if isFramed || hasContent(answering: .get) { keepsOpen = false }
        case .close: if !isFramed, hasContent(answering: .get) { keepsOpen = false }
        }
        if !fields.contains(.connection) {
            if !keepsOpen, close != .silent { fields[.connection] = "close" }
            if keepsOpen, request.version == "1.0" { fields[.connection] = "keep-alive" }
        }
        let head = paced(Self.head(status, fields))
        return (Self.joined(head + (hasContent(answering: request.method) ? steps : [])), keepsOpen)
    }

    /// The status line and the fields of a response.
    static func head(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Data {
        var text = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"
        for field in fields { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Data((text + "\r\n").utf8)
    }

    /// A chunk with its framing (RFC 9112 §7.1).
    static func frame(_ chunk: Data) -> Data {
        Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
    }

    private func hasContent(answering method: HTTPRequest.Method) -> Bool {
        HTTPResponse.hasContent(status: status.code, answering: method)
    }

    /// A step of the chunked coding; `nil` for an empty piece, which would end the content.
    private static func framed(_ step: MockResponse.Step) -> MockResponse.Step? {
        switch step.action {
        case .send(let bytes): bytes.isEmpty ? nil : .send(frame(bytes))
        case .sendRepeatedly(let bytes, let times): bytes.isEmpty ? nil : .send(frame(bytes), times: times)
        case .sendBody(let body): .init(action: .sendChunks(body))
        default: step
        }
    }

    private static func end(_ trailers: HTTPFields) -> Data {
        Data(("0\r\n" + trailers.map { "\($0.name.rawName): \($0.value)\r\n" }.joined() + "\r\n").utf8)
    }

    private func paced(_ head: Data) -> [MockResponse.Step] {
        guard let (count, pause) = headPace else { return [.send(head)] }
        return stride(from: 0, to: head.count, by: count).flatMap { start in
            [MockResponse.Step.wait(pause), .send(head[start..<min(start + count, head.count)])]
        }
    }

    // Joins consecutive sends into one packet, as most servers do.
    private static func joined(_ steps: [MockResponse.Step]) -> [MockResponse.Step] {
        var joined: [MockResponse.Step] = []
        for step in steps {
            if case .send(let next) = step.action, next.count < 16 << 10,
                case .send(let last) = joined.last?.action, last.count < 16 << 10
            {
                joined[joined.count - 1] = .send(last + next)
            } else {
                joined.append(step)
            }
        }
        return joined
    }
}
