internal import Foundation
internal import Synchronization

/// A network whose servers behave at random: they are slow, fail, redirect and reject.
final class SimulatedNetwork: Transport {
    let world: Simulation.World

    init(world: Simulation.World) { self.world = world }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        try request.validate()
        let id = world.call(of: request)
        world.note("send #\(id) \(request.method) \(request.url.absoluteString)")
        let number = world.began(request, id)
        defer { world.state.withLock { $0.running -= 1 } }
        do {
            let response = try await respond(to: request, id, number)
            world.note("response to #\(id) \(response.status.code)")
            if Self.leavesUndone(response) { world.state.withLock { $0.acted[number] = nil } }
            return response
        } catch {
            let code = (error as? any HTTPError)?.qualifiedCode ?? "\(type(of: error))"
            world.note("failure #\(id) \(code)")
            throw error
        }
    }

    /// Whether a response says that the server hasn't acted on the request.
    private static func leavesUndone(_ response: HTTPResponse) -> Bool {
        [401, 307, 308, 429].contains(response.status.code)
            || response.status == 503 && response.headers.contains(.retryAfter)
    }

    private func respond(to request: HTTPRequest, _ id: Int, _ number: Int) async throws -> HTTPResponse {
        let isTroubled = world.chance(world.trouble)
        if isTroubled, world.chance(15) { throw failure(.cannotConnect, request) }
        world.mayAct(on: request, id, number)
        if isTroubled, world.chance(10) {
            // The connection breaks while the body is sent.
            var chunks = request.body.makeAsyncIterator()
            _ = try await chunks.next()
            request.body.discard()
            throw failure(.connectionLost, request)
        }
        world.check(try await request.body.collect(upTo: Simulation.contentLimit), of: request, number)
        try await wait(isTroubled: isTroubled, request)
        try Task.checkCancellation()
        if isTroubled, world.chance(20) {
            throw failure(world.oneOf([.connectionLost, .timedOut, .truncated]), request)
        }
        var response = head(request, number, isTroubled: isTroubled)
        response.url = request.url
        response.headers[Simulation.World.exchangeField] = world.name(ofExchange: number)
        if response.status != 204 {
            let content = world.makeContent(of: number)
            world.change(exchange: number) { $0.content = content }
            response.headers[.contentType] = "application/json"
            response.headers[.contentLength] = "\(content.count)"
            response.body = body(content, for: request)
        }
        return response
    }

    /// Sometimes a server responds at once, and occasionally it hangs.
    private func wait(isTroubled: Bool, _ request: HTTPRequest) async throws {
        guard world.chance(85) else { return }
        let isHanging = isTroubled && world.chance(10)
        let wait: Duration = isHanging ? .seconds(1_000) : .milliseconds(world.number(in: 1...3_000))
        let limit = idleLimit(of: request)
        try await world.clock.sleep(for: min(wait, limit))
        if wait > limit { throw failure(.timedOut, request) }
    }

    private func idleLimit(of request: HTTPRequest) -> Duration {
        let timeouts = request.context.timeouts
        return [timeouts?.idle, timeouts?.total].compactMap(\.self).min() ?? .seconds(10_000)
    }

    private func failure(_ code: HTTPErrorCode, _ request: HTTPRequest) -> TransportError {
        TransportError(code, "The simulated network fails.", request: request)
    }

    private static let rarer: [HTTPResponse.Status] = [
        500, 500, 502, 502, 504, 504, 404, 404, 204, 204, 201, 202, 400, 403, 409, 410, 501,
    ]

    private func head(_ request: HTTPRequest, _ number: Int, isTroubled: Bool) -> HTTPResponse {
        var fields = HTTPFields()
        if world.chance(60) {
            fields[.cacheControl] = world.oneOf(["max-age=2", "max-age=60", "max-age=60", "no-store", "max-age=0"])
        }
        if request.url.path.hasPrefix("/private"), Origin(request.url) == world.origin,
            !world.isValid(Self.text(of: request))
        {
            fields[.wwwAuthenticate] = "Bearer"
            return HTTPResponse(status: 401, headers: fields)
        }
        guard isTroubled else { return HTTPResponse(status: 200, headers: fields) }
        switch world.number(in: 0...5) {
        case 0, 1: return redirect(request, number, fields)
        case 2:
            if world.chance(50) { fields[.retryAfter] = world.oneOf(["0", "1", "99999999999", "soon"]) }
            return HTTPResponse(status: world.oneOf([429, 503]), headers: fields)
        case 3:
            fields[.wwwAuthenticate] = "Bearer"
            return HTTPResponse(status: 401, headers: fields)
        default:
            return HTTPResponse(status: world.oneOf(Self.rarer), headers: fields)
        }
    }

    /// A redirect to the same origin, another one, or the same host without TLS.
    private func redirect(_ request: HTTPRequest, _ number: Int, _ fields: HTTPFields) -> HTTPResponse {
        let (url, other) = (world.url.absoluteString, world.otherURL.absoluteString)
        let target = world.oneOf(["", "", "", "", url, url, other, "http://api.example.com"])
        let location = target + world.oneOf(["/things/1", "/private/2", "/moved"])
        let status = world.oneOf([301, 302, 303, 307, 308] as [HTTPResponse.Status])
        if let resolved = URL(string: location, relativeTo: request.url)?.absoluteURL {
            let methods = [307, 308].contains(status.code) ? [request.method] : [request.method, .get]
            world.change(exchange: number) { $0.redirectTargets = methods.map { .init(method: $0, url: resolved) } }
        }
        var fields = fields
        fields[.location] = location
        return HTTPResponse(status: status, headers: fields)
    }

    /// The parts of a request that may carry a credential.
    static func text(of request: HTTPRequest) -> String {
        request.url.absoluteString + "\n" + request.headers.map(\.value).joined(separator: "\n")
    }

    private func body(_ content: Data, for request: HTTPRequest) -> HTTPBody {
        guard request.context.responseBody.bufferLimit == nil else { return HTTPBody(content) }
        let parts = 3
        let trouble = world.chance(world.trouble) && world.chance(50) ? trouble(request, in: parts) : nil
        let stream = ScriptedStream(content, in: parts) { [world] index in
            if world.chance(30) { try await world.clock.sleep(for: .milliseconds(world.number(in: 1...500))) }
            guard let trouble, trouble.index == index else { return }
            if trouble.stall > .zero { try await world.clock.sleep(for: trouble.stall) }
            if let error = trouble.error { throw error }
        }
        world.state.withLock { $0.streams.append(stream) }
        return stream.body()
    }

    /// Something that happens before a chunk or the end of a stream: after a time, the stream goes on or breaks.
    private typealias Trouble = (index: Int, stall: Duration, error: TransportError?)

    private func trouble(_ request: HTTPRequest, in parts: Int) -> Trouble {
        let index = world.number(in: 0...parts)
        guard world.chance(30) else {
            world.note("a stream is going to break")
            return (index, .zero, failure(world.oneOf([.truncated, .connectionLost]), request))
        }
        world.note("a stream is going to stall")
        let (wait, limit) = (Duration.seconds(1_000), idleLimit(of: request))
        return (index, min(wait, limit), wait > limit ? failure(.timedOut, request) : nil)
    }
}
