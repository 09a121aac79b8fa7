import Foundation
import Middlewares
import Synchronization
import TransportTesting

/// `Resilience` asks a server for a page again and again while things go wrong: the page moves, the server is overloaded,
/// its content goes stale, it goes away. One chain copes with all of it, and each response tells how it came about.
@main
struct Resilience {
    static func main() async {
        do {
            try await tour()
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func tour() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/news", MockResponse(status: 301, headers: Self.moved))
        server.on(.get, "/headlines") { request in
            guard request.headerFields[.ifNoneMatch] != "\"1\"" else { return MockResponse(status: 304) }
            return MockResponse(headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"], body: "Nothing happened.")
        }
        let watch = Watch()
        let client = makeClient(for: server, watch: watch)

        try await ask(client, "the page has moved")
        try await ask(client, "again: nothing is sent, the cache knows both")
        watch.advance(by: 61)
        try await ask(client, "a minute later the server confirms what is stored")

        let calls = Counter(2)
        server.on(.get, "/busy") { _ in
            calls.down() ? MockResponse(status: 503, headers: [.retryAfter: "0"]) : MockResponse(body: "At last.")
        }
        try await ask(client, "a server that is overloaded twice", path: "/busy")

        watch.advance(by: 61)
        server.stop()
        try await ask(client, "the server is gone: what is stored is better than nothing")

        print("\nThe server got \(server.requests.count) requests:")
        for request in server.requests { print("  \(request)") }
    }

    private static let moved: HTTPFields = [.location: "/headlines", .cacheControl: "max-age=600"]

    private static func makeClient(for server: MockServer, watch: Watch) -> Client {
        Client(
            baseURL: server.url,
            interceptors: [
                .validateStatus(),  // judges the last answer, so it stands outermost
                .timeout(.seconds(10)),  // for all hops and attempts together
                .followRedirects(),  // each hop runs the rest again
                .cache(.memory(), now: { watch.date }),  // nothing below runs on a hit
                .retry(.exponential(maxAttempts: 3, base: .milliseconds(20))),
            ]
        )
    }

    private static func ask(_ client: Client, _ situation: String, path: String = "/news") async throws {
        guard let url = URL(string: path) else { throw URLError(.badURL) }
        let response = try await client.send(HTTPRequest(url: url))
        let text = try await String(decoding: response.body.collect(upTo: 1 << 20), as: UTF8.self)
        print("\n\(situation)\n  \(response.status)  \(text)")
        for redirect in response.context.redirects { print("  redirect: \(redirect)") }
        for attempt in response.context.attempts { print("  attempt:  \(attempt)") }
        print("  cache:    \(response.headerFields[.cacheStatus] ?? "-")")
    }
}

/// What the cache takes for the time of day, so that a minute passes at once.
private final class Watch: Sendable {
    private let passed = Mutex<TimeInterval>(0)

    var date: Date { Date(timeIntervalSinceNow: passed.withLock { $0 }) }

    func advance(by seconds: TimeInterval) { passed.withLock { $0 += seconds } }
}

private final class Counter: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    /// Counts down, and says whether there was something left.
    func down() -> Bool {
        left.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
    }
}
