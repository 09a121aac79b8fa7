#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// The end of HTTP/2 connections, and what never goes over one.
extension NginxTLSTests {
    /// The version that the server saw, and the number of the connection.
    private func seen(_ response: HTTPResponse) async throws -> (version: String, connection: String) {
        let parts = try await NginxTests.text(response).split(separator: " ").map(String.init)
        return (parts[0], parts[1])
    }

    @Test func requestsThatMayNotBeSentAgainGoOverHTTP11UnlessTheCallerAsks() async throws {
        let fixture = try Fixture()
        try await run(fixture, listen: "ssl http2", server: "error_page 405 =200 /about;") { server in
            var keyed = try about(server)
            (keyed.method, keyed.headers[.idempotencyKey]) = (.post, "one")
            var (post, put, delete, get) = (try about(server), try about(server), try about(server), try about(server))
            (post.method, delete.method) = (.post, .delete)
            (put.method, put.body) = (.put, HTTPBody("content"))
            get.body = HTTPBody("content")
            for (versions, safe, other) in [
                (CurlTransport.Versions.negotiated, "HTTP/2.0", "HTTP/1.1"), (.http2, "HTTP/2.0", "HTTP/2.0"),
                (.http1, "HTTP/1.1", "HTTP/1.1"),
            ] {
                let transport = fixture.transport(fixture.tls, versions)
                // Twice, so that kept connections of both versions are there to be chosen.
                for _ in 0..<2 {
                    for request in [keyed, delete, try about(server)] {
                        #expect(try await seen(transport.send(request)).version == safe, "\(versions) \(request)")
                    }
                    for request in [post, put, get] {
                        #expect(try await seen(transport.send(request)).version == other, "\(versions) \(request)")
                    }
                }
                await transport.shutDown()
            }
        }
    }

    /// Over HTTP/2, nginx ends the connection instead of answering.
    @Test(arguments: [(1, 20_000), (6, 60_000)])
    func headThatNginxFindsTooLongGetsItsAnswer(fields: Int, length: Int) async throws {
        let fixture = try Fixture()
        try await run(fixture, listen: "ssl http2") { server in
            var request = try about(server)
            for index in 0..<fields {
                let name = try #require(HTTPField.Name("X-\(index)"))
                request.headers[name] = String(repeating: "a", count: length)
            }
            let response = try await fixture.transport(fixture.tls).send(request)
            #expect(response.status == 400)
        }
    }

    /// nginx announces the end with GOAWAY while other requests are in flight, and doesn't answer later ones.
    @Test(arguments: [HTTPRequest.Method.get, .put, .post], [CurlTransport.Versions.negotiated, .http2])
    func requestsSurviveConnectionsThatServeFew(
        method: HTTPRequest.Method,
        versions: CurlTransport.Versions
    ) async throws {
        let lost = try await lost(method, versions, of: 1_280, inFlight: 64, perConnection: 5)
        // Over HTTP/2, nobody can know whether nginx received a request after which the connection ended.
        if versions == .negotiated || method.isIdempotent { #expect(lost.isEmpty, "\(lost)") }
        #expect(lost.allSatisfy { $0.code == .connectionLost }, "\(lost)")
    }

    @Test func keyMakesAPostSurviveTheEndOfAnHTTP2Connection() async throws {
        let lost = try await lost(.post, .http2, key: "one", of: 1_280, inFlight: 64, perConnection: 5)
        #expect(lost.isEmpty, "\(lost)")
    }

    @Test(
        .enabled(if: FullLoad.isOn, "INTERCEPTORS_FULL_LOAD isn't set"),
        arguments: [(6_000, 1_000), (300, 3)],
        [CurlTransport.Versions.negotiated, .http2]
    )
    func postsAreCountedAtTheEndOfConnections(
        load: (count: Int, perConnection: Int),
        versions: CurlTransport.Versions
    ) async throws {
        let start = (ContinuousClock.now, clock())
        let lost = try await lost(.post, versions, of: load.count, inFlight: 32, perConnection: load.perConnection)
        let cpu = Double(clock() - start.1) / Double(CLOCKS_PER_SEC)
        print("\(versions): \(lost.count) of \(load) lost, \(ContinuousClock.now - start.0), \(cpu) s CPU")
        if versions == .negotiated { #expect(lost.isEmpty) }
    }

    /// Sends requests with content, and returns the errors. Fails if the server saw one twice that may not be sent again.
    private func lost(
        _ method: HTTPRequest.Method,
        _ versions: CurlTransport.Versions,
        key: String? = nil,
        of count: Int,
        inFlight: Int,
        perConnection: Int
    ) async throws -> [TransportError] {
        let fixture = try Fixture()
        let directives = "keepalive_requests \(perConnection); access_log seen.log;"
        let errors = Shared<[TransportError]>([])
        try await run(fixture, listen: "ssl http2", server: directives) { server in
            let transport = fixture.transport(fixture.tls, versions)
            var template = try about(server)
            template.method = method
            if let key { template.headers[.idempotencyKey] = key }
            if method != .get { template.body = HTTPBody("some content") }
            try await withThrowingTaskGroup(of: Void.self) { [template] group in
                for lane in 0..<inFlight {
                    group.addTask {
                        for index in 0..<count / inFlight {
                            var request = template
                            request.url.append(queryItems: [URLQueryItem(name: "n", value: "\(lane)-\(index)-")])
                            do {
                                let status = try await transport.send(request).status
                                #expect(status == 200)
                            } catch let error as TransportError {
                                errors.change { $0.append(error) }
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            await transport.shutDown()
            let seen = try String(contentsOf: server.folder.appending(path: "seen.log"), encoding: .utf8)
            let numbers = seen.split(separator: "\n").map { $0.drop { $0 != "?" }.prefix { $0 != " " } }
            #expect(!numbers.isEmpty)
            if !method.isIdempotent, key == nil { #expect(Set(numbers).count == numbers.count) }
        }
        return errors.value
    }

    /// The stalled connection stays open as long as its stream does. A limit has passed, or the caller has cancelled after two seconds.
    @Test(arguments: [CurlTransport.Versions.negotiated, .http2], [false, true])
    func requestNeverJoinsAConnectionOnWhichACallWaitedInVainAlthoughAStreamIsOpenOnIt(
        versions: CurlTransport.Versions,
        isCancelled: Bool
    ) async throws {
        let (fixture, upstream, clock) = (try Fixture(), try MockServer(), ManualClock())
        upstream.on(.get, "/silent", .neverAnswer)
        let end = Gate()
        upstream.on(.get, "/events") { _ in
            let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\ndata: 1\n\n"
            return StubAnswer(steps: [.send(head), .run { await end.opened() }, .send("data: 2\n\n"), .close])
        }
        let directives = "location /up/ { proxy_pass http://127.0.0.1:\(upstream.port)/; proxy_buffering off; }"
        try await run(fixture, listen: "ssl http2", server: directives) { server in
            var configuration = CurlTransport.Configuration()
            (configuration.tls, configuration.versions, configuration.time) = (fixture.tls, versions, .manual(clock))
            configuration.timeouts = Timeouts(idle: nil)
            let transport = JournaledTransport(configuration)
            let before = try await seen(transport.send(about(server)))
            var events = HTTPRequest(url: try server.url("/up/events", scheme: "https", host: "localhost"))
            events.context.responseBody = .streamed
            let stream = try await transport.send(events).body
            var chunks = stream.makeAsyncIterator()
            #expect(try await chunks.next() == Data("data: 1\n\n".utf8))

            var silent = HTTPRequest(url: try server.url("/up/silent", scheme: "https", host: "localhost"))
            silent.context.timeouts = Timeouts(idle: isCancelled ? nil : .seconds(2))
            let call = Task { [silent] in try await transport.send(silent) }
            _ = await upstream.requests(atLeast: 2)
            if !isCancelled { await clock.sleepers(1) }
            clock.advance(by: .seconds(2))
            if isCancelled { call.cancel() }
            let error = await #expect(throws: (any Error).self) { try await call.value }
            #expect(error is CancellationError == isCancelled)

            for _ in 0..<3 {
                let during = try await seen(transport.send(about(server)))
                #expect(during.connection != before.connection)
                #expect(during.version == (versions == .http2 ? "HTTP/2.0" : "HTTP/1.1"))
            }
            end.open()
            #expect(try await chunks.next() == Data("data: 2\n\n".utf8))
            #expect(try await chunks.next() == nil)
            let after = try await seen(transport.send(about(server)))
            #expect(after.version == "HTTP/2.0")
            #expect(after.connection != before.connection)
            await transport.shutDown()
        }
    }
}
#endif
