import Foundation
import Interceptors
import InterceptorsTesting
import Synchronization

/// `Resilience` requests a page repeatedly while things go wrong: the page moves, its content goes stale, the server is
/// overloaded, and finally gone. One chain handles all of it, and each response says how it was obtained.
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
        server.on(.get, "/news", .status(301, headers: Self.moved))
        server.on(.get, "/headlines") { request in
            guard request.headers[.ifNoneMatch] != "\"1\"" else { return .status(304) }
            return .status(
                200,
                headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"],
                body: "Nothing happened."
            )
        }
        let watch = Watch()
        let client = makeClient(for: server, watch: watch)

        try await ask(client, "the page has moved")
        try await ask(client, "again: the cache has both responses, so nothing is sent")
        watch.advance(by: 61)
        try await ask(client, "a minute later: the server confirms the stored response")

        let calls = Counter(2)
        server.on(.get, "/busy") { _ in
            calls.down()
                ? .status(503, headers: [.retryAfter: "0"]) : .status(200, body: "At last.")
        }
        try await ask(client, "the server is overloaded twice", path: "/busy")

        watch.advance(by: 61)
        server.stop()
        try await ask(client, "the server is gone: a stale response is better than none")

        print("\nThe server received \(server.requests.count) requests:")
        for request in server.requests { print("  \(request)") }
    }

    private static let moved: HTTPFields = [.location: "/headlines", .cacheControl: "max-age=600"]

    private static func makeClient(for server: MockServer, watch: Watch) -> Client {
        Client(
            baseURL: server.url,
            interceptors: [
                .validateStatus(),  // outermost, to check only the final response
                .timeout(.seconds(10)),  // limits all redirects and attempts together
                .followRedirects(),  // each redirect runs the rest of the chain again
                .cache(.memory(), time: TimeSource(now: { watch.date })),  // on a hit, nothing below runs
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
        print("  cache:    \(response.headers[.cacheStatus] ?? "-")")
    }
}

/// The cache's clock, which the program can advance by a minute without waiting.
private final class Watch: Sendable {
    private let passed = Mutex<TimeInterval>(0)

    var date: Date { Date(timeIntervalSinceNow: passed.withLock { $0 }) }

    func advance(by seconds: TimeInterval) { passed.withLock { $0 += seconds } }
}

private final class Counter: Sendable {
    private let left: Mutex<Int>

    init(_ count: Int) { left = Mutex(count) }

    /// Counts down, and returns whether the counter was above zero.
    func down() -> Bool {
        left.withLock { left in
            defer { left = max(0, left - 1) }
            return left > 0
        }
    }
}
