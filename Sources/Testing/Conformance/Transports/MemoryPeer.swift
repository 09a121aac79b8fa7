internal import Foundation

/// The peer of a transport that answers in memory: a server's routes and queue, without its connections.
struct MemoryPeer: Sendable {
    let core: ServerCore

    func answer(_ request: HTTPRequest) async throws -> HTTPResponse {
        let received = try await Self.received(request)
        switch core.state.change({ $0.answer(to: received, by: $0.route(for: received)) }) {
        case .response(let answer): return try await response(answer)
        case .closure(let answer): return try await response(answer(received))
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
            headers: request.headers
        )
        received.body = try await request.body.collect(upTo: 64 << 20)
        received.bodyLength = received.body.count
        return received
    }

    /// The response of an answer. A stream that its reader leaves counts as a connection closed by the client.
    private func response(_ answer: StubAnswer) async throws -> HTTPResponse {
        var response = HTTPResponse(status: answer.status, headers: answer.headers)
        switch answer.content {
        case .never where answer.onConnection == nil:
            let (silence, end) = AsyncStream.makeStream(of: Never.self)
            defer { end.finish() }
            for await _ in silence {}
            core.state.change { $0.closedByPeer += 1 }
            throw CancellationError()
        case .body(let body):
            if let length = body.length { response.headers.addMissing([.contentLength: String(length)]) }
            if body.data == nil {
                response.body = .oneShot(body, length: body.length)
                    .onEnd { [core] _ in core.state.change { $0.closedByPeer += 1 } }
            } else {
                response.body = body
            }
        case .chunks(let chunks, nil):
            response.body = .restartable { ScriptedStream(chunks.map(\.bytes)).body() }
        default: throw RuleObservation("The rule needs a connection, and doesn't say so.")
        }
        return response
    }
}
