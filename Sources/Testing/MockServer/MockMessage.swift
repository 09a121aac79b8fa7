internal import Foundation
internal import InterceptorsCore

/// A response in HTTP terms. It becomes steps once its request is known.
struct MockMessage: Sendable {
    enum Body: Sendable {
        case bytes(Data)
        case file(URL)
        case chunks([Data], trailers: HTTPFields, pause: Duration?)
        /// Chunks with a pause before each. If the content is cut, its end doesn't come.
        case timedChunks([StubAnswer.Chunk], trailers: HTTPFields, isCut: Bool)
        case repeated(Data, times: Int, chunked: Bool)
        /// Content that is read while it is sent.
        case stream(HTTPBody)
        case untilClose(Data)
        /// The beginning of a content with the given length, without the rest.
        case stalled(Data, of: Int)
    }

    enum Close: Sendable { case announced, silent }

    var status: HTTPResponse.Status
    var headerFields: HTTPFields
    var body: Body
    var close: Close?
    var headPace: (bytes: Int, pause: Duration)?

    init(status: HTTPResponse.Status, headerFields: HTTPFields, body: Body) {
        self.status = status
        self.headerFields = headerFields
        self.body = body
    }

    /// This message with the content of its file, or a 500 that says why the file can't be read.
    func withFileRead() -> Self {
        guard case .file(let file) = body else { return self }
        var message = self
        do {
            message.body = .bytes(try Data(contentsOf: file))
        } catch {
            message.status = 500
            message.headerFields[.contentType] = "text/plain; charset=utf-8"
            message.body = .bytes(Data("The file \(file.lastPathComponent) can't be read: \(error)\n".utf8))
        }
        return message
    }

    func script(
        for request: MockServer.Request,
        keepsAlive: Bool
    ) -> (steps: [MockResponse.Step], keepsAlive: Bool) {
        let isChunked = self.isChunked(for: request)
        var fields = headerFields
        var keepsOpen =
            keepsAlive && close == nil && !fields[values: .connection].contains { $0.lowercased() == "close" }
        let isFramed = fields.contains(.contentLength) || fields.contains(.transferEncoding)
        // The announced length need not be that of the chunks, so only the end of the connection ends them.
        if isOfChunks, !isChunked, isFramed { keepsOpen = false }
        if !isFramed, hasContent(answering: .get) {
            if isChunked {
                fields[.transferEncoding] = "chunked"
            } else if let length {
                fields[.contentLength] = String(length)
            } else {
                keepsOpen = false
            }
        }
        if !fields.contains(.connection) {
            if !keepsOpen, close != .silent { fields[.connection] = "close" }
            if keepsOpen, request.version == "1.0" { fields[.connection] = "keep-alive" }
        }
        let head = paced(Self.head(status, fields))
        let content = hasContent(answering: request.method) ? content(isChunked: isChunked) : []
        return (Self.joined(head + content), keepsOpen)
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

    // HTTP/1.0 has no transfer codings: its content ends with the connection. A `Content-Length` excludes them (RFC 9112 §6.2).
    private func isChunked(for request: MockServer.Request) -> Bool {
        let hasLength = headerFields.contains(.contentLength) && !headerFields.contains(.transferEncoding)
        return isOfChunks && !hasLength && request.version != "1.0"
    }

    private var isOfChunks: Bool {
        switch body {
        case .chunks, .timedChunks, .repeated(_, _, chunked: true): true
        case .stream(let body): body.length == nil
        case .bytes, .file, .repeated, .untilClose, .stalled: false
        }
    }

    var length: Int? {
        switch body {
        case .bytes(let bytes): return bytes.count
        case .stalled(_, let announced): return announced
        case .stream(let body): return body.length.flatMap(Int.init(exactly:))
        case .repeated(let bytes, let times, chunked: false):
            let (length, isOver) = bytes.count.multipliedReportingOverflow(by: times)
            return isOver ? nil : length
        case .chunks, .timedChunks, .file, .repeated, .untilClose: return nil
        }
    }

    private func content(isChunked: Bool) -> [MockResponse.Step] {
        switch body {
        case .bytes(let bytes), .untilClose(let bytes):
            return [.send(bytes)]
        case .file:
            return []
        case .stalled(let bytes, _):
            return [.send(bytes), .waitForever]
        case .stream(let body):
            return [MockResponse.Step(action: .sendBody(body, isChunked: isChunked))]
                + (isChunked ? [.send(Self.end([:]))] : [])
        case .repeated(let bytes, let times, _):
            guard !bytes.isEmpty else { return isChunked ? [.send(Self.end([:]))] : [] }
            return [.send(isChunked ? Self.frame(bytes) : bytes, times: times)]
                + (isChunked ? [.send(Self.end([:]))] : [])
        case .chunks(let chunks, let trailers, let pause):
            // An empty chunk would end the content, so an empty element only causes a pause.
            let pieces = chunks.enumerated().flatMap { index, chunk -> [MockResponse.Step] in
                let before: [MockResponse.Step] = index > 0 ? pause.map { [.wait($0)] } ?? [] : []
                return before + (chunk.isEmpty ? [] : [.send(isChunked ? Self.frame(chunk) : chunk)])
            }
            return pieces + (isChunked ? [.send(Self.end(trailers))] : [])
        case .timedChunks(let chunks, let trailers, let isCut):
            let pieces = chunks.flatMap { chunk -> [MockResponse.Step] in
                let before: [MockResponse.Step] = chunk.pause > .zero ? [.wait(chunk.pause)] : []
                return before + (chunk.bytes.isEmpty ? [] : [.send(isChunked ? Self.frame(chunk.bytes) : chunk.bytes)])
            }
            return pieces + (isCut ? [.close] : isChunked ? [.send(Self.end(trailers))] : [])
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
