internal import Foundation
internal import InterceptorsSyntax

extension ServerConnection {
    /// Reads and answers one request. Returns whether another may follow on this connection.
    func serveRequest(number: Int) throws(Ending) -> Bool {
        let head = try readHead()
        var request = head.request
        request.connection = id
        request.number = number
        let route = server.state.read { [request] in $0.route(for: request) }
        let readsBody = route?.readsBody ?? true
        if route == nil, let admit = server.state.read({ $0.queue.isEmpty ? $0.admit : nil }) {
            return try serve(&request, of: head, by: admit(request))
        }
        if readsBody { try readBody(of: head, into: &request) }
        let answer = try answer(to: request, by: route)
        let isRead = readsBody || head.framing == .length(0)
        return try give(answer, to: request, keepsAlive: head.keepsAlive && isRead) && isRead
    }

    /// Sends an answer. Returns whether another may follow on this connection.
    private func give(_ answer: StubAnswer, to request: MockServer.Request, keepsAlive: Bool) throws(Ending) -> Bool {
        let chosen = answer.isChosen ? try choose(request) { try await answer.chosen(for: request) } : answer
        let script = chosen.script(for: request, keepsAlive: keepsAlive)
        for step in script.steps { try perform(step) }
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
            server.state.change { [request] in $0.note(request) }
            _ = intake.answer(request, true)
            throw .peerGone
        }
        server.state.change { [request] in $0.note(request) }
        return try give(intake.answer(request, isCut), to: request, keepsAlive: head.keepsAlive && !isCut) && !isCut
    }

    private func answer(to request: MockServer.Request, by route: Route?) throws(Ending) -> StubAnswer {
        switch server.state.change({ $0.answer(to: request, by: route) }) {
        case .response(let response): return response
        case .closure(let answer):
            return try choose(request, route.map { "The route \($0)" } ?? "The answer") { try await answer(request) }
        }
    }
}

extension ServerConnection {
    /// Reads the head of the next request.
    private func readHead() throws(Ending) -> RequestHead {
        let limit = server.limits.head
        let tooLarge = Ending.refused(431, "The head is over the limit of \(limit) bytes.")
        var (lines, size) = ([[UInt8]](), 0)
        while true {
            let line = try readLine(upTo: limit - size - 1, tooLong: tooLarge)
            if !line.isEmpty {
                lines.append(line)
                size += line.count + 2
            } else if !lines.isEmpty {
                return try RequestHead(lines)
            }
            // Empty lines before a request are skipped (RFC 9112 §2.2).
        }
    }

    /// Reads a line, and returns it without its CR LF.
    ///
    /// - Parameters:
    ///   - limit: the most bytes of the line and its CR.
    ///   - tooLong: thrown for a longer line.
    private func readLine(upTo limit: Int, tooLong: Ending) throws(Ending) -> [UInt8] {
        var line: [UInt8] = []
        while true {
            guard let byte = input.popFirst() else {
                try receive()
                continue
            }
            if byte == UInt8(ascii: "\n") {
                // Refused at once: a client with such line endings would otherwise wait forever.
                guard line.popLast() == UInt8(ascii: "\r") else {
                    throw .bad("A line ends in LF without CR; a line must end in CR LF (RFC 9112 §2.2).")
                }
                return line
            }
            line.append(byte)
            guard line.count <= limit else { throw tooLong }
        }
    }

    /// Reads the content up to a limit. Returns `false` if the content goes on after it.
    @discardableResult
    private func readBody(
        of head: RequestHead,
        into request: inout MockServer.Request,
        upTo limit: Int = .max
    ) throws(Ending) -> Bool {
        if case .length(let length) = head.framing { try checkRoom(for: length, in: request) }
        if head.expectsContinue, head.framing != .length(0), input.isEmpty {
            try send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8))
        }
        switch head.framing {
        case .length(let length):
            try read(min(length, limit), into: &request)
            return length <= limit
        case .chunked:
            try readChunks(into: &request)
            return true
        }
    }

    /// Reads content in the chunked coding (RFC 9112 §7.1).
    private func readChunks(into request: inout MockServer.Request) throws(Ending) {
        let limit = server.limits.head
        let tooLong = Ending.bad("A line of the chunked coding is over the limit.")
        while case let size = try Self.size(ofChunk: readLine(upTo: limit, tooLong: tooLong)), size > 0 {
            try checkRoom(for: size, in: request)
            try read(size, into: &request)
            guard try readLine(upTo: limit, tooLong: tooLong).isEmpty else {
                throw .bad("A chunk is longer than its size says.")
            }
        }
        // The trailer fields are checked and dropped.
        var trailerSize = 0
        while case let line = try readLine(upTo: limit, tooLong: tooLong), !line.isEmpty {
            trailerSize += line.count + 2
            guard trailerSize <= limit else { throw .refused(431, "The trailer fields are over the limit.") }
            _ = try RequestHead.fields(of: [line])
        }
    }

    private static func size(ofChunk line: [UInt8]) throws(Ending) -> Int {
        // A chunk extension may follow; the server ignores it.
        let digits = line.prefix { $0 != UInt8(ascii: ";") && $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard !digits.isEmpty, digits.allSatisfy({ ASCII.hexadecimalValue($0) != nil }) else {
            throw .bad("The size of a chunk is no hexadecimal number (RFC 9112 §7.1).")
        }
        guard let size = Int(String(decoding: digits, as: UTF8.self), radix: 16) else {
            throw .refused(413, "The size of a chunk is beyond every limit.")
        }
        return size
    }

    private func checkRoom(for count: Int, in request: MockServer.Request) throws(Ending) {
        let limit = server.limits.body
        guard count <= limit - request.bodyLength else {
            throw .refused(413, "The content is over the limit of \(limit) bytes.")
        }
    }

    /// Reads a number of bytes of the content.
    private func read(_ count: Int, into request: inout MockServer.Request) throws(Ending) {
        var left = count
        while left > 0 {
            if input.isEmpty { try receive() }
            let piece = input.prefix(left)
            input = input.dropFirst(piece.count)
            left -= piece.count
            request.bodyLength += piece.count
            request.body.append(contentsOf: piece.prefix(max(0, server.limits.keptBody - request.body.count)))
        }
    }
}

extension ServerConnection {
    private func perform(_ step: MockServer.Step) throws(Ending) {
        switch step.action {
        case .send(let bytes, let times): try send(bytes, times: times)
        case .sendBody(let body, let isChunked): try send(body, isChunked: isChunked)
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
    private var iterator: HTTPBody.AsyncIterator

    init(_ body: HTTPBody) { iterator = body.makeAsyncIterator() }

    func next() async -> Result<Data?, ServerConnection.Ending> {
        var iterator = iterator
        do {
            let piece = try await iterator.next(isolation: self)
            self.iterator = iterator
            return .success(piece)
        } catch {
            return .failure(.closed)
        }
    }
}
