#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTesting
import Testing

/// TLS, client certificates and HTTP/2 with a server that this project didn't write.
@Suite(.againstHanging, .heavy, .checksArchive, .needsNginx)
struct NginxTLSTests {
    /// A transport whose exchanges are in the suite's journal.
    struct JournaledTransport: Transport {
        private let transport: CurlTransport
        private let chain: InterceptorChain

        init(_ configuration: CurlTransport.Configuration) {
            transport = CurlTransport(configuration)
            chain = InterceptorChain([], transport: transport)
        }

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await chain.send(request) }

        func shutDown() async { await transport.shutDown() }
    }

    /// A test's authorities, and their files for nginx.
    struct Fixture {
        let root: TestAuthority
        let intermediate: TestAuthority
        let clients: TestAuthority
        let files: [String: Data]

        init() throws {
            root = try TestAuthority()
            intermediate = try root.intermediate()
            clients = try TestAuthority(name: "Clients")
            let identity = try intermediate.issue()
            files = [
                "server.pem": identity.certificatesPEM, "server.key": identity.privateKeyPEM,
                "clients.pem": Self.pem(clients.certificate),
            ]
        }

        static let directives = "ssl_certificate server.pem; ssl_certificate_key server.key;"

        var tls: TLSConfiguration { TLSConfiguration(trust: .only([root.certificate])) }

        func transport(_ tls: TLSConfiguration, _ versions: CurlTransport.Versions = .negotiated) -> JournaledTransport
        {
            var configuration = CurlTransport.Configuration()
            configuration.tls = tls
            configuration.versions = versions
            return JournaledTransport(configuration)
        }

        private static func pem(_ certificate: TLSCertificate) -> Data {
            let base64 = certificate.der.base64EncodedString(options: .lineLength64Characters)
            return Data("-----BEGIN CERTIFICATE-----\n\(base64)\n-----END CERTIFICATE-----\n".utf8)
        }
    }

    func run(
        _ fixture: Fixture,
        listen: String = "ssl",
        server: String = "",
        _ body: (NginxServer) async throws -> Void
    ) async throws {
        let directives = Fixture.directives + server
        try await NginxServer.run(listen: listen, server: directives, files: fixture.files, body)
    }

    func about(_ server: NginxServer) throws -> HTTPRequest {
        HTTPRequest(url: try server.url("/about", scheme: "https", host: "localhost"))
    }

    @Test func trustedServerAnswersAndOthersGetNothing() async throws {
        let fixture = try Fixture()
        try await run(fixture) { server in
            let request = try about(server)
            #expect(try await fixture.transport(fixture.tls).send(request).status == 200)
            for trust in [TLSTrust.system, .only([fixture.clients.certificate])] {
                let transport = fixture.transport(TLSConfiguration(trust: trust))
                let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
                #expect(error?.code == .tlsFailed)
            }
        }
    }

    @Test func pinsOfTheWholeChainAreLookedFor() async throws {
        let fixture = try Fixture()
        try await run(fixture) { server in
            let request = try about(server)
            var tls = fixture.tls
            for certificate in [fixture.intermediate.certificate, fixture.root.certificate] {
                tls.pins = ["localhost": [certificate.publicKeyPin]]
                #expect(try await fixture.transport(tls).send(request).status == 200)
            }
            tls.pins = ["localhost": [fixture.clients.certificate.publicKeyPin]]
            let transport = fixture.transport(tls)
            let error = await #expect(throws: TransportError.self) { try await transport.send(request) }
            #expect((error?.underlying as? PinningError)?.chain.last == fixture.root.certificate)
        }
    }

    @Test(arguments: ["TLSv1.2", "TLSv1.3"])
    func clientCertificateIsRightOrMissingOrWrong(version: String) async throws {
        let fixture = try Fixture()
        let directives = """
            ssl_protocols \(version); ssl_client_certificate clients.pem; ssl_verify_client on;
            location = /who { return 200 "$ssl_client_s_dn $ssl_protocol"; }
            """
        try await run(fixture, server: directives) { server in
            let request = HTTPRequest(url: try server.url("/who", scheme: "https", host: "localhost"))
            var tls = fixture.tls
            tls.identity = try fixture.clients.issue(client: "Ada").clientIdentity
            let right = try await fixture.transport(tls).send(request)
            #expect(try await NginxTests.text(right) == "CN=Ada \(version)")

            // nginx reports this error in HTTP, not in TLS.
            let missing = try await fixture.transport(fixture.tls).send(request)
            #expect(missing.status == 400)
            #expect(try await NginxTests.text(missing).contains("No required SSL certificate was sent"))

            tls.identity = try TestAuthority(name: "Others").issue(client: "Eve").clientIdentity
            let wrong = try await fixture.transport(tls).send(request)
            #expect(wrong.status == 400)
            #expect(try await NginxTests.text(wrong).contains("The SSL certificate error"))
        }
    }

    @Test(arguments: [true, false])
    func manyRequestsOfHTTP2ShareOneConnection(hasTLS: Bool) async throws {
        let fixture = try Fixture()
        try await run(fixture, listen: hasTLS ? "ssl http2" : "http2") { server in
            let transport = fixture.transport(fixture.tls, hasTLS ? .negotiated : .http2PriorKnowledge)
            let url = try server.url("/about", scheme: hasTLS ? "https" : "http", host: "localhost")
            let answers = try await withThrowingTaskGroup(of: [String].self) { group in
                for _ in 0..<64 {
                    group.addTask {
                        var all: [String] = []
                        for _ in 0..<10 { all.append(try await NginxTests.text(transport.send(HTTPRequest(url: url)))) }
                        return all
                    }
                }
                // The first ones too: they wait for the connection that one of them opens.
                return try await group.reduce(into: []) { $0 += $1.map { $0.split(separator: " ") } }
            }
            #expect(answers.count == 640)
            #expect(Set(answers.map { $0[0] }) == ["HTTP/2.0"])
            // Without TLS, sharing depends on libcurl's version.
            #expect(!hasTLS || Set(answers.map { $0[1] }).count == 1)
        }
    }

    @Test(arguments: ["ssl", "ssl http2"], [ResponseBodyMode.buffered, .streamed])
    func trailersArrive(listen: String, mode: ResponseBodyMode) async throws {
        let fixture = try Fixture()
        // Coded content has no length, after which libcurl would drop the trailers of HTTP/2.
        let server = "gzip on; gzip_types *; location = /large { add_trailer X-Protocol $server_protocol; }"
        try await run(fixture, listen: listen, server: server) { server in
            try Data(count: 3_000_000).write(to: server.files.appending(path: "large"))
            var request = HTTPRequest(url: try server.url("/large", scheme: "https", host: "localhost"))
            request.context.responseBody = mode
            let response = try await fixture.transport(fixture.tls).send(request)
            #expect(try await response.body.collect(upTo: 3_000_000).count == 3_000_000)
            #expect(try response.trailers == ["X-Protocol": listen == "ssl" ? "HTTP/1.1" : "HTTP/2.0"])
        }
    }

    @Test(arguments: [true, false])
    func responseOverHTTP2SaysSo(hasTLS: Bool) async throws {
        let fixture = try Fixture()
        try await run(fixture, listen: hasTLS ? "ssl http2" : "http2", server: "ssl_protocols TLSv1.3;") { server in
            let transport = fixture.transport(fixture.tls, hasTLS ? .negotiated : .http2PriorKnowledge)
            let url = try server.url("/about", scheme: hasTLS ? "https" : "http", host: "localhost")
            let connection = try #require(try await transport.send(HTTPRequest(url: url)).context.connection)
            #expect(connection.httpVersion == .http2)
            #expect(connection.remotePort == server.port)
            #expect(connection.tlsVersion == (hasTLS ? .tls13 : nil))
            #expect((connection.cipherSuite != nil) == hasTLS)
        }
    }

    /// The connection itself may be dead, and then later calls would wait in vain, too.
    @Test func connectionOfACallThatRanIntoATimeLimitIsLeftToNoLaterOne() async throws {
        let (fixture, upstream, clock) = (try Fixture(), try MockServer(), ManualClock())
        upstream.on(.get, "/", .neverAnswer)
        let directives = "location = /silent { proxy_pass http://127.0.0.1:\(upstream.port)/; }"
        try await run(fixture, listen: "ssl http2", server: directives) { server in
            var configuration = CurlTransport.Configuration()
            configuration.tls = fixture.tls
            configuration.time = .manual(clock)
            // Only the silent calls set an alarm.
            configuration.timeouts = Timeouts(idle: nil)
            let transport = JournaledTransport(configuration)
            var request = HTTPRequest(url: try server.url("/silent", scheme: "https", host: "localhost"))
            request.context.timeouts = Timeouts(idle: .seconds(2))
            var answers = [try await NginxTests.text(transport.send(about(server)))]
            for isCancelled in [true, false] {
                let call = Task { [request] in try await transport.send(request) }
                _ = await upstream.requests(atLeast: answers.count)
                await clock.sleepers(1)
                if isCancelled { call.cancel() } else { clock.advance(by: .seconds(2)) }
                await #expect(throws: (any Error).self) { try await call.value }
                answers.append(try await NginxTests.text(transport.send(about(server))))
            }
            #expect(answers.allSatisfy { $0.hasPrefix("HTTP/2.0") })
            let connections = answers.map { $0.split(separator: " ")[1] }
            // A cancelled call says nothing against its connection.
            #expect(connections[0] == connections[1] && connections[1] != connections[2], "\(answers)")
            await transport.shutDown()
        }
    }

    /// The timeout cancels the call after a silence, in which the connection may have died.
    @Test func connectionOfACallThatATimeoutEndedIsLeftToNoLaterOne() async throws {
        let (fixture, upstream, clock) = (try Fixture(), try MockServer(), ManualClock())
        upstream.on(.get, "/", .neverAnswer)
        let directives = "location = /silent { proxy_pass http://127.0.0.1:\(upstream.port)/; }"
        try await run(fixture, listen: "ssl http2", server: directives) { server in
            var configuration = CurlTransport.Configuration()
            configuration.tls = fixture.tls
            configuration.time = .manual(clock)
            configuration.timeouts = Timeouts(idle: nil)
            let transport = JournaledTransport(configuration)
            let chain = InterceptorChain([.timeout(.seconds(2), time: .manual(clock))], transport: transport)
            let silent = HTTPRequest(url: try server.url("/silent", scheme: "https", host: "localhost"))
            let before = try await NginxTests.text(transport.send(about(server))).split(separator: " ")
            let call = Task { try await chain.send(silent) }
            _ = await upstream.requests(atLeast: 1)
            await clock.sleepers(1)
            clock.advance(by: .seconds(2))
            let error = await #expect(throws: TransportError.self) { try await call.value }
            #expect(error?.code == .timedOut)
            let after = try await NginxTests.text(transport.send(about(server))).split(separator: " ")
            #expect(before[0] == "HTTP/2.0" && after[0] == "HTTP/2.0")
            #expect(before[1] != after[1])
            await transport.shutDown()
        }
    }

    @Test func connectionOfACallThatIsCancelledInItsContentServesLaterOnes() async throws {
        let fixture = try Fixture()
        // Slow enough that no call completes before it is cancelled.
        try await run(fixture, listen: "ssl http2", server: "location = /large { limit_rate 1m; }") { server in
            try Data(count: 64 << 20).write(to: server.files.appending(path: "large"))
            let transport = fixture.transport(fixture.tls)
            var answers = [try await NginxTests.text(transport.send(about(server)))]
            for mode in [ResponseBodyMode.buffered, .streamed, .buffered] {
                let (progress, continuation) = AsyncStream.makeStream(of: Void.self)
                var request = HTTPRequest(url: try server.url("/large", scheme: "https", host: "localhost"))
                request.context.responseBody = mode
                request.context.downloadProgress = { _ in continuation.yield() }
                let call = Task { [request] in try await transport.send(request).body.collect(upTo: 128 << 20) }
                for await _ in progress { break }
                call.cancel()
                await #expect(throws: CancellationError.self) { try await call.value }
                answers.append(try await NginxTests.text(transport.send(about(server))))
            }
            #expect(answers.allSatisfy { $0.hasPrefix("HTTP/2.0") })
            #expect(Set(answers.map { $0.split(separator: " ")[1] }).count == 1, "\(answers)")
            await transport.shutDown()
        }
    }

    /// nginx forwards content with or without a known length, and cuts its stream where the upstream server stopped.
    @Test(arguments: [true, false])
    func contentOfHTTP2CutAtAnyByteIsAnErrorOrWhole(hasLength: Bool) async throws {
        let (fixture, upstream) = (try Fixture(), try MockServer())
        // Without a length, only gzip reveals the cut, because libcurl 7.88 takes a reset stream for an end.
        let base64 = "H4sIAAAAAAACA0vOzytJzStRyE9TSMsvyk0syczPU8hIzSkAAM9n4AcZAAAA"
        let (gzip, plain) = (try #require(Data(base64Encoded: base64)), "content of formation help")
        upstream.on(.get, "/*") { request in
            let count = Int(request.path.dropFirst()) ?? 0
            let framing = hasLength ? "Content-Length: \(gzip.count)" : "Connection: close"
            let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\(framing)\r\n\r\n"
            return StubAnswer(steps: [.send(Data(head.utf8) + gzip.prefix(count)), .close])
        }
        let directives = "location /cut/ { proxy_pass http://127.0.0.1:\(upstream.port)/; proxy_buffering off; }"
        try await run(fixture, listen: "ssl http2", server: directives) { server in
            let transport = fixture.transport(fixture.tls)
            for count in 1...gzip.count {
                for mode in [ResponseBodyMode.buffered, .streamed] {
                    var request = HTTPRequest(url: try server.url("/cut/\(count)", scheme: "https", host: "localhost"))
                    request.context.responseBody = mode
                    do {
                        let text = try await NginxTests.text(transport.send(request))
                        #expect(count == gzip.count && text == plain, "cut at \(count): \(text)")
                    } catch let error as TransportError {
                        #expect(count < gzip.count && error.code == .truncated, "cut at \(count): \(error)")
                    }
                }
            }
            await transport.shutDown()
        }
    }

    /// nginx answers 400, and closes the stream before the content is complete.
    @Test func headThatNginxFindsTooLongIsA400OrCutOffAndHarmsNoLaterCall() async throws {
        let fixture = try Fixture()
        try await run(fixture, listen: "ssl http2", server: "large_client_header_buffers 2 1k;") { server in
            let transport = fixture.transport(fixture.tls)
            var request = try about(server)
            request.headers["X-Long"] = String(repeating: "a", count: 4000)
            do {
                #expect(try await transport.send(request).status == 400)
            } catch let error as TransportError {
                #expect(error.code == .connectionLost, "\(error)")
            }
            #expect(try await transport.send(about(server)).status == 200)
            await transport.shutDown()
        }
    }

    @Test func versionIsNegotiatedUnlessToldOtherwise() async throws {
        let fixture = try Fixture()
        try await run(fixture, listen: "ssl http2") { server in
            let request = try about(server)
            for (versions, expected) in [
                (CurlTransport.Versions.negotiated, "HTTP/2.0"), (.http2, "HTTP/2.0"), (.http1, "HTTP/1.1"),
            ] {
                let response = try await fixture.transport(fixture.tls, versions).send(request)
                #expect(try await NginxTests.text(response).hasPrefix(expected))
            }
        }
    }

    @Test(arguments: ["ssl", "ssl http2"])
    func largeBodiesGoUpAndDownUnchangedOverTLS(listen: String) async throws {
        let fixture = try Fixture()
        let store = "location /store/ { root files; dav_methods PUT; create_full_put_path on; }"
        try await run(fixture, listen: listen, server: store) { server in
            let transport = fixture.transport(fixture.tls)
            try await NginxTests.sendLargeBodiesUpAndDown(transport, .streamed, server, "https", "localhost")
        }
    }

    @Test func discardingSomeOfManyStreamsLeavesTheOthersWhole() async throws {
        let fixture = try Fixture()
        try await run(fixture, listen: "ssl http2") { server in
            try Data(count: 8 << 20).write(to: server.files.appending(path: "large"))
            let transport = fixture.transport(fixture.tls)
            let large = try server.url("/large", scheme: "https", host: "localhost")
            try await withThrowingTaskGroup(of: Int?.self) { group in
                for index in 0..<16 {
                    var request = HTTPRequest(url: large)
                    request.context.responseBody = .streamed
                    group.addTask { [request] in
                        let body = try await transport.send(request).body
                        var iterator = body.makeAsyncIterator()
                        var count = try await iterator.next()?.count ?? 0
                        guard index.isMultiple(of: 2) else {
                            body.discard()
                            return nil
                        }
                        while let chunk = try await iterator.next() { count += chunk.count }
                        return count
                    }
                }
                for try await count in group { #expect(count == nil || count == 8 << 20) }
            }
            #expect(try await transport.send(about(server)).status == 200)
        }
    }
}
#endif
