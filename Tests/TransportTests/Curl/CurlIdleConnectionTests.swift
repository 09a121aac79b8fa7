#if os(Linux)
import Foundation
import Glibc
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTransport
import Testing

/// Idle HTTP/1 connections that the server closes or sends bytes on (RFC 9112 §9.2, §9.6).
@Suite(.againstHanging) struct CurlIdleConnectionTests {
    private static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL"
    private static let timedOut = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"

    /// A first request with its response, and the bytes that follow on the idle connection.
    struct Case: Sendable, CustomTestStringConvertible {
        let method: HTTPRequest.Method
        let response: String
        let unsolicited: String
        let isTLS: Bool

        var testDescription: String { "\(method) \(isTLS ? "https" : "http") \(unsolicited.prefix(12))" }
    }

    private static let cases = [false, true].flatMap { isTLS in
        [
            Case(
                method: .get,
                response: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                unsolicited: evil,
                isTLS: isTLS
            ),
            Case(
                method: .get,
                response: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
                unsolicited: evil,
                isTLS: isTLS
            ),
            Case(
                method: .head,
                response: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
                unsolicited: evil,
                isTLS: isTLS
            ),
            Case(method: .get, response: "HTTP/1.1 204 No Content\r\n\r\n", unsolicited: evil, isTLS: isTLS),
            Case(
                method: .get,
                response: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
                unsolicited: timedOut,
                isTLS: isTLS
            ),
            Case(
                method: .get,
                response: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                unsolicited: "\r",
                isTLS: isTLS
            ),
        ]
    }

    @Test(arguments: cases, [HTTPRequest.Method.get, .post])
    func bytesOnAnIdleConnectionAnswerNoRequest(_ sample: Case, next: HTTPRequest.Method) async throws {
        let (server, configuration) = try Self.server(isTLS: sample.isTLS)
        let isIdle = Gate()
        server.on(sample.method, "/first") { _ in
            StubAnswer(steps: [.send(sample.response), .run { await isIdle.opened() }, .send(sample.unsolicited)])
        }
        server.on(next, "/next", StubAnswer.status(200, body: "good"))
        let transport = CurlTransport(configuration)
        _ = try await transport.send(makeRequest(server, "/first", sample.method))
        isIdle.open()
        try await Self.readable(connectionTo: server.port)
        let body =
            next == .post
            ? HTTPBody.oneShot(
                AsyncStream {
                    $0.yield(Data("content")); $0.finish()
                }
            ) : .empty
        let response = try await transport.send(makeRequest(server, "/next", next, body: body))
        #expect(try await content(of: response) == "good")
        #expect(server.requests.map(\.connection) == [1, 2])
        #expect(next == .get || server.requests.last?.text == "content")
        #expect(response.context.timings?.reusedConnection == false)
        await transport.shutDown()
    }

    /// From a TLS record, libcurl takes only the response's length. The rest stays inside the TLS library, where `poll`
    /// can't see it.
    @Test func restOfARecordAnswersNoRequest() async throws {
        let (server, configuration) = try Self.server(isTLS: true)
        server.on(.get, "/first") { _ in
            StubAnswer(steps: [.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"), .send("ok" + Self.evil)])
        }
        server.on(.get, "/next", .status(200, body: "good"))
        let transport = CurlTransport(configuration)
        for _ in 0..<20 {
            #expect(try await content(of: transport.send(makeRequest(server, "/first"))) == "ok")
            #expect(try await content(of: transport.send(makeRequest(server, "/next"))) == "good")
        }
        await transport.shutDown()
    }

    @Test(arguments: [false, true])
    func postAfterTheServerClosedAnIdleConnectionGoesOverAFreshOne(isTLS: Bool) async throws {
        let (server, shared) = try Self.server(isTLS: isTLS)
        var configuration = shared
        configuration.versions = .http1
        server.on(.get, "/") { _ in StubAnswer.status(200, body: "ok").closing(announced: false) }
        server.on(.post, "/") { StubAnswer.status(200, body: "\($0.bodyLength)") }
        let transport = CurlTransport(configuration)
        let content = Data(repeating: 0x61, count: 100_000)
        for body in [
            HTTPBody(Data("text")), HTTPBody(content),
            .oneShot(
                AsyncStream {
                    for _ in 0..<5 { $0.yield(content) }; $0.finish()
                }
            ),
        ] {
            _ = try await transport.send(makeRequest(server))
            try await Self.readable(connectionTo: server.port)
            let length = body.length ?? 500_000
            let response = try await transport.send(makeRequest(server, "/", .post, body: body))
            #expect(try await response.body.collect(upTo: 100) == Data("\(length)"))
            // The next GET uses the POST's connection.
        }
        #expect(server.requests.filter { $0.method == .post }.count == 3)
        await transport.shutDown()
    }

    @Test func everyIdleConnectionThatTheServerClosedIsReplaced() async throws {
        let (server, configuration) = try Self.server(isTLS: true)
        let (allCame, gate) = (Gate(), Gate())
        server.on(.get, "/") { request in
            if server.requests.count >= 20 { allCame.open() }
            await gate.opened()
            return StubAnswer.status(200, body: "ok").closing(announced: false)
        }
        server.on(.post, "/") { StubAnswer.status(200, body: $0.text) }
        let transport = CurlTransport(configuration)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<20 { group.addTask { _ = try await transport.send(makeRequest(server)) } }
            await allCame.opened()
            gate.open()
            try await group.waitForAll()
        }
        try await Self.readable(connectionTo: server.port, count: 20)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask {
                    let body = HTTPBody("\(number)")
                    let response = try await transport.send(makeRequest(server, "/", .post, body: body))
                    #expect(try await content(of: response) == "\(number)")
                }
            }
            try await group.waitForAll()
        }
        await transport.shutDown()
    }

    /// TLS 1.3 servers send session tickets after the handshake. These bytes must not cost the connection.
    @Test(arguments: [TLSVersion.tls12, .tls13], [true, false])
    func connectionThatIsSilentIsUsedAgain(version: TLSVersion, verifiesItself: Bool) async throws {
        let fixture = try TLSFixture(maximumVersion: version)
        var configuration = CurlTransport.Configuration(tls: TLSConfiguration(trust: fixture.trust))
        if !verifiesItself { configuration.tls.pins = [.any: [fixture.root.certificate.publicKeyPin]] }
        configuration.versions = .http1
        let transport = CurlTransport(configuration)
        for method in [HTTPRequest.Method.get, .head, .post, .get, .put, .get, .get] {
            let response = try await transport.send(fixture.request(method: method))
            _ = try await response.body.collect(upTo: 100)
        }
        #expect(fixture.server.connectionsOpened == 1)
        await transport.shutDown()
    }

    @Test func bytesOnAnIdleTunnelAnswerNoRequest() async throws {
        let (server, configuration) = try Self.server(isTLS: true)
        let proxy = try TunnelProxy()
        let isIdle = Gate()
        server.on(.get, "/first") { _ in
            let response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
            return StubAnswer(steps: [.send(response), .run { await isIdle.opened() }, .send(Self.evil)])
        }
        server.on(.get, "/next", .status(200, body: "good"))
        var configured = configuration
        configured.proxy = .url(proxy.url)
        let transport = CurlTransport(configured)
        _ = try await transport.send(makeRequest(server, "/first"))
        isIdle.open()
        try await Self.readable(connectionTo: try #require(proxy.url.port))
        for _ in 0..<2 {
            #expect(try await content(of: transport.send(makeRequest(server, "/next"))) == "good")
        }
        #expect(server.requests.map(\.connection) == [1, 2, 2])
        await transport.shutDown()
    }

    private static func server(isTLS: Bool) throws -> (MockServer, CurlTransport.Configuration) {
        guard isTLS else { return (try MockServer(), .init()) }
        let root = try TestAuthority()
        let server = try MockServer(tls: root.issue())
        let pins = [root.certificate.publicKeyPin]
        return (server, .init(tls: .pinned(pins, trust: .only([root.certificate]))))
    }

    /// Waits until this many of the process's connections to a port are readable.
    private static func readable(connectionTo port: Int, count: Int = 1) async throws {
        try await OwnConnections.readable(to: port, count: count)
    }
}
#endif
