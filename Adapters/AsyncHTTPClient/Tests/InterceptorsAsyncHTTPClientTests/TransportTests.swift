import AsyncHTTPClient
import Foundation
import Interceptors
import InterceptorsAsyncHTTPClient
import InterceptorsTesting
import NIOCore
import NIOSSL
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10))) struct TransportTests {
    private func request(
        _ server: MockServer,
        _ path: String = "/",
        method: HTTPRequest.Method = .get,
        body: HTTPBody = .empty,
        mode: ResponseBodyMode = .buffered
    ) -> HTTPRequest {
        var request = HTTPRequest(method: method, url: server.url.appending(path: path), body: body)
        request.context.responseBody = mode
        return request
    }

    // MARK: Settings

    @Test func settingsCannotBreakPromises() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/**", .status(302, headers: [.location: "/b", .contentEncoding: "gzip"], body: "no gzip"))
        let transport = AsyncHTTPClientTransport { configuration in
            configuration.redirectConfiguration = .follow(max: 5, allowCycles: true)
            configuration.timeout.read = .nanoseconds(1)
        }
        let response = try await transport.send(request(server, "/a"))
        #expect(response.status == 302 && response.body.data == Data("no gzip".utf8))
        #expect(server.requests.count == 1)
    }

    @Test func versionIsInTheContext() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/", .text("ok"))
        let response = try await AsyncHTTPClientTransport().send(request(server))
        #expect(response.context.connection?.httpVersion == .http11)
    }

    @Test func tunnelIsRefused() async throws {
        let server = try MockServer()
        defer { server.stop() }
        let error = await #expect(throws: TransportError.self) {
            try await AsyncHTTPClientTransport().send(request(server, method: .connect))
        }
        #expect(error?.code == .unsupported && server.connectionsOpened == 0)
    }

    // MARK: TLS

    @Test func untrustedServerGetsNothing() async throws {
        let server = try MockServer(tls: .selfSigned())
        defer { server.stop() }
        let error = await #expect(throws: TransportError.self) {
            try await AsyncHTTPClientTransport().send(request(server))
        }
        #expect(error?.code == .tlsFailed && server.requests.isEmpty)
    }

    @Test func rootsOfTheConfigurationAreTrusted() async throws {
        let authority = try TestAuthority()
        let server = try MockServer(tls: authority.issue())
        defer { server.stop() }
        server.on(.get, "/", .text("ok"))
        let root = try NIOSSLCertificate(bytes: Array(authority.certificate.der), format: .der)
        let transport = AsyncHTTPClientTransport { configuration in
            var tls = NIOSSL.TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates([root])
            configuration.tlsConfiguration = tls
        }
        #expect(try await transport.send(request(server)).body.data == Data("ok".utf8))
    }

    // MARK: Bodies

    @Test func serverWaitsForTheReader() async throws {
        let (total, megabyte) = (512, Data(count: 1 << 20))
        let server = try MockServer()
        defer { server.stop() }
        let sent = Box(Atomic(0))
        let steps = (0..<total).flatMap { _ -> [MockServer.Step] in
            [.send(megabyte), .run { sent.value.add(1 << 20, ordering: .relaxed) }]
        }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(total << 20)\r\n\r\n"
        server.on(.get, "/long", StubAnswer(steps: [.send(head)] + steps))
        server.on(.get, "/short", .text("ok"))
        let transport = AsyncHTTPClientTransport()
        let response = try await transport.send(request(server, "/long", mode: .streamed))
        var iterator = response.body.makeAsyncIterator()
        _ = try await iterator.next()
        // The server could get far ahead meanwhile. The buffers of the system hold up to 40 MB.
        let limit = 64 << 20
        for _ in 0..<2000 where sent.value.load(ordering: .relaxed) < limit {
            _ = try await transport.send(request(server, "/short"))
        }
        let lead = sent.value.load(ordering: .relaxed)
        #expect(lead < limit)
        response.body.discard()
    }

    @Test func requestThatBreaksOffDiscardsItsBody() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/", .neverAnswer)
        let (chunks, continuation) = AsyncStream.makeStream(of: Data.self)
        let (discards, discarded) = AsyncStream.makeStream(of: Void.self)
        continuation.yield(Data("abc".utf8))
        let body = HTTPBody.oneShot(chunks) {
            discarded.finish()
            continuation.finish()
        }
        let transport = AsyncHTTPClientTransport()
        let request = request(server, method: .post, body: body)
        let call = Task { try await transport.send(request) }
        await server.openedConnections(1)
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        if !body.isUnreadStream { for await _ in discards {} }
    }

    @Test func sourceThatSentNothingItselfDoesNotSayThatNothingWasSent() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/", .neverAnswer)
        let chunks = AsyncThrowingStream<Data, any Error> { continuation in
            continuation.yield(Data("abc".utf8))
            continuation.finish(throwing: TransportError(.cannotConnect, "Elsewhere."))
        }
        let error = await #expect(throws: TransportError.self) {
            try await AsyncHTTPClientTransport().send(request(server, method: .post, body: .oneShot(chunks)))
        }
        #expect(error?.code == .bodySourceFailed && error?.sentNothing == false)
    }

    // MARK: The end of a transport

    @Test func streamOutlivesItsTransport() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/", .repeating(Data(count: 1 << 20), times: 8))
        let request = request(server, mode: .streamed)
        let body = try await AsyncHTTPClientTransport().send(request).body
        #expect(try await body.collect(upTo: 8 << 20).count == 8 << 20)
    }

    @Test func shutDownEndsCallsAndConnections() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.get, "/", .neverAnswer)
        let transport = AsyncHTTPClientTransport()
        let request = request(server)
        let call = Task { try await transport.send(request) }
        _ = await server.requests(atLeast: 1)
        await transport.shutDown()
        await transport.shutDown()
        let error = await #expect(throws: TransportError.self) { try await call.value }
        #expect(error?.code == .connectionLost)
        await server.closedConnections(1)
        await #expect(throws: TransportError.self) { try await transport.send(request) }
    }

    private final class Box<Value: ~Copyable & Sendable>: Sendable {
        let value: Value
        init(_ value: consuming Value) { self.value = value }
    }
}
