internal import Foundation
internal import InterceptorsCore

extension ServerConnection {
    /// Reads and answers one request. Returns whether another may follow on this connection.
    func serveRequest(number: Int) throws(Ending) -> Bool {
        let head = try readHead()
        var request = head.request
        request.connection = id
        request.number = number
        let route = server.read { [request] in $0.route(for: request) }
        let readsBody = route?.readsBody ?? true
        if route == nil, let admit = server.read({ $0.queue.isEmpty ? $0.admit : nil }) {
            return try serve(&request, of: head, by: admit(request))
        }
        if readsBody { try readBody(of: head, into: &request) }
        let answer = try answer(to: request, by: route)
        let isRead = readsBody || head.framing == .length(0)
        return try give(answer, to: request, keepsAlive: head.keepsAlive && isRead) && isRead
    }

    /// Sends an answer. Returns whether another may follow on this connection.
    private func give(
        _ answer: StubAnswer,
        to request: MockServer.Request,
        keepsAlive: Bool
    ) throws(Ending) -> Bool {
        let chosen = answer.isChosen ? try choose(request) { try await answer.chosen(for: request) } : answer
        let script = chosen.script(for: request, keepsAlive: keepsAlive)
        try perform(script.steps)
        return script.keepsAlive
    }

    /// The answer of a closure, or a 500 with its error.
    private func choose(
        _ request: MockServer.Request,
        _ name: String = "The answer",
        by closure: @escaping @Sendable () async throws -> StubAnswer
    ) throws(Ending) -> StubAnswer {
        try value {
            do { return try await closure() } catch {
                return .text("\(name) threw on \(request): \(error)\n", status: 500)
            }
        }
    }

    /// Answers a request whose content is read as the intake says.
    private func serve(
        _ request: inout MockServer.Request,
        of head: RequestHead,
        by intake: MockServer.Intake
    ) throws(Ending) -> Bool {
        for fields in intake.interims { try send(MockContent.head(104, fields)) }
        let isCut: Bool
        do {
            isCut = try !readBody(of: head, into: &request, upTo: intake.limit ?? .max)
        } catch .peerGone {
            // The client is gone, perhaps killed. The server keeps the bytes that have arrived.
            server.update { [request] in $0.note(request) }
            _ = intake.answer(request, true)
            throw .peerGone
        }
        server.update { [request] in $0.note(request) }
        return try give(intake.answer(request, isCut), to: request, keepsAlive: head.keepsAlive && !isCut) && !isCut
    }

    private func answer(to request: MockServer.Request, by route: Route?) throws(Ending) -> StubAnswer {
        guard let route else {
            let (queued, fallback) = server.update { state in
                state.note(request)
                let fallback = state.queue.isEmpty ? state.fallback : nil
                return (fallback == nil ? state.takeQueued(for: request) : nil, fallback)
            }
            if let fallback { return try value { await fallback(request) } }
            return queued ?? .status(404)
        }
        server.update { $0.note(request) }
        switch route.answer {
        case .response(let response): return response
        case .closure(let answer): return try choose(request, "The route \(route)") { try await answer(request) }
        }
    }
}

extension ServerConnection {
    /// Reads the head of the next request.
    private func readHead() throws(Ending) -> RequestHead {
        let limit = server.limits.head
        let tooLarge = BadRequest(431, "The head is over the limit of \(limit) bytes.")
        var reader = LineReader(limit: limit, tooLong: tooLarge)
        var (lines, size) = ([[UInt8]](), 0)
        while true {
            var rest = input
            let line = try refusing { () throws(BadRequest) in try reader.next(from: &rest) }
            size += input.count - rest.count
            input = rest
            guard size <= limit else { throw .refused(tooLarge) }
            guard let line else {
                try receive()
                continue
            }
            if !line.isEmpty {
                lines.append(line)
            } else if !lines.isEmpty {
                return try refusing { () throws(BadRequest) in try RequestHead(lines) }
            } else {
                // Empty lines before a request are skipped (RFC 9112 §2.2).
                size = 0
            }
        }
    }

    /// Reads the content up to a limit. Returns `false` if the content goes on after it.
    @discardableResult
    private func readBody(
        of head: RequestHead,
        into request: inout MockServer.Request,
        upTo limit: Int = .max
    ) throws(Ending) -> Bool {
        if case .length(let length) = head.framing, length > server.limits.body { throw .refused(bodyTooLarge) }
        if head.expectsContinue, head.framing != .length(0), input.isEmpty {
            try send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        switch head.framing {
        case .length(let length):
            while request.bodyLength < length {
                guard request.bodyLength < limit else { return false }
                if input.isEmpty { try receive() }
                let piece = input.prefix(min(length, limit) - request.bodyLength)
                input = input.dropFirst(piece.count)
                add(piece, to: &request)
            }
        case .chunked:
            var decoder = ChunkedDecoder(lineLimit: server.limits.head)
            while !decoder.isDone {
                if input.isEmpty { try receive() }
                let bytes = input
                let used = try refusing { () throws(BadRequest) in
                    try decoder.decode(bytes) { piece throws(BadRequest) in
                        guard request.bodyLength <= server.limits.body - piece.count else { throw bodyTooLarge }
                        add(piece, to: &request)
                    }
                }
                input = input.dropFirst(used)
            }
        }
        return true
    }

    private var bodyTooLarge: BadRequest {
        BadRequest(413, "The content is over the limit of \(server.limits.body) bytes.")
    }

    private func add(_ piece: ArraySlice<UInt8>, to request: inout MockServer.Request) {
        request.bodyLength += piece.count
        request.body.append(contentsOf: piece.prefix(max(0, server.limits.keptBody - request.body.count)))
    }

    private func refusing<Value>(_ parse: () throws(BadRequest) -> Value) throws(Ending) -> Value {
        do {
            return try parse()
        } catch {
            throw .refused(error)
        }
    }
}

extension ServerConnection {
    /// Performs the steps of a response.
    func perform(_ steps: [MockServer.Step]) throws(Ending) {
        for step in steps { try perform(step) }
    }

    private func perform(_ step: MockServer.Step) throws(Ending) {
        switch step.action {
        case .send(let bytes): try send(bytes)
        case .sendRepeatedly(let bytes, let times): try send(bytes, times: times)
        case .sendBody(let body): try send(body, isChunked: false)
        case .sendChunks(let body): try send(body, isChunked: true)
        case .wait(let duration):
            let clock = server.clock
            try value { _ = try? await clock.sleep(for: duration) }
        case .waitForever: while true { try watchClient() }
        case .run(let operation): try value(operation)
        case .close: throw .closed
        case .reset: throw .reset
        }
    }

    private func send(_ body: HTTPBody, isChunked: Bool) throws(Ending) {
        let pieces = BodyPieces(body)
        defer { body.discard() }
        while let piece = try value({ await pieces.next() }).get() {
            if !piece.isEmpty { try send(isChunked ? MockContent.frame(piece) : piece) }
        }
    }

    // Groups small pieces into blocks, because a system call for each piece would make large content slow.
    private func send(_ bytes: Data, times: Int) throws(Ending) {
        guard !bytes.isEmpty, times > 0 else { return }
        let perBlock = min(times, max(1, (64 << 10) / bytes.count))
        var block = bytes
        if perBlock > 1 {
            block.reserveCapacity(perBlock * bytes.count)
            for _ in 1..<perBlock { block.append(bytes) }
        }
        for _ in 0..<(times / perBlock) { try send(block) }
        try send(Data(block.prefix(times % perBlock * bytes.count)))
    }
}

/// The pieces of a body, each read when the connection has sent the one before.
private actor BodyPieces {
    private var iterator: HTTPBody.AsyncIterator?

    init(_ body: HTTPBody) { iterator = body.makeAsyncIterator() }

    func next() async -> Result<Data?, ServerConnection.Ending> {
        guard var iterator else { return .success(nil) }
        self.iterator = nil
        do {
            let piece = try await iterator.next(isolation: self)
            self.iterator = iterator
            return .success(piece)
        } catch {
            return .failure(.closed)
        }
    }
}
