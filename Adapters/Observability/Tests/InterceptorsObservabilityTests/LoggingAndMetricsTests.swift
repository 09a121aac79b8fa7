import Foundation
import InMemoryLogging
import Interceptors
import InterceptorsObservability
import InterceptorsTesting
import Logging
import MetricsTestKit
import Testing

private struct Film: Codable, Sendable { let id: Int }

private struct GetFilm: Endpoint {
    let request: EndpointRequest<Film> = .get("/films/1")
}

@Suite(.timeLimit(.minutes(10))) struct LoggingTests {
    private func entries(_ level: LogLevel, _ answer: StubAnswer) async -> [InMemoryLogHandler.Entry] {
        let handler = InMemoryLogHandler()
        let logger = Logger(label: "http") { _ in handler }
        let stub = StubTransport()
        stub.enqueue(answer)
        let client = Client(interceptors: [.logging(level, to: .logger(logger))], transport: stub)
        _ = try? await client.send(HTTPRequest(method: .get, string: "https://e.com/?token=hush"))
        return handler.entries
    }

    @Test func exchangeIsLoggedWithoutSecrets() async {
        let entries = await entries(.headers, .status(200, headers: [.setCookie: "a=hush"]))
        #expect(entries.map(\.level) == [.info, .info])
        #expect(entries.map { $0.metadata["http.event"] } == ["request", "response"])
        #expect(entries.map { $0.metadata["http.exchange"] } == ["1", "1"])
        #expect(entries.allSatisfy { !"\($0)".contains("hush") })
        #expect(entries.first.map { "\($0.message)".contains("https://e.com/?token=<redacted>") } == true)
    }

    @Test func failureIsAnError() async {
        let entries = await entries(.basic, .failure(TransportError(.timedOut, "Late.")))
        #expect(entries.map(\.level).contains(.error))
    }
}

@Suite(.timeLimit(.minutes(10))) struct MetricsTests {
    private let metrics = TestMetrics()
    private let clock = ManualClock()

    private func call(_ answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) async {
        let client = Client(
            baseURL: URL(string: "https://e.com"),
            interceptors: [.metrics(to: metrics, time: .manual(clock))],
            transport: .stub(answer)
        )
        _ = try? await client.call(GetFilm())
    }

    private func labels(status: String, error: String) -> [(String, String)] {
        [
            ("method", "GET"), ("origin", "https://e.com:443"), ("endpoint", "GetFilm"), ("status", status),
            ("error", error),
        ]
    }

    @Test func durationAndBytesAreRecordedByEndpointOriginAndStatusClass() async throws {
        await call { [clock] _ in
            clock.advance(by: .milliseconds(250))
            return HTTPResponse(status: 201, body: #"{"id":1}"#)
        }
        let labels = labels(status: "2xx", error: "")
        #expect(try metrics.expectTimer("http.client.request.duration", labels).values == [250_000_000])
        #expect(try metrics.expectCounter("http.client.response.body.bytes", labels).totalValue == 8)
        #expect(metrics.counters(label: "http.client.decoding.failures").isEmpty)
    }

    @Test func failureIsNamed() async throws {
        let error = TransportError(.timedOut, "Late.")
        await call { _ in throw error }
        await call { _ in throw CancellationError() }
        for name in [error.code.rawValue, "cancelled"] {
            let labels = labels(status: "", error: name)
            #expect(try metrics.expectTimer("http.client.request.duration", labels).values.count == 1)
        }
    }

    @Test func responseThatCannotBeDecodedIsCounted() async throws {
        await call { _ in HTTPResponse(status: 200, body: "no film") }
        let labels = Array(labels(status: "", error: "").prefix(3))
        #expect(try metrics.expectCounter("http.client.decoding.failures", labels).totalValue == 1)
    }

    @Test func methodsOfOthersChoiceShareALabel() async throws {
        let chain = InterceptorChain([.metrics(to: metrics)], transport: .stub(.status(200), .status(200)))
        for method in ["PURGE", "get"] as [HTTPRequest.Method] {
            _ = try await chain.send(HTTPRequest(method: method, string: "https://e.com/"))
        }
        #expect(metrics.timers(label: "http.client.request.duration").count == 1)
    }
}
