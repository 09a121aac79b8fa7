import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct LoggingInterceptorTests {
    private let log = LogRecorder()

    private func send(
        _ level: LogLevel,
        _ request: HTTPRequest,
        inner: [any Interceptor] = [],
        answer: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse = { request in
            HTTPResponse(status: 200, url: request.url)
        }
    ) async throws -> HTTPResponse {
        let logger: AnyInterceptor = .logging(level, to: log.sink, time: .manual(ManualClock()))
        return try await InterceptorChain([logger] + inner, transport: Recorder(answer)).send(request)
    }

    // MARK: What each level shows

    @Test func basicIsALineForRequestAndResponse() async throws {
        let request = HTTPRequest(method: .post, url: try url("https://h.example/a?q=1"), body: "hello")
        _ = try await send(.basic, request) { request in
            HTTPResponse(status: 201, headers: ["X-Id": "7"], body: "done!!", url: request.url)
        }
        #expect(
            log.entries.map(\.text) == [
                "--> #1 POST https://h.example/a?q=1 (5 bytes)",
                "<-- #1 201 Created https://h.example/a?q=1 (0 µs, 6 bytes)",
            ]
        )
        #expect(log.entries.map(\.event) == [.request, .response])
    }

    @Test func headersAddsTheFieldsInOrderAndSpelling() async throws {
        let request = HTTPRequest(
            url: try url("https://h.example"),
            headers: ["x-b": "2", "X-A": "1", "x-b": "3"]
        )
        _ = try await send(.headers, request) { _ in
            HTTPResponse(status: 200, headers: [.setCookie: "sid=hush", .eTag: "\"x\""], body: "body")
        }
        #expect(log.entries[0].text == "--> #1 GET https://h.example\n    x-b: 2\n    X-A: 1\n    x-b: 3")
        #expect(log.entries[1].text == "<-- #1 200 OK (0 µs, 4 bytes)\n    Set-Cookie: <redacted>\n    ETag: \"x\"")
    }

    @Test func bodyAddsBodiesAndIndentsJSON() async throws {
        let request = HTTPRequest(method: .put, url: try url("https://h.example"), body: "plain\ntext")
        let response = try await send(.body, request) { _ in
            HTTPResponse(status: 200, body: #"{"b":1.50,"a":[true,{}]}"#)
        }
        #expect(log.entries[0].text == "--> #1 PUT https://h.example (10 bytes)\n\n    <10 bytes of text>")
        let indented = ["{", #"  "b": 1.50,"#, #"  "a": ["#, "    true,", "    {}", "  ]", "}"]
        #expect(log.entries[1].text.hasSuffix("\n\n" + indented.map { "    " + $0 }.joined(separator: "\n")))
        #expect(response.body.data == Data(#"{"b":1.50,"a":[true,{}]}"#.utf8))
    }

    @Test func offWritesNothingAndTouchesNothing() async throws {
        let response = try await send(.off, HTTPRequest(url: try url("https://h.example"))) { _ in
            HTTPResponse(status: 200, body: .oneShot(Chunks(["a"])))
        }
        #expect(log.entries.isEmpty)
        #expect(response.body.isReadable)
    }

    @Test func levelsAreKnownByTheirNames() {
        #expect(LogLevel.allCases.map(\.rawValue) == ["off", "basic", "headers", "body"])
    }

    // MARK: Bodies

    @Test(arguments: LogLevel.allCases)
    func neverConsumesAStreamNorWaitsForIt(level: LogLevel) async throws {
        let reads = Tally()
        let request = HTTPRequest(
            method: .post,
            url: try url("https://h.example"),
            body: .oneShot(NoChunks(reads: reads))
        )
        let response = try await send(level, request) { _ in
            HTTPResponse(status: 200, body: .oneShot(NoChunks(reads: reads), length: 12))
        }
        #expect(reads.value == 0)
        #expect(response.body.isReadable)
        if level != .off {
            #expect(log.entries[0].text.contains("(stream)"))
            #expect(log.entries[1].text.contains("stream, 12 bytes announced)"))
        }
    }

    @Test(arguments: [(16, true), (17, false)])
    func aBodyOverTheLimitIsSummarised(count: Int, isShown: Bool) async throws {
        let logger: AnyInterceptor = .logging(.body, to: log.sink, bodyLimit: 16)
        let text = "[\"" + String(repeating: "z", count: count - 4) + "\"]"
        let chain = InterceptorChain(
            [logger],
            transport: Recorder { _ in HTTPResponse(status: 200, body: HTTPBody(text)) }
        )
        _ = try await chain.send(HTTPRequest(url: try url("https://h.example")))
        #expect(log.text.contains("zzz") == isShown)
        #expect(log.text.contains("<17 bytes, over the limit of 16>") != isShown)
    }

    @Test(arguments: [Data([0x89, 0x50, 0x4E, 0x47, 0x00]), Data([0x7B, 0xFF, 0xFE]), Data("a\0b".utf8)])
    func aBinaryBodyIsSummarised(bytes: Data) async throws {
        _ = try await send(.body, HTTPRequest(url: try url("https://h.example"))) { _ in
            HTTPResponse(status: 200, headers: [.contentType: "application/json"], body: HTTPBody(bytes))
        }
        #expect(log.text.hasSuffix("<\(bytes.count) bytes of application/json>"))
    }

    @Test func aFileIsSummarised() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("content".utf8))
        _ = try await send(
            .body,
            HTTPRequest(method: .put, url: try url("https://h.example"), body: HTTPBody(file: file))
        )
        #expect(log.entries[0].text.hasSuffix("<file, 7 bytes>"))
        #expect(!log.text.contains("content"))
    }

    @Test(arguments: ["{\"a\":", "[1,2", "}{", "{\"a\" 1}", "nil", "\"", "{\"a\":\"\\", "[1,]", "{]"])
    func brokenJSONIsDescribed(body: String) async throws {
        _ = try await send(.body, HTTPRequest(url: try url("https://h.example"))) { _ in
            HTTPResponse(status: 200, headers: [.contentType: "application/json"], body: HTTPBody(body))
        }
        #expect(log.text.hasSuffix("\n\n    <\(body.utf8.count) bytes of application/json>"))
    }

    @Test func prettyJSONCanBeSwitchedOff() async throws {
        let logger: AnyInterceptor = .logging(.body, to: log.sink, prettyJSON: false)
        let chain = InterceptorChain(
            [logger],
            transport: Recorder { _ in HTTPResponse(status: 200, body: #"{"a":1}"#) }
        )
        _ = try await chain.send(HTTPRequest(url: try url("https://h.example")))
        #expect(log.text.hasSuffix(#"    {"a":1}"#))
    }

    // MARK: Starts and ends

    @Test func everyStartHasExactlyOneEndAlsoInShortCircuitsFailuresAndCancellations() async throws {
        struct Lost: Error {}
        let request = HTTPRequest(url: try url("https://h.example"))
        _ = try await send(.basic, request)
        let shortCircuit: AnyInterceptor = .intercept { _, _ in HTTPResponse(status: 304) }
        let failure: AnyInterceptor = .intercept { _, _ in throw Lost() }
        let logger: AnyInterceptor = .logging(.basic, to: log.sink)
        for inner: [any Interceptor] in [
            [shortCircuit], [failure], [sendTwice], [.intercept { _, _ in throw CancellationError() }],
        ] {
            let chain = InterceptorChain([logger] + inner, transport: Recorder { _ in HTTPResponse(status: 200) })
            _ = try? await chain.send(request)
        }
        let entries = log.entries.dropFirst(2)
        #expect(
            entries.map(\.event) == [
                .request, .response, .request, .failure, .request, .response, .request, .cancellation,
            ]
        )
        #expect(entries.map(\.number) == [1, 1, 2, 2, 3, 3, 4, 4])
    }

    @Test func aCancelledCallIsLoggedAsCancelledAndNotAsFailed() async throws {
        let clock = ManualClock()
        let logger: AnyInterceptor = .logging(.body, to: log.sink, time: .manual(clock))
        let chain = InterceptorChain(
            [logger],
            transport: Recorder { _ in
                try await clock.sleep(for: .seconds(60))
                return HTTPResponse(status: 200)
            }
        )
        let request = HTTPRequest(url: try url("https://h.example"))
        let call = Task { try await chain.send(request) }
        await clock.sleepers(1)
        clock.advance(by: .milliseconds(34))
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(log.entries.map(\.event) == [.request, .cancellation])
        #expect(log.entries[1].text == "<-- #1 cancelled after 34 ms")
    }

    @Test func theErrorReachesTheCallerAsItWas() async throws {
        struct Lost: Error, Equatable { let id: Int }
        await #expect(throws: Lost(id: 7)) {
            try await send(.body, HTTPRequest(url: try url("https://h.example"))) { _ in throw Lost(id: 7) }
        }
    }

    @Test func manyConcurrentExchangesAreToldApartByTheirNumbers() async throws {
        let logger: AnyInterceptor = .logging(.body, to: log.sink)
        let transport = Recorder { request in
            await Task.yield()
            switch request.url.lastPathComponent.last {
            case "1": throw CancellationError()
            case "2": throw TransportError(.connectionLost, "Gone.")
            default:
                let body = HTTPBody("[\(request.url.lastPathComponent)]")
                return HTTPResponse(status: 200, body: body, url: request.url)
            }
        }
        let chain = InterceptorChain([logger], transport: transport)
        let base = try url("https://h.example")
        await withTaskGroup(of: Void.self) { group in
            for id in 0..<500 {
                group.addTask { _ = try? await chain.send(HTTPRequest(url: base.appending(path: "\(id)"))) }
            }
        }
        #expect(log.isPaired)
        #expect(log.entries.count == 1_000)
        #expect(Set(log.entries.map(\.number)) == Set(1...500))
        for (number, pair) in Dictionary(grouping: log.entries, by: \.number) where pair[1].event == .response {
            let path = try #require(pair[0].text.split(separator: "/").last)
            #expect(pair[1].text.contains("<-- #\(number) 200 OK https://h.example/\(path) ("))
            #expect(pair[1].text.hasSuffix("\n\n    [\n      \(path)\n    ]"))
        }
    }

    @Test func outermostIsTheCallersViewAndInnermostTheWire() async throws {
        let wire = LogRecorder()
        let chain = InterceptorChain(
            [
                .logging(.headers, to: log.sink, label: "caller"), sendTwice, .headers(forced: ["X-Added": "1"]),
                .logging(.headers, to: wire.sink, label: "wire"),
            ],
            transport: Recorder { HTTPResponse(status: 200, url: $0.url) }
        )
        _ = try await chain.send(HTTPRequest(url: try url("https://h.example")))
        #expect(log.entries.count == 2)
        #expect(log.entries[0].text == "--> caller #1 GET https://h.example")
        #expect(wire.entries.map(\.number) == [1, 1, 2, 2])
        #expect(wire.entries[2].text == "--> wire #2 GET https://h.example\n    X-Added: 1")
    }

    // MARK: Time and URL

    @Test func theTimeIsThatOfTheRestOfTheChainOnTheInjectedClock() async throws {
        let clock = ManualClock()
        clock.advance(by: .seconds(1_000))
        let logger: AnyInterceptor = .logging(.basic, to: log.sink, time: .manual(clock))
        let chain = InterceptorChain(
            [logger],
            transport: Recorder { _ in
                clock.advance(by: .milliseconds(1_250))
                return HTTPResponse(status: 200)
            }
        )
        _ = try await chain.send(HTTPRequest(url: try url("https://h.example")))
        #expect(log.entries[1].text == "<-- #1 200 OK (1.25 s, 0 bytes)")
    }

    @Test func theResponseIsLoggedWithItsOwnURLNotTheRequestsAsItWasBefore() async throws {
        let last = try url("https://other.example/last?token=hush")
        let redirect: AnyInterceptor = .intercept { request, next in
            var request = request
            request.url = last
            return try await next(request)
        }
        _ = try await send(.basic, HTTPRequest(url: try url("https://h.example/first")), inner: [redirect])
        #expect(log.entries[1].text == "<-- #1 200 OK https://other.example/last?token=<redacted> (0 µs, 0 bytes)")
    }

    @Test func aFailureNamesTheRequestThatFailedAndNoOther() async throws {
        let last = HTTPRequest(url: try url("https://other.example/last"))
        await #expect(throws: TransportError.self) {
            try await send(.basic, HTTPRequest(url: try url("https://h.example/first"))) { _ in
                throw TransportError(.timedOut, "Too late.", request: last)
            }
        }
        let expected = "<-- #1 failed after 0 µs: TransportError.timedOut: Too late. (GET https://other.example/last)"
        #expect(log.entries[1].text == expected)
    }
}
