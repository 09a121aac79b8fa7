import Foundation
import InterceptorsTesting
import InterceptorsTraffic

@testable import InterceptorsMiddlewares

/// A network whose servers behave at random: they are slow, fail, redirect and reject.
struct ScriptedTransport: Transport {
    static let hosts = ["https://api.test", "https://api.test:8443", "https://other.test", "http://api.test"]

    static let basicSecret = Data("ada:password".utf8).base64EncodedString()

    let world: World
    /// The percentage of exchanges that go wrong: they fail, hang, or get a status other than 200.
    let trouble: Int
    /// The percentage of responses that may be stored.
    let storable: Int

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        let call = request.context.simulatedCall
        world.arrived()
        try request.validate()
        world.note("send #\(call?.id ?? 0) \(request.method) \(request.url)")
        world.check(request)
        world.began(call: call?.id ?? 0)
        defer { world.ended(call: call?.id ?? 0) }
        if !request.body.isReadable { world.violate("A body that was used up was sent again.") }
        if request.context.hedgeAttempt == 2, !request.method.isSafe {
            world.violate("\(request.method) was sent by a hedge.")
        }
        world.begin(request)
        do {
            let response = try await answer(request, call)
            if !Self.leavesUndone(response) { world.mayHaveActed(on: request) }
            return response
        } catch {
            world.note("failed #\(call?.id ?? 0) \(type(of: error))")
            if (error as? TransportError)?.code != .cannotConnect { world.mayHaveActed(on: request) }
            throw error
        }
    }

    /// Whether a response says that the server hasn't acted on the request.
    private static func leavesUndone(_ response: HTTPResponse) -> Bool {
        [401, 307, 308, 429].contains(response.status)
            || response.status == 503 && response.headers.contains(.retryAfter)
    }

    private func answer(_ request: HTTPRequest, _ call: SimulatedCall?) async throws -> HTTPResponse {
        let isTroubled = world.chance(trouble)
        if isTroubled, world.chance(15) { throw failure(.cannotConnect, request) }
        if isTroubled, world.chance(10) {
            // The connection breaks while the body is sent.
            var chunks = request.body.makeAsyncIterator()
            _ = try await chunks.next()
            throw failure(.connectionLost, request)
        }
        let content = try await request.body.collect(upTo: 1 << 16)
        if let call, request.method == call.method { check(content, of: request, call) }
        // Occasionally a server hangs.
        let wait: Duration = isTroubled && world.chance(10) ? .seconds(1_000) : world.milliseconds(upTo: 3_000)
        if world.chance(80) { try await world.clock.sleep(for: wait) }
        try Task.checkCancellation()
        if isTroubled, world.chance(15) {
            throw failure(world.oneOf([.connectionLost, .timedOut, .truncated]), request)
        }
        var response = head(request, isTroubled: isTroubled)
        response.url = request.url
        response.body = body(for: request)
        world.note("answer #\(call?.id ?? 0) \(response.status.code)")
        return response
    }

    private func check(_ content: Data, of request: HTTPRequest, _ call: SimulatedCall) {
        var expected = Data(call.body.utf8)
        if request.headers[.contentEncoding] == "gzip" {
            expected = (try? GzipStream(level: 6)?.compress(expected, isLast: true)) ?? Data()
        }
        guard content != expected else { return }
        let text = String(decoding: content, as: UTF8.self)
        world.violate("Call \(call.id) was sent with the body \"\(text)\" and not with \"\(call.body)\".")
    }

    private func failure(_ code: HTTPErrorCode, _ request: HTTPRequest) -> TransportError {
        TransportError(code, "It is part of the script.", request: request)
    }

    private func head(_ request: HTTPRequest, isTroubled: Bool) -> HTTPResponse {
        var fields = HTTPFields()
        if let host = request.url.host(), world.chance(20) {
            let value = "cookie-secret-\(world.nextID())-end"
            let isSecure = request.url.scheme == "https"
            world.keep(secret: value, of: isSecure ? "https \(host)" : host)
            fields.append(.setCookie, "sid=\(value); Path=/\(isSecure ? "; Secure" : "")")
        }
        if world.chance(storable) {
            fields[.cacheControl] = world.oneOf(["max-age=2", "max-age=60", "max-age=60", "no-store", "max-age=0"])
        }
        fields["X-URL"] = request.url.absoluteString
        fields["X-For"] = World.caller(of: request)
        for account in world.accounts(of: request) { fields.append("X-Account", account) }
        if request.url.path.hasPrefix("/private"), request.url.absoluteString.hasPrefix(Self.hosts[0]),
            !world.knows(request)
        {
            // Many requests are challenged with the same nonce.
            let nonce = "nonce-\(world.clock.now.elapsed.components.seconds / 2)"
            fields.append(.wwwAuthenticate, #"Basic realm="r""#)
            fields.append(.wwwAuthenticate, #"Digest realm="r", nonce="\#(nonce)", qop="auth", algorithm=SHA-256"#)
            return HTTPResponse(status: 401, headers: fields)
        }
        guard isTroubled else { return HTTPResponse(status: 200, headers: fields) }
        switch Int(world.random.next() % 6) {
        case 0, 1:
            let path = world.oneOf(["/a", "b", "/private/c", "", "//"])
            fields[.location] = world.chance(50) ? path : world.oneOf(Self.hosts) + world.oneOf(["/a", "/private/x"])
            return HTTPResponse(status: world.oneOf([301, 302, 303, 307, 308]), headers: fields)
        case 2:
            if world.chance(50) { fields[.retryAfter] = world.oneOf(["0", "1", "99999999999", "soon"]) }
            return HTTPResponse(status: world.oneOf([429, 503]), headers: fields)
        case 3: return HTTPResponse(status: 401, headers: fields)
        default: return HTTPResponse(status: world.oneOf([500, 502, 504, 404, 204]), headers: fields)
        }
    }

    private func body(for request: HTTPRequest) -> HTTPBody {
        guard request.context.responseBody.bufferLimit == nil else { return HTTPBody("content") }
        let id = world.nextID()
        world.opened(body: id)
        return .oneShot(SlowChunks(world: world, id: id), onDiscard: { [world] in world.closed(body: id) })
    }
}

/// A streamed response whose chunks take time.
struct SlowChunks: AsyncSequence, Sendable {
    let world: World
    let id: Int

    struct Iterator: AsyncIteratorProtocol {
        let world: World
        let id: Int
        var left = 3

        mutating func next() async throws -> Data? {
            do {
                if world.chance(30) { try await world.clock.sleep(for: world.milliseconds(upTo: 500)) }
                try Task.checkCancellation()
            } catch {
                world.closed(body: id)
                throw error
            }
            left -= 1
            guard left > 0 else {
                world.closed(body: id)
                return nil
            }
            return Data("chunk".utf8)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(world: world, id: id) }
}

/// A request body that can be sent once.
struct OnceOnly: AsyncSequence, Sendable {
    let world: World
    let call: Int
    let text: String

    struct Iterator: AsyncIteratorProtocol {
        var chunks: [Data]

        mutating func next() async throws -> Data? { chunks.isEmpty ? nil : chunks.removeFirst() }
    }

    func makeAsyncIterator() -> Iterator {
        world.read(oneShotBodyOf: call)
        let half = text.count / 2
        return Iterator(chunks: [Data(text.prefix(half).utf8), Data(text.dropFirst(half).utf8)])
    }
}
