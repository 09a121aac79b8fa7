#if os(Linux)
import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

extension Trait where Self == ConditionTrait {
    static var needsNginx: Self {
        .enabled(if: NginxServer.mustRun, Comment(rawValue: NginxServer.absence))
    }
}

/// Tests with a server that this project didn't write.
@Suite(.againstHanging, .heavy, .checksArchive, .needsNginx)
struct NginxTests {
    enum Kind: String, CaseIterable {
        case curl, urlSession

        var transport: any Transport {
            let transport: any Transport = self == .curl ? CurlTransport() : URLSessionTransport()
            return InterceptorChain([], transport: transport)
        }

        /// How to receive a large body. With a stream of URLSession, a slow reader would fail, and the test would depend on
        /// timing.
        var largeBody: ResponseBodyMode { self == .curl ? .streamed : .buffered(upTo: 128 << 20) }
    }

    static func text(_ response: HTTPResponse) async throws -> String {
        String(decoding: try await response.body.collect(upTo: 64 << 20), as: UTF8.self)
    }

    @Test(arguments: Kind.allCases)
    func oneConnectionServesManyRequestsOfHTTP11(kind: Kind) async throws {
        try await NginxServer.run { server in
            let transport = kind.transport
            var connections: Set<Substring> = []
            for count in 1...10 {
                let response = try await transport.send(HTTPRequest(url: server.url("/about")))
                #expect(response.status == 200)
                #expect(response.headers[.contentType] == "text/plain")
                let parts = try await Self.text(response).split(separator: " ")
                #expect(parts.first == "HTTP/1.1")
                #expect(parts.last == "\(count)")
                connections.insert(parts[1])
            }
            #expect(connections.count == 1)
        }
    }

    @Test(arguments: Kind.allCases)
    func methodsStatusesAndContentArriveAsTheyAre(kind: Kind) async throws {
        let directives = """
            location = /moved { return 302 /about; }
            location = /teapot { return 418 "short and stout"; }
            location = /nothing { return 204; }
            """
        try await NginxServer.run(server: directives) { server in
            let transport = kind.transport
            try Data("a file".utf8).write(to: server.files.appending(path: "file.txt"))
            func send(_ path: String, _ method: HTTPRequest.Method = .get) async throws -> HTTPResponse {
                try await transport.send(HTTPRequest(method: method, url: server.url(path)))
            }
            let file = try await send("/file.txt")
            #expect(try await Self.text(file) == "a file")
            #expect(file.headers.contains(.eTag))
            let head = try await send("/file.txt", .head)
            #expect(head.headers[.contentLength] == "6")
            #expect(head.body.isEmpty)
            #expect(try await send("/nowhere").status == 404)
            #expect(try await send("/moved").headers[.location]?.hasSuffix("/about") == true)
            #expect(try await Self.text(send("/teapot")) == "short and stout")
            #expect(try await send("/nothing").status == 204)
            #expect(try await send("/file.txt", .delete).status == 405)
        }
    }

    @Test(arguments: Kind.allCases)
    func gzipIsUndoneAndItsFieldsAreGone(kind: Kind) async throws {
        let plain = String(repeating: "All work and no play makes Jack a dull boy.\n", count: 2000)
        try await NginxServer.run(server: "gzip on; gzip_types *; gzip_min_length 0;") { server in
            try Data(plain.utf8).write(to: server.files.appending(path: "text.txt"))
            let transport = kind.transport
            for mode in [ResponseBodyMode.buffered, .streamed] {
                var request = HTTPRequest(url: try server.url("/text.txt"))
                request.context.responseBody = mode
                // On Linux, URLSessionTransport asks for no coding by itself.
                if kind == .urlSession { request.headers[.acceptEncoding] = "gzip" }
                let response = try await transport.send(request)
                #expect(try await Self.text(response) == plain)
                #expect(!response.headers.contains(.contentEncoding))
                #expect(!response.headers.contains(.contentLength))
            }
        }
    }

    @Test func codingThatTheRequestAsksForItselfIsLeftAlone() async throws {
        try await NginxServer.run(server: "gzip on; gzip_types *; gzip_min_length 0;") { server in
            try Data(repeating: 0x61, count: 10_000).write(to: server.files.appending(path: "text.txt"))
            var request = HTTPRequest(url: try server.url("/text.txt"))
            request.headers[.acceptEncoding] = "gzip"
            let response = try await InterceptorChain([], transport: CurlTransport()).send(request)
            #expect(response.headers[.contentEncoding] == "gzip")
            #expect(try await response.body.collect(upTo: 10_000).prefix(2) == Data([0x1F, 0x8B]))
        }
    }

    @Test(arguments: Kind.allCases)
    func largeBodiesGoUpAndDownUnchanged(kind: Kind) async throws {
        try await NginxServer.run(server: "location /store/ { root files; dav_methods PUT; create_full_put_path on; }")
        {
            try await Self.sendLargeBodiesUpAndDown(kind.transport, kind.largeBody, $0, "http", "127.0.0.1")
        }
    }

    /// Uploads and downloads 64 MB, with each kind of body.
    static func sendLargeBodiesUpAndDown(
        _ transport: any Transport,
        _ mode: ResponseBodyMode,
        _ server: NginxServer,
        _ scheme: String,
        _ host: String
    ) async throws {
        // Doubling takes few steps. A long computation would block a thread that other tests and their servers need.
        var content = Data((0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        while content.count < 48 << 20 { content += Data([UInt8(truncatingIfNeeded: content.count >> 16)]) + content }
        let file = server.folder.appending(path: "upload")
        try content.write(to: file)
        let stream = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: content.count, by: 700_001) {
                continuation.yield(content[start..<min(start + 700_001, content.count)])
            }
            continuation.finish()
        }
        for (index, body) in [try HTTPBody(file: file), .oneShot(stream), HTTPBody(content)].enumerated() {
            let url = try server.url("/store/\(index)", scheme: scheme, host: host)
            let put = try await transport.send(HTTPRequest(method: .put, url: url, body: body))
            #expect(put.status == 201)
            #expect(try Data(contentsOf: server.files.appending(path: "store/\(index)")) == content)

            var request = HTTPRequest(url: url)
            request.context.responseBody = mode
            var received = 0
            for try await chunk in try await transport.send(request).body {
                #expect(chunk == content[received..<min(received + chunk.count, content.count)])
                received += chunk.count
            }
            #expect(received == content.count)
        }
    }

    @Test(arguments: Kind.allCases)
    func connectionThatNginxHasClosedMeanwhileIsReplacedUnseen(kind: Kind) async throws {
        // Only nginx itself knows when its limit passes; the test waits until it has closed the connection, however long
        // that takes.
        try await NginxServer.run(server: "keepalive_timeout 20ms;") { server in
            let transport = kind.transport
            var connections: Set<Substring> = []
            for _ in 0..<5 {
                let response = try await transport.send(HTTPRequest(url: server.url("/about")))
                #expect(response.status == 200)
                connections.insert(try await Self.text(response).split(separator: " ")[1])
                // None, if the transport has already closed its side, too.
                try await OwnConnections.readable(to: server.port, count: 0)
            }
            #expect(connections.count == 5)
        }
    }
}
#endif
