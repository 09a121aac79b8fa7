#if os(Linux)
import Foundation
import Glibc
import InterceptorsTesting
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct CurlConnectionTests {
    private func transport(_ change: (inout CurlTransport.Configuration) -> Void) -> CurlTransport {
        var configuration = CurlTransport.Configuration()
        change(&configuration)
        return CurlTransport(configuration)
    }

    @Test(arguments: [(perHost: 2, total: 0), (perHost: 0, total: 2), (perHost: 3, total: 2)])
    func noMoreConnectionsThanAllowed(perHost: Int, total: Int) async throws {
        let server = try MockServer()
        let gates = (0..<10).map { _ in AsyncStream.makeStream(of: Void.self) }
        server.on(.get, "/*") { request in
            for await _ in gates[Int(request.path.dropFirst()) ?? 0].stream {}
            return StubAnswer.status(200, body: "ok")
        }
        let transport = transport {
            $0.connectionLimits.perHost = perHost
            $0.connectionLimits.total = total
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<10 {
                let request = try makeRequest(server, "/\(index)")
                group.addTask {
                    let response = try await transport.send(request)
                    #expect(response.status == 200)
                }
            }
            // Two requests at a time: the next can only arrive after one of the earlier two has ended.
            for count in 2...10 {
                let received = await server.requests(atLeast: count)
                try #require(received.count >= count)
                let first = received[count - 2].path.dropFirst()
                gates[try #require(Int(first))].continuation.finish()
            }
            gates.forEach { $0.continuation.finish() }
            try await group.waitForAll()
        }
        #expect(server.connectionsOpened == 2)
    }

    @Test func idleConnectionsBeyondTheLimitAreClosed() async throws {
        let servers = try (0..<4).map { _ in
            let server = try MockServer()
            server.on(.get, "/", .status(200, body: "ok"))
            return server
        }
        let transport = transport { $0.connectionLimits.idle = 1 }
        for server in servers { _ = try await transport.send(HTTPRequest(url: server.url)) }
        // Any three of the four: libcurl closes the least recently used, but compares times only to the millisecond.
        await withTaskGroup(of: Void.self) { group in
            for server in servers { group.addTask { await server.closedConnections(1) } }
            for _ in 0..<3 { await group.next() }
            group.cancelAll()
        }
        #expect(servers.map(\.connectionsOpen).reduce(0, +) == 1)
    }

    /// A handle keeps the URL that it has parsed for the next request.
    @Test func eachRequestGoesToItsOwnURLOverOneConnection() async throws {
        let (server, other) = (try MockServer(), try MockServer())
        for server in [server, other] { server.on(.get, "/*") { StubAnswer.status(200, body: $0.target) } }
        let transport = transport { $0.connectionLimits.perHost = 1 }
        for path in ["/a", "/a", "/b", "/a?x=1", "/a", "/c", "/a#fragment", "/b"] {
            for server in [server, other] {
                let response = try await transport.send(try makeRequest(server, path))
                let sent = String(path.prefix { $0 != "#" })
                #expect(try await response.body.collect(upTo: 100) == Data(sent.utf8))
            }
        }
        #expect(server.connectionsOpened == 1 && other.connectionsOpened == 1)
    }

    @Test func timingsTellTheStepsInTheirOrder() async throws {
        let server = try MockServer()
        server.on(.get, "/", .status(200, body: "ok"))
        let transport = CurlTransport()
        let first = try #require(try await transport.send(HTTPRequest(url: server.url)).context.timings)
        #expect(!first.reusedConnection)
        #expect(.zero < first.connect && first.nameLookup <= first.connect)
        #expect(first.tls == .zero)
        #expect(first.connect <= first.firstByte && first.firstByte <= first.total)
        let second = try #require(try await transport.send(HTTPRequest(url: server.url)).context.timings)
        #expect(second.reusedConnection)
        #expect(second.nameLookup <= second.connect && second.connect <= second.firstByte)
        #expect(second.firstByte <= second.total)
    }

    @Test func timingsTellOfTLSAndOfTheHeadOfAStream() async throws {
        let fixture = try TLSFixture()
        let transport = transport { $0.tls = TLSConfiguration(trust: fixture.trust) }
        var request = try fixture.request()
        request.context.responseBody = .streamed
        let response = try await transport.send(request)
        let timings = try #require(response.context.timings)
        #expect(timings.connect < timings.tls && timings.tls <= timings.firstByte)
        #expect(timings.firstByte <= timings.total)
        response.body.discard()
        await transport.shutDown()
    }

    @Test func connectionThatDoesNotStandInTimeEndsTheCall() async throws {
        let silent = try SilentServer()
        let clock = ManualClock()
        let transport = transport {
            $0.time = .manual(clock)
            $0.timeouts = Timeouts(connect: .seconds(3), idle: nil)
        }
        // The system accepts the connection, and nobody answers the TLS handshake.
        let request = HTTPRequest(url: try #require(URL(string: "https://127.0.0.1:\(silent.port)/")))
        let call = Task { try await transport.send(request) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(3))
        let error = try await failure { try await call.value }
        #expect(error.code == .timedOut)
        #expect(error.message.contains("connection"))
        #expect(error.sentNothing)
        await transport.shutDown()
    }

    @Test func putOfAStreamOnAStaleConnectionIsMadeAnew() async throws {
        let server = try MockServer()
        server.on(nil, "/") { $0.number > 1 ? .closeBeforeHead : StubAnswer.status(200, body: $0.text) }
        let transport = CurlTransport()
        let text = String(repeating: "0123456789", count: 20_000)
        let body = HTTPBody.restartable { [Data(text)].async }
        _ = try await transport.send(HTTPRequest(url: server.url))
        let response = try await transport.send(makeRequest(server, "/", .put, body: body))
        #expect(try await content(of: response) == text)
        // libcurl itself opens another connection before it finds that it can't rewind the body.
        let connections = server.requests.map(\.connection)
        #expect(connections.prefix(2) == [1, 1])
        #expect(connections.count == 3 && connections[2] > 1)

        let once = HTTPBody.oneShot([Data(text)].async)
        let error = try await failure { try await transport.send(makeRequest(server, "/", .put, body: once)) }
        #expect(error.code == .connectionLost)
        await transport.shutDown()
    }

    @Test(arguments: [HTTPRequest.Method.post, .put])
    func requestThatWentOverAConnectionWasNotUnableToConnect(method: HTTPRequest.Method) async throws {
        let server = try MockServer()
        let transport = CurlTransport()
        server.on(nil, "/") { request in
            guard request.number > 1 else { return StubAnswer.status(200, body: "ok") }
            server.stop()
            return .closeBeforeHead
        }
        _ = try await transport.send(HTTPRequest(url: server.url))
        let error = try await failure { try await transport.send(makeRequest(server, "/", method)) }
        #expect(error.code == .connectionLost, "\(error)")
        await transport.shutDown()
    }

    /// libcurl gives up after five stale connections on one handle, and many requests share a handle.
    @Test func anyNumberOfStaleConnectionsIsSurvived() async throws {
        let server = try MockServer()
        server.on(.get, "/") { $0.number > 1 ? .closeBeforeHead : StubAnswer.status(200, body: "ok") }
        let transport = CurlTransport()
        for _ in 0..<20 { #expect(try await transport.send(HTTPRequest(url: server.url)).status == 200) }
        #expect(server.connectionsOpened == 20)
        await transport.shutDown()
    }

    @Test func callThatIsSentAgainHasNotItsWholeTimeAgain() async throws {
        let clock = ManualClock()
        let server = try MockServer()
        let transport = transport {
            $0.time = .manual(clock)
            $0.timeouts = Timeouts(idle: nil, total: .seconds(10))
        }
        server.on(.get, "/", .status(200, body: "ok"))
        _ = try await transport.send(HTTPRequest(url: server.url))
        server.on(.put, "/") { request in
            guard request.number > 1 else { return .neverAnswer }
            clock.advance(by: .seconds(6))
            return .closeBeforeHead
        }
        let body = HTTPBody.restartable { [Data(repeating: 0, count: 200_000)].async }
        let request = try makeRequest(server, "/", .put, body: body)
        async let call = transport.send(request)
        #expect(await server.requests(atLeast: 3).count == 3)
        await clock.sleepers(1)
        clock.advance(by: .seconds(4))
        do {
            _ = try await call
            Issue.record("It was answered.")
        } catch let error as TransportError {
            #expect(error.code == .timedOut)
            #expect(error.message.contains("10.0 seconds"))
        }
        await transport.shutDown()
    }

    @Test func pathIsSentAsItIs() async throws {
        let server = try MockServer()
        server.on(.get, "/**", .status(200))
        let target = "/a/../b/./c%2F..?q=../d"
        let url = try #require(URL(string: "http://127.0.0.1:\(server.port)\(target)"))
        _ = try await CurlTransport().send(HTTPRequest(url: url))
        #expect(server.requests.map(\.target) == [target])
    }

    @Test func fieldsKeepTheirOrderAndSpellingBothWays() async throws {
        let server = try MockServer()
        let fields: HTTPFields = [
            "X-B": "1", "x-A": "2", "X-B": "3", "ACCEPT": "*/*", "X-Empty": "", "Cookie": "a=1", "x-b": "4",
            "Cookie": "b=2",
        ]
        server.on(.get, "/", .status(200, headers: fields))
        let response = try await CurlTransport().send(makeRequest(server, fields: fields))
        let received = try #require(server.requests.first).headers
        for sides in [received, response.headers] {
            let own = sides.filter { fields.contains($0.name) }
            #expect(own.map(\.name.rawName) == fields.map(\.name.rawName))
            #expect(own.map(\.value) == fields.map(\.value))
        }
    }

    /// Decoding needs the beginning of the coded content, and a prefix of the coded bytes isn't a prefix of the decoded
    /// ones.
    @Test func partOfCodedContentIsDeliveredAsItCame() async throws {
        let server = try MockServer()
        let part = Data([0x1F, 0x8B, 0x08])
        let fields: HTTPFields = [.contentEncoding: "gzip", .contentRange: "bytes 0-2/40"]
        server.on(.get, "/", .status(206, headers: fields, body: part))
        let transport = CurlTransport()
        for mode in [ResponseBodyMode.buffered, .streamed] {
            let request = try makeRequest(server, fields: [.range: "bytes=0-2"], responseBody: mode)
            let response = try await transport.send(request)
            #expect(try await response.body.collect(upTo: 100) == part)
            #expect(response.headers[.contentEncoding] == "gzip")
            #expect(response.headers[.contentLength] == "3")
        }
        // The handle serves later requests as before.
        _ = try await transport.send(makeRequest(server, fields: [.range: "bytes=0-2", .acceptEncoding: "br"]))
        _ = try? await transport.send(makeRequest(server))
        let asked = server.requests.map { $0.headers[.acceptEncoding] ?? "" }
        #expect(asked.prefix(3) == ["identity", "identity", "br"])
        #expect(asked.last?.contains("gzip") == true)
        await transport.shutDown()
    }

    @Test func fieldValueThatIsNotUTF8IsReadByteForByte() async throws {
        let server = try MockServer()
        server.enqueue(
            .raw(Data("HTTP/1.1 200 OK\r\nX-A: caf".utf8) + [0xE9] + Data("\r\nContent-Length: 0\r\n\r\n".utf8))
        )
        let response = try await CurlTransport().send(HTTPRequest(url: server.url))
        #expect(response.headers["X-A"] == "café")
    }

    @Test func slowReaderOfALongBodyOutlastsTheIdleLimit() async throws {
        let (server, clock) = (try MockServer(), ManualClock())
        let (sent, size) = (AsyncStream.makeStream(of: Void.self), 4 << 20)
        // More than the queue holds for a reader plus one read from the connection.
        let beginning = Data(repeating: 1, count: 448 << 10)
        server.on(.get, "/long") { _ in
            StubAnswer(steps: [
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"), .send(beginning),
                .run { sent.continuation.finish() }, .send(Data(count: size - beginning.count)),
            ])
        }
        server.on(.get, "/small", .status(200, body: "ok"))
        let transport = transport {
            $0.time = .manual(clock)
            $0.timeouts = Timeouts(idle: nil)
        }
        let timeouts = Timeouts(idle: .seconds(1))
        let request = try makeRequest(server, "/long", responseBody: .streamed, timeouts: timeouts)
        let response = try await transport.send(request)
        for await _ in sent.stream {}
        // While these requests are answered, libcurl reads the long body from the system until the queue is full.
        for _ in 0..<10 { _ = try await transport.send(makeRequest(server, "/small")) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(10))
        // Each of these requests also makes the loop check the time limits.
        for _ in 0..<2 { _ = try await transport.send(makeRequest(server, "/small")) }
        var count = 0
        for try await chunk in response.body { count += chunk.count }
        #expect(count == size)
        await transport.shutDown()
    }

    // A short body has arrived when the limit passes; a long one can't arrive while nobody reads it. Between the two,
    // libcurl may hold the last bytes, already counted, and the body is complete.
    @Test(arguments: [16, 128] + Array(stride(from: 144, through: 512, by: 16)) + [640, 2048])
    func wholeLimitThatPassesWhileTheReaderIsAwayIsATimeout(kilobytes: Int) async throws {
        let (server, clock) = (try MockServer(), ManualClock())
        let sent = AsyncStream.makeStream(of: Void.self)
        let content = Data(repeating: 1, count: kilobytes << 10)
        server.on(.get, "/long") { _ in
            StubAnswer(steps: [
                .send("HTTP/1.1 200 OK\r\nContent-Length: \(content.count)\r\n\r\n"), .send(content),
                .run { sent.continuation.finish() },
            ])
        }
        server.on(.get, "/small", .status(200, body: "ok"))
        let transport = transport {
            $0.time = .manual(clock)
            $0.timeouts = Timeouts(idle: nil)
        }
        let timeouts = Timeouts(idle: nil, total: .seconds(5))
        let request = try makeRequest(server, "/long", responseBody: .streamed, timeouts: timeouts)
        let response = try await transport.send(request)
        for await _ in sent.stream {}
        for _ in 0..<10 { _ = try await transport.send(makeRequest(server, "/small")) }
        clock.advance(by: .seconds(10))
        for _ in 0..<2 { _ = try await transport.send(makeRequest(server, "/small")) }
        var count = 0
        do {
            for try await chunk in response.body { count += chunk.count }
            #expect(count == content.count)
            #expect(kilobytes < 640)
        } catch let error as TransportError {
            #expect(error.code == .timedOut)
            #expect(count < content.count)
            #expect(kilobytes > 128)
        }
        await transport.shutDown()
    }

    @Test func slowReaderDoesNotHoldUpOthers() async throws {
        let server = try MockServer()
        server.on(.get, "/large", .repeating(Data(count: 1 << 20), times: 64))
        server.on(.get, "/small", .status(200, body: "ok"))
        let transport = CurlTransport()
        let large = try await transport.send(makeRequest(server, "/large", responseBody: .streamed))
        var iterator = large.body.makeAsyncIterator()
        var count = try await iterator.next()?.count ?? 0
        for _ in 0..<100 { #expect(try await transport.send(makeRequest(server, "/small")).status == 200) }
        while let chunk = try await iterator.next() { count += chunk.count }
        #expect(count == 64 << 20)
        await transport.shutDown()
    }

    @Test(arguments: [true, false])
    func postOfAStreamOnAStaleConnectionIsMadeAgainWithAnIdempotencyKey(hasKey: Bool) async throws {
        let server = try MockServer()
        server.on(nil, "/") { $0.number > 1 ? .closeBeforeHead : StubAnswer.status(200, body: $0.text) }
        let transport = CurlTransport()
        let text = String(repeating: "0123456789", count: 20_000)
        let body = HTTPBody.restartable { [Data(text)].async }
        let fields: HTTPFields = hasKey ? [.idempotencyKey: "1"] : [:]
        _ = try await transport.send(HTTPRequest(url: server.url))
        let request = try makeRequest(server, "/", .post, fields: fields, body: body)
        if hasKey {
            #expect(try await content(of: transport.send(request)) == text)
        } else {
            #expect(try await failure { try await transport.send(request) }.code == .connectionLost)
        }
        await transport.shutDown()
    }
}

extension [Data] {
    /// These chunks as an asynchronous sequence.
    fileprivate var async: AsyncStream<Data> {
        AsyncStream { continuation in
            for chunk in self { continuation.yield(chunk) }
            continuation.finish()
        }
    }
}

/// A socket that listens and never accepts.
final class SilentServer: Sendable {
    let port: Int
    let descriptor: Int32

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, size) == 0 && listen(descriptor, 8) == 0
                    && getsockname(descriptor, address, &size) == 0
            }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
        try #require(isListening)
    }

    deinit { close(descriptor) }
}
#endif
