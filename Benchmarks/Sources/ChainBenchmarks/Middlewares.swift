import Foundation
import Harness
import Middlewares

private struct Failed: Error {}

/// A request of its own chain, so many times.
private func requests(_ name: String, _ interceptors: [any Interceptor], _ transport: any Transport) -> Contender {
    let chain = InterceptorChain(interceptors, transport: transport)
    return Contender(name) { repetitions in
        for _ in 0..<repetitions {
            guard try await chain.send(HTTPRequest(url: url)).status == 200 else { throw Failed() }
        }
    }
}

/// What DESIGN.md shows a chain with: ten interceptors.
func compareRealisticChain() async throws {
    let envelope = Canned(
        response: HTTPResponse(
            status: 200,
            headerFields: [.contentType: "application/json"],
            body: #"{"code":200,"message":"ok","object":{"id":42,"name":"Ada"}}"#,
            url: url
        )
    )
    let tokens = TokenStore(TokenStore.Token("secret"), origins: Origin(url).map { [$0] }) { _ in throw Failed() }
    let interceptors: [(String, any Interceptor)] = [
        ("unwrapEnvelope", .unwrapEnvelope(payload: "object")),
        ("validateStatus", .validateStatus()),
        ("headers", .headers([.accept: "application/json"])),
        ("transactionID", .transactionID()),
        ("followRedirects", .followRedirects()),
        ("retryOnUnauthorized", .retryOnUnauthorized(tokens)),
        ("bearerAuth", .bearerAuth(tokens)),
        ("cache(.memory())", .cache(.memory())),
        ("retry", .retry(.exponential(maxAttempts: 3))),
        ("logging(.headers)", .logging(.headers, to: LogSink { _ in })),
    ]
    let quiet = interceptors.dropLast().map(\.1)
    try await compare(
        "The ten interceptors of the README's chain over a stub, each alone and all at once",
        repetitions: 2_000,
        [requests("all ten", interceptors.map(\.1), envelope), requests("all but logging", quiet, envelope)]
            + interceptors.map { requests($0.0, [$0.1], envelope) } + [requests("none", [], envelope)]
    )
}

/// Logging at each level.
func compareLogging() async throws {
    let levels: [(String, LogLevel)] = [("off", .off), ("basic", .basic), ("headers", .headers), ("body", .body)]
    try await compare(
        "Logging, without what the sink costs",
        repetitions: 5_000,
        [requests("no logging", [], canned)]
            + levels.map { requests($0.0, [.logging($0.1, to: LogSink { _ in })], canned) }
    )
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

/// A payload taken out of its envelope, as bytes.
func compareEnvelopes() async throws {
    for (name, count, repetitions) in [("1 kB", 15, 200), ("100 kB", 1_700, 10), ("10 MB", 155_000, 1)] {
        let items = (0..<count).map { Payload.Item(id: $0, name: "The item \($0)", tags: ["one", "two"]) }
        let wrapper = Wrapper(code: 200, message: "ok", object: Payload(items: items))
        let bytes = try JSONEncoder().encode(wrapper)
        let response = HTTPResponse(
            status: 200,
            headerFields: [.contentType: "application/json"],
            body: HTTPBody(bytes),
            url: url
        )
        let chain = InterceptorChain([.unwrapEnvelope(payload: "object")], transport: Canned(response: response))
        try await compare(
            "Unwrapping an envelope of \(name) (\(bytes.count) bytes)",
            rounds: count > 100_000 ? 1 : 9,
            repetitions: repetitions,
            [
                Contender("unwrapEnvelope") { repetitions in
                    for _ in 0..<repetitions { _ = try await chain.send(HTTPRequest(url: url)) }
                },
                Contender("JSONSerialization, both ways") { repetitions in
                    for _ in 0..<repetitions {
                        let object = try JSONSerialization.jsonObject(with: bytes) as? [String: Any]
                        guard let payload = object?["object"] else { throw Failed() }
                        _ = try JSONSerialization.data(withJSONObject: payload)
                    }
                },
                Contender("JSONDecoder of the wrapper") { repetitions in
                    for _ in 0..<repetitions { _ = try JSONDecoder().decode(Wrapper.self, from: bytes) }
                },
            ]
        )
    }
}

/// Rejects every token but the new one.
private struct Guarded: Transport {
    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        await Task.yield()
        let isNew = request.headerFields[.authorization] == "Bearer new"
        return HTTPResponse(status: isNew ? 200 : 401, url: request.url)
    }
}

/// Ten thousand requests at once, each rejected with 401: one refresh, and each is sent again.
func measureRefresh() async throws {
    let count = 10_000
    try await compare(
        "\(count) concurrent requests whose token has been revoked: for all of them, with one refresh",
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
            Contender("the same requests, none rejected") { _ in
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
}

private actor Refreshes {
    private(set) var count = 0
    func begin() { count += 1 }
}

/// A cache hit in memory.
func compareCacheHits() async throws {
    for (name, size, repetitions) in [("2 kB", 2_000, 2_000), ("1 MB", 1_000_000, 500)] {
        let fresh = HTTPResponse(
            status: 200,
            headerFields: [.cacheControl: "max-age=3600", .contentType: "application/octet-stream"],
            body: HTTPBody(Data(repeating: 0x78, count: size)),
            url: url
        )
        try await compare(
            "A hit in the cache in memory, \(name)",
            repetitions: repetitions,
            [requests("cache(.memory())", [.cache(.memory())], Canned(response: fresh))]
        )
    }
}
