internal import Foundation
internal import InterceptorsCore

/// The peer of a transport that answers in memory: a server's routes and queue, without its connections.
struct MemoryPeer: Sendable {
    let core: ServerCore

    func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        let received = try await Self.received(request)
        let route = core.read { $0.route(for: received) }
        let response = core.update { state in
            state.note(received)
            return route == nil ? state.takeQueued(for: received) : nil
        }
        if let response { return try await perform(response) }
        switch route?.answer {
        case .response(let response): return try await perform(response)
        case .closure(let answer): return try await perform(answer(received))
        case nil: throw RuleObservation(description: "No route takes \(received).")
        }
    }

    private static func received(_ request: HTTPRequest) async throws -> MockServer.Request {
        let query = request.url.query(percentEncoded: true)
        let path = request.url.path(percentEncoded: true)
        var received = MockServer.Request(
            method: request.method,
            target: path + (query.map { "?\($0)" } ?? ""),
            path: path,
            query: query,
            version: "1.1",
            headerFields: request.headerFields
        )
        received.body = try await request.body.collect(upTo: 64 << 20)
        received.bodyLength = received.body.count
        return received
    }

    private func perform(_ response: MockResponse) async throws -> HTTPResponse {
        switch response.content {
        case .message(let message):
            var fields = message.headerFields
            if let length = message.content.length { fields.addMissing([.contentLength: String(length)]) }
            return HTTPResponse(status: message.status, headerFields: fields, body: try body(message))
        case .steps(let steps):
            guard case .waitForever? = steps.first?.action else {
                throw RuleObservation(description: "The rule needs a connection, and doesn't say so.")
            }
            for await _ in endless(after: nil).stream {}
            throw CancellationError()
        }
    }

    private func body(_ message: MockMessage) throws -> HTTPBody {
        if let file = message.file { return try HTTPBody(file: file) }
        var pieces: [Data] = []
        for step in message.content.steps {
            switch step.action {
            case .send(let bytes): pieces.append(bytes)
            case .sendRepeatedly(let bytes, let times): pieces += repeatElement(bytes, count: times)
            case .sendBody(let body): return body
            case .waitForever:
                let (stream, end) = endless(after: Data(pieces.joined()))
                return .oneShot(stream, length: message.content.length.map(Int64.init), onDiscard: end)
            default: break
            }
        }
        guard case .chunked = message.content.framing else { return HTTPBody(Data(pieces.joined())) }
        return .restartable { [pieces] in ScriptedStream(pieces).body() }
    }

    /// A stream that yields at most one chunk and then waits until its reader goes away. Its end counts as a connection closed
    /// by the client.
    private func endless(after chunk: Data?) -> (stream: AsyncStream<Data>, end: @Sendable () -> Void) {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        continuation.onTermination = { [core] _ in core.update { $0.closedByPeer += 1 } }
        if let chunk { continuation.yield(chunk) }
        return (stream, { continuation.finish() })
    }
}
