internal import Foundation
internal import Interceptors
internal import Synchronization

/// A network whose servers behave at random: they are slow, fail, redirect and reject.
final class SimulatedNetwork: Transport {
    let core: SimulationCore

    init(core: SimulationCore) { self.core = core }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try request.validate()
        let id = request.context.simulatedCall
        core.note("send #\(id) \(request.method) \(request.url.absoluteString)")
        core.began(request, id)
        defer { core.state.withLock { $0.running -= 1 } }
        do {
            let response = try await answer(request, id)
            core.note("answer #\(id) \(response.status.code)")
            if Self.leavesUndone(response) { core.state.withLock { _ = $0.acted.remove(id) } }
            return response
        } catch {
            core.note("failure #\(id) \((error as? any HTTPError)?.qualifiedCode ?? "\(type(of: error))")")
            throw error
        }
    }

    /// Whether a response says that the server hasn't acted on the request.
    private static func leavesUndone(_ response: HTTPResponse) -> Bool {
        [401, 307, 308, 429].contains(response.status.code)
            || response.status == 503 && response.headerFields.contains(.retryAfter)
    }

    private func answer(_ request: HTTPRequest, _ id: Int) async throws -> HTTPResponse {
        let isTroubled = core.chance(core.trouble)
        if isTroubled, core.chance(15) { throw failure(.cannotConnect, request) }
        core.mayAct(on: request, id)
        if isTroubled, core.chance(10) {
            // The connection breaks while the body is sent.
            var chunks = request.body.makeAsyncIterator()
            _ = try await chunks.next()
            request.body.discard()
            throw failure(.connectionLost, request)
        }
        _ = try await request.body.collect(upTo: 1 << 20)
        try await wait(isTroubled: isTroubled, request)
        try Task.checkCancellation()
        if isTroubled, core.chance(20) {
            throw failure(core.oneOf([.connectionLost, .timedOut, .truncated]), request)
        }
        var response = head(request, isTroubled: isTroubled)
        response.url = request.url
        if response.status != 204 {
            response.headerFields[.contentType] = "application/json"
            response.headerFields[.contentLength] = "\(core.content.count)"
            response.body = body(for: request, isTroubled: isTroubled)
        }
        return response
    }

    /// Sometimes a server answers at once, and occasionally it hangs.
    private func wait(isTroubled: Bool, _ request: HTTPRequest) async throws {
        guard core.chance(85) else { return }
        let wait: Duration = isTroubled && core.chance(10) ? .seconds(1_000) : .milliseconds(core.number(in: 1...3_000))
        let timeouts = request.context.timeouts
        let limit = [timeouts?.idle, timeouts?.total].compactMap(\.self).min() ?? .seconds(10_000)
        try await core.clock.sleep(for: min(wait, limit))
        if wait > limit { throw failure(.timedOut, request) }
    }

    private func failure(_ code: HTTPErrorCode, _ request: HTTPRequest) -> TransportError {
        TransportError(code, "The simulated network fails.", request: request)
    }

    private func head(_ request: HTTPRequest, isTroubled: Bool) -> HTTPResponse {
        var fields: HTTPFields = ["X-Simulated-Path": request.url.path]
        if core.chance(60) {
            fields[.cacheControl] = core.oneOf(["max-age=2", "max-age=60", "max-age=60", "no-store", "max-age=0"])
        }
        let text = Self.text(of: request)
        for account in core.accounts(in: text).sorted() { fields.append("X-Simulated-Account", account) }
        if request.url.path.hasPrefix("/private"), Origin(request.url) == core.origin, !core.isValid(text) {
            fields[.wwwAuthenticate] = "Bearer"
            return HTTPResponse(status: 401, headerFields: fields)
        }
        guard isTroubled else { return HTTPResponse(status: 200, headerFields: fields) }
        switch core.number(in: 0...5) {
        case 0, 1:
            let target = core.chance(50) ? "" : core.chance(50) ? core.url.absoluteString : core.otherURL.absoluteString
            let path = core.oneOf(["/things/1", "/private/2", "/moved"])
            core.state.withLock { _ = $0.redirects[request.url.path, default: []].insert(path) }
            fields[.location] = target + path
            return HTTPResponse(status: core.oneOf([301, 302, 303, 307, 308]), headerFields: fields)
        case 2:
            if core.chance(50) { fields[.retryAfter] = core.oneOf(["0", "1", "99999999999", "soon"]) }
            return HTTPResponse(status: core.oneOf([429, 503]), headerFields: fields)
        case 3:
            fields[.wwwAuthenticate] = "Bearer"
            return HTTPResponse(status: 401, headerFields: fields)
        default: return HTTPResponse(status: core.oneOf([500, 502, 504, 404, 204]), headerFields: fields)
        }
    }

    /// The parts of a request that may carry a credential.
    static func text(of request: HTTPRequest) -> String {
        request.url.absoluteString + "\n" + request.headerFields.map(\.value).joined(separator: "\n")
    }

    private func body(for request: HTTPRequest, isTroubled: Bool) -> HTTPBody {
        guard request.context.responseBody.bufferLimit == nil else { return HTTPBody(core.content) }
        let id = core.nextID()
        core.state.withLock { _ = $0.openBodies.insert(id) }
        let error = isTroubled && core.chance(20) ? failure(.truncated, request) : nil
        let chunks = SimulatedChunks(
            core: core,
            id: id,
            chunks: ScriptedStream.parts(of: core.content, count: 3),
            error: error
        )
        return .oneShot(chunks, length: Int64(core.content.count), onDiscard: { [core] in core.closed(body: id) })
    }
}

/// A streamed response whose chunks take time.
private struct SimulatedChunks: AsyncSequence, Sendable {
    let core: SimulationCore
    let id: Int
    let chunks: [Data]
    /// The end of the stream, in place of its last chunk.
    let error: TransportError?

    func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    struct Iterator: AsyncIteratorProtocol {
        let stream: SimulatedChunks
        var index = 0

        mutating func next() async throws -> Data? {
            let core = stream.core
            do {
                if core.chance(30) { try await core.clock.sleep(for: .milliseconds(core.number(in: 1...500))) }
                try Task.checkCancellation()
                if let error = stream.error, index == stream.chunks.count - 1 { throw error }
            } catch {
                core.closed(body: stream.id)
                throw error
            }
            guard index < stream.chunks.count else {
                core.closed(body: stream.id)
                return nil
            }
            index += 1
            return stream.chunks[index - 1]
        }
    }
}

/// The records of the network.
extension SimulationCore {
    /// Checks a request that is about to be sent.
    func began(_ request: HTTPRequest, _ id: Int) {
        let (call, hasActed) = state.withLock { state in
            state.running += 1
            return (state.calls[id], state.acted.contains(id))
        }
        let sent = accounts(in: SimulatedNetwork.text(of: request))
        if !sent.isEmpty, Origin(request.url) != origin {
            let names = sent.sorted().joined(separator: ", ")
            violate(
                .secretsStayAtTheirOrigin,
                "The credential of \(names) was sent to \(request.url.host() ?? "nobody")."
            )
        }
        guard let call else { return }
        if !request.body.isReadable {
            violate(.aOneShotBodyIsSentOnce, "The one-shot body of \(call) was sent again.")
        }
        if let account = call.account, let other = sent.first(where: { $0 != account }) {
            violate(.accountsStayApart, "\(call), of \(account), was sent with the credential of \(other).")
        }
        if hasActed, request.method == .post, !request.headerFields.contains(.idempotencyKey) {
            violate(.aPostIsActedOnOnce, "\(call) was sent again after a server may have acted on it.")
        }
    }

    func mayAct(on request: HTTPRequest, _ id: Int) {
        guard request.method == .post, !request.headerFields.contains(.idempotencyKey) else { return }
        state.withLock { _ = $0.acted.insert(id) }
    }

    func closed(body: Int) { state.withLock { _ = $0.openBodies.remove(body) } }

    /// Whether a request has a credential that the server accepts.
    func isValid(_ text: String) -> Bool { state.withLock(\.valid).values.contains { text.contains($0) } }
}

extension HTTPContext {
    private enum SimulatedCallKey: HTTPContextKey { static var defaultValue: Int { 0 } }

    /// The number of the simulated call that a request belongs to; 0 if unknown.
    var simulatedCall: Int {
        get { self[SimulatedCallKey.self] }
        set { self[SimulatedCallKey.self] = newValue }
    }
}
