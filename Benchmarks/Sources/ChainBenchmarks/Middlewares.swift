import Foundation
import Harness
import Interceptors
import RealisticChain
import Synchronization

private struct Failed: Error {}

/// Sends requests through a chain that only this contender uses.
private func requests(_ name: String, _ interceptors: [any Interceptor], _ transport: any Transport) -> Contender {
    let chain = InterceptorChain(interceptors, transport: transport)
    return Contender(name) { repetitions in
        for _ in 0..<repetitions {
            guard try await chain.send(HTTPRequest(url: url)).status == 200 else { throw Failed() }
        }
    }
}

/// Compares the chain of ten in `Docs/Performance.md` with parts of it.
func compareRealisticChain() async throws {
    let chain = RealisticChain(url: url)
    let interceptors = chain.named
    let envelope = Canned(response: chain.response)
    func all(but name: String) -> Contender {
        requests("all but \(name)", interceptors.filter { $0.name != name }.map(\.interceptor), envelope)
    }
    let costs = try await compare(
        "A realistic chain of ten over a stub: all together, and each alone",
        repetitions: 2_000,
        [
            requests("all ten", interceptors.map(\.interceptor), envelope), all(but: "cache(.memory())"),
            all(but: "logging(.headers)"),
        ]
            + interceptors.map { requests($0.name, [$0.interceptor], envelope) }
            + [requests("the stub alone (floor)", [], envelope)]
    )
    goal("a request through the realistic chain, CPU", costs["all ten"]?.cpu.map { $0 / 1e3 }, atMost: 5, "µs")
}

/// Compares the log levels.
func compareLogging() async throws {
    let levels: [(String, LogLevel)] = [("off", .off), ("basic", .basic), ("headers", .headers), ("body", .body)]
    let costs = try await compare(
        "Logging at each level, without the cost of a sink",
        repetitions: 5_000,
        [requests("no logging (floor)", [], canned)]
            + levels.map { requests($0.0, [.logging($0.1, to: LogSink { _ in })], canned) }
    )
    guard let none = costs["no logging (floor)"]?.cpu, let off = costs["off"]?.cpu, let basic = costs["basic"]?.cpu
    else { return }
    // With logging off only a hop remains. A request over loopback takes hundreds of times as long.
    goal("logging when off, CPU", off - none, atMost: 100, "ns")
    goal("logging at basic, CPU", (basic - none) / 1e3, atMost: 2, "µs")
}

private struct Payload: Codable {
    struct Item: Codable {
        var id: Int
        var name: String
        var tags: [String]
    }
    var items: [Item]
}

private struct Wrapper: Codable {
    var code: Int
    var message: String
    var object: Payload
}

/// Compares ways to extract the bytes of a payload from an envelope.
func compareEnvelopes() async throws {
    for (name, count, repetitions) in [("1 kB", 18, 200), ("100 kB", 1_850, 10), ("10 MB", 171_000, 1)] {
        let title = "Unwrapping an envelope of \(name)"
        guard isWanted(table: title) else { continue }
        let items = (0..<count).map {
            Payload.Item(id: $0, name: "The item \($0)", tags: ["one", "two"])
        }
        let bytes = try JSONEncoder().encode(Wrapper(code: 200, message: "ok", object: Payload(items: items)))
        let costs = try await compare(
            title,
            rounds: count > 100_000 ? 3 : 9,
            repetitions: repetitions,
            [
                handingOut("unwrapEnvelope", bytes, [.unwrapEnvelope(payload: "object")]), decodingAndEncoding(bytes),
                decoding(bytes), handingOut("the chain and the stub alone (floor)", bytes, []),
            ]
        )
        let own = costs["unwrapEnvelope"]?.cpu, floor = costs["the chain and the stub alone (floor)"]?.cpu
        for peer in ["JSONSerialization, both ways", "JSONDecoder of the wrapper"] {
            // The peers get the bytes directly, without sending a request, so the stub's cost is subtracted from ours.
            var ratio: Double?
            if let peer = costs[peer]?.cpu, let own, let floor { ratio = peer / (own - floor) }
            goal("\(name): CPU of \(peer)", ratio, atLeast: 100, "times ours without the stub's")
        }
        if count > 100_000, let own {
            goal("unwrapping \(name)", Double(bytes.count) / own, atLeast: 1, "GB/s")
        }
    }
}

/// Sends requests over a transport whose responses each have a separate copy of the bytes, like responses from the network.
private func handingOut(_ name: String, _ bytes: Data, _ interceptors: [any Interceptor]) -> Contender {
    .external(name) { repetitions in
        let bodies = (0..<repetitions).map { _ in bytes.withUnsafeBytes { Data($0) } }
        let chain = InterceptorChain(interceptors, transport: OneAfterTheOther(bodies))
        return try await Cost.measured(repetitions) {
            for _ in 0..<repetitions { _ = try await chain.send(HTTPRequest(url: url)) }
        }
    }
}

private func decodingAndEncoding(_ bytes: Data) -> Contender {
    Contender("JSONSerialization, both ways") { repetitions in
        for _ in 0..<repetitions {
            let object = try JSONSerialization.jsonObject(with: bytes) as? [String: Any]
            guard let payload = object?["object"] else { throw Failed() }
            _ = try JSONSerialization.data(withJSONObject: payload)
        }
    }
}

private func decoding(_ bytes: Data) -> Contender {
    Contender("JSONDecoder of the wrapper") { repetitions in
        for _ in 0..<repetitions { _ = try JSONDecoder().decode(Wrapper.self, from: bytes) }
    }
}

/// Returns each body once and releases it, so that the response holds the only reference.
private final class OneAfterTheOther: Transport {
    private let bodies: Mutex<[Data]>

    init(_ bodies: [Data]) { self.bodies = Mutex(bodies) }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        guard let body = bodies.withLock({ $0.popLast() }) else { throw Failed() }
        return HTTPResponse(
            status: 200,
            headers: [.contentType: "application/json"],
            body: HTTPBody(body),
            url: url
        )
    }
}

/// A transport that accepts only the new token.
private struct Guarded: Transport {
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        await Task.yield()
        let isNew = request.headers[.authorization] == "Bearer new"
        return HTTPResponse(status: isNew ? 200 : 401, url: request.url)
    }
}

/// Sends ten thousand requests at once, each rejected with a 401: there is one refresh, and each request is sent again.
func measureRefresh() async throws {
    let count = 10_000
    let costs = try await compare(
        "\(count) concurrent requests with a revoked token, all of them together, with one refresh",
        rounds: 5,
        repetitions: 1,
        [
            Contender("retryOnUnauthorized, bearerAuth") { _ in
                let refreshes = Refreshes()
                let tokens = TokenStore(TokenStore.Token("old"), origins: Origin(url).map { [$0] }) { _ in
                    await refreshes.begin()
                    try await Task.sleep(for: .milliseconds(1))
                    return TokenStore.Token("new")
                }
                let chain = InterceptorChain([.retryOnUnauthorized(tokens), .bearerAuth(tokens)], transport: Guarded())
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<count {
                        group.addTask {
                            guard try await chain.send(HTTPRequest(url: url)).status == 200 else { throw Failed() }
                        }
                    }
                    try await group.waitForAll()
                }
                guard await refreshes.count == 1 else { throw Failed() }
            },
            Contender("the same requests with a valid token") { _ in
                let tokens = TokenStore(TokenStore.Token("new"), origins: Origin(url).map { [$0] }) { _ in
                    throw Failed()
                }
                let chain = InterceptorChain([.retryOnUnauthorized(tokens), .bearerAuth(tokens)], transport: Guarded())
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<count { group.addTask { _ = try await chain.send(HTTPRequest(url: url)) } }
                    try await group.waitForAll()
                }
            },
        ]
    )
    goal(
        "10,000 concurrent 401s with one refresh, wall",
        costs["retryOnUnauthorized, bearerAuth"].map { $0.wall / 1e6 },
        atMost: 500,
        "ms"
    )
}

private actor Refreshes {
    private(set) var count = 0
    func begin() { count += 1 }
}
