internal import Foundation

/// The content of a response: steps that send it without framing, and the framing.
struct MockContent: Sendable {
    enum Framing: Sendable {
        case length(Int)
        case chunked(trailers: HTTPFields)
        /// The end of the connection ends the content.
        case close
    }

    let framing: Framing
    let steps: [MockServer.Step]

    init(_ framing: Framing, _ steps: [MockServer.Step]) {
        self.framing = framing
        self.steps = steps
    }

    /// The content of an answer that no closure gives.
    ///
    /// - Throws: the error of a file that can't be opened.
    init(_ content: StubAnswer.Content, trailers: HTTPFields) throws {
        switch content {
        case .body(let body): self.init(body)
        case .file(let file): self.init(try HTTPBody(file: file))
        case .chunks(let chunks, let failure):
            let pieces = chunks.flatMap { chunk -> [MockServer.Step] in
                (chunk.pause > .zero ? [.wait(chunk.pause)] : []) + [.send(chunk.bytes)]
            }
            self.init(.chunked(trailers: trailers), pieces + (failure == nil ? [] : [.close]))
        case .failure, .never, .closure, .choice: self.init(.length(0), [])
        }
    }

    private init(_ body: HTTPBody) {
        if let bytes = body.data {
            self.init(.length(bytes.count), [.send(bytes)])
        } else {
            // Read while it is sent.
            let length = body.length.flatMap(Int.init(exactly:))
            let step = MockServer.Step(action: .sendBody(body, isChunked: false))
            self.init(length.map { .length($0) } ?? .chunked(trailers: [:]), [step])
        }
    }

    /// Discards what isn't sent.
    func discard() {
        for case .sendBody(let body, _) in steps.map(\.action) { body.discard() }
    }

    /// The steps in the chunked coding (RFC 9112 §7.1).
    func framedSteps(_ trailers: HTTPFields) -> [MockServer.Step] {
        let end = "0\r\n" + trailers.map { "\($0.name.rawName): \($0.value)\r\n" }.joined() + "\r\n"
        return steps.compactMap(Self.framed) + [.send(end)]
    }

    /// A step of the chunked coding; `nil` for an empty piece, which would end the content.
    private static func framed(_ step: MockServer.Step) -> MockServer.Step? {
        switch step.action {
        case .send(let bytes, let times): bytes.isEmpty ? nil : .send(frame(bytes), times: times)
        case .sendBody(let body, _): .init(action: .sendBody(body, isChunked: true))
        default: step
        }
    }

    /// A chunk with its framing.
    static func frame(_ chunk: Data) -> Data {
        Data("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + Data("\r\n".utf8)
    }

    /// The status line and the fields of a response.
    static func head(_ status: HTTPResponse.Status, _ fields: HTTPFields) -> Data {
        var text = "HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n"
        for field in fields { text += "\(field.name.rawName): \(field.value)\r\n" }
        return Data((text + "\r\n").utf8)
    }

    /// The steps, with consecutive sends in one packet, as most servers send them.
    static func joined(_ steps: [MockServer.Step]) -> [MockServer.Step] {
        var joined: [MockServer.Step] = []
        for step in steps {
            if case .send(let next, times: 1) = step.action, next.count < 16 << 10,
                case .send(let last, times: 1) = joined.last?.action, last.count < 16 << 10
            {
                joined[joined.count - 1] = .send(last + next)
            } else {
                joined.append(step)
            }
        }
        return joined
    }
}
