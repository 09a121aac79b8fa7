import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import InterceptorsTransfers
import InterceptorsUploadServer
import Synchronization
import Testing

/// Uploads that resume, under the interceptors of a chain.
@Suite(.againstHanging) struct UploadChainTests {
    private let content = Data((0..<5_000).map { UInt8(ascii: "a") + UInt8($0 % 26) })
    private let time = TimeSource(random: RandomSource { 0 })

    private var protocols: [UploadResuming] { [.draft.trying(time: time), .tus.trying(time: time)] }

    /// A server that breaks the first content after 40 bytes.
    private func server(_ kind: Int, _ later: UploadServer.Fault...) -> UploadServer {
        UploadServer(faults: (kind == 0 ? [] : [.none]) + [.cut(after: 40)] + later)
    }

    private func client(_ server: some Transport, _ interceptors: [AnyInterceptor]) -> Client {
        Client(baseURL: URL(string: "https://api.example.com"), interceptors: interceptors, transport: server)
    }

    private func upload(
        _ client: Client,
        _ kind: Int,
        method: HTTPRequest.Method = .post,
        context: HTTPContext = HTTPContext()
    ) async throws -> HTTPResponse {
        try await client.upload(
            .data(content, type: "text/plain"),
            to: "/files",
            method: method,
            resuming: protocols[kind],
            context: context
        )
    }

    @Test(arguments: 0..<2) func eachRequestGetsTheCurrentToken(kind: Int) async throws {
        let server = server(kind)
        let count = Mutex(0)
        let token = AnyInterceptor.intercept { request, next in
            var request = request
            request.headers[.authorization] = "Bearer \(count.withLock { $0 += 1; return $0 })"
            return try await next(request)
        }
        _ = try await upload(client(server, [.validateStatus(), token]), kind)
        let tokens = server.headers.map { $0[.authorization] }
        #expect(tokens == (1...tokens.count).map { "Bearer \($0)" })
        #expect(server.completed == [content])
    }

    @Test(arguments: 0..<2) func noPartIsCompressed(kind: Int) async throws {
        let server = server(kind)
        _ = try await upload(client(server, [.compressRequest(above: 1)]), kind)
        #expect(server.completed == [content])
        #expect(server.headers.allSatisfy { !$0.contains(.contentEncoding) })
        let plain = UploadServer()
        try await client(plain, [.compressRequest(above: 1)]).post("/files", body: .data(content, type: "text/plain"))
        #expect(plain.headers[0][.contentEncoding] == "gzip", "otherwise the test shows nothing")
    }

    @Test(arguments: 0..<2, [HTTPRequest.Method.post, .put])
    func retryRepeatsNoContentOfAnUpload(kind: Int, method: HTTPRequest.Method) async throws {
        guard kind == 0 || method == .post else { return }
        let server = server(kind)
        let retry = AnyInterceptor.retry(maxAttempts: 5, time: time, idempotencyKey: { "key" })
        let context = HTTPContext.with(\.isIdempotent, true)
        _ = try await upload(client(server, [retry]), kind, method: method, context: context)
        #expect(server.completed == [content])
        #expect(server.methods == (kind == 0 ? [method, .head, .patch] : [.post, .patch, .head, .patch]))
        #expect(server.headers.suffix(2).allSatisfy { !$0.contains(.idempotencyKey) })
    }

    @Test(arguments: [503, 429] as [HTTPResponse.Status])
    func retryMakesNoSecondUploadAfterTheServerHasNamedOne(status: HTTPResponse.Status) async throws {
        let server = UploadServer(faults: [.failAfterContent(status, [.retryAfter: "0"])])
        _ = try await upload(client(server, [.retry(maxAttempts: 5, time: time)]), 0)
        #expect(server.completed == [content])
        #expect(server.unfinished.isEmpty)
        #expect(server.methods == [.post, .head, .patch])
    }

    @Test(arguments: [503, 429] as [HTTPResponse.Status])
    func retryRepeatsAnUploadThatTheServerHasNotNamed(status: HTTPResponse.Status) async throws {
        let server = UploadServer(faults: [.refuse(status, [.retryAfter: "0"])])
        _ = try await upload(client(server, [.retry(maxAttempts: 5, time: time)]), 0)
        #expect(server.completed == [content])
        #expect(server.methods == [.post, .post])
    }

    @Test func anUploadThatIsMadeAgainWithANewTokenHasItsSecondURL() async throws {
        // The server names the upload, and looks at the token afterwards. The second upload breaks, so its URL is used.
        let server = UploadServer(faults: [.failAfterContent(401), .cut(after: 40)])
        let tokens = TokenStore(.init("old", account: "ada"), origins: [apiOrigin]) { _ in .init("new", account: "ada")
        }
        let chain: [AnyInterceptor] = [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        let saved = Mutex<[UnfinishedUpload]>([])
        let resuming = protocols[0].acrossLaunches { upload in saved.withLock { $0.append(upload) } }
        _ = try await client(server, chain).upload(.data(content, type: nil), to: "/files", resuming: resuming)
        #expect(server.completed == [content])
        #expect(server.methods == [.post, .post, .head, .patch])
        #expect(saved.withLock { $0.map(\.url.lastPathComponent) } == ["0", "1"])
    }

    @Test func anUploadThatIsMadeAgainAfterARedirectHasItsSecondURL() async throws {
        let server = UploadServer(faults: [.failAfterContent(307, [.location: "/elsewhere"]), .cut(after: 40)])
        _ = try await upload(client(server, [.followRedirects()]), 0)
        #expect(server.completed == [content])
        #expect(server.methods == [.post, .post, .head, .patch])
    }

    @Test func aFieldThatRedirectsDropDoesNotGoToAnotherOrigin() async throws {
        var behavior = UploadServer.Behavior()
        behavior.location = "https://storage.example.com"
        let server = UploadServer(behavior, faults: [.cut(after: 40)])
        let redirects = AnyInterceptor.followRedirects(redaction: .standard.adding(names: ["Frob"]))
        _ = try await client(server, [.group([redirects])])
            .upload(.data(content, type: nil), to: "/files", resuming: protocols[0], headers: ["X-Frob": "secret"])
        #expect(server.headers.map { $0.contains("X-Frob") } == [true, false, false])
    }

    @Test(arguments: 0..<2) func retryRepeatsAQuestion(kind: Int) async throws {
        let server = server(kind, .refuse(503))
        _ = try await upload(client(server, [.retry(maxAttempts: 3, time: time)]), kind)
        #expect(server.completed == [content])
        #expect(server.methods.suffix(3) == [.head, .head, .patch])
    }

    @Test(arguments: 0..<2) func anErrorOfAStatusIsReadAsTheResponse(kind: Int) async throws {
        let server = server(kind, .refuse(409), .none, .refuse(503))
        _ = try await upload(client(server, [.validateStatus()]), kind)
        #expect(server.completed == [content])

        let refusing = self.server(kind, .refuse(401))
        let error = await #expect(throws: StatusError.self) {
            _ = try await upload(client(refusing, [.validateStatus()]), kind)
        }
        #expect(error?.response?.status == 401)
    }

    @Test(arguments: 0..<2) func noCacheAnswersAQuestion(kind: Int) async throws {
        let server = server(kind, .none, .refuse(503))
        let cached = AnyInterceptor.intercept { request, next in
            var response = try await next(request)
            response.headers[.cacheControl] = "max-age=60"
            return response
        }
        _ = try await upload(client(server, [.cache(.memory()), cached]), kind)
        #expect(server.completed == [content])
        #expect(server.methods.filter { $0 == .head }.count == 2)
    }

    @Test(arguments: [20, 300]) func anOpenBreakerIsWaitedForWithinThePatience(seconds: Int) async throws {
        for kind in 0..<2 {
            let clock = ManualClock()
            let time = TimeSource.manual(clock)
            let server = server(kind, .refuse(503))
            let breaker = AnyInterceptor.circuitBreaker(.consecutiveFailures(2), openFor: .seconds(seconds), time: time)
            let client = client(server, [breaker])
            let resuming: UploadResuming = kind == 0 ? .draft.trying(time: time) : .tus.trying(time: time)
            let error = try await clock.run { () async throws -> (any Error)? in
                do {
                    _ = try await client.upload(.data(content, type: nil), to: "/files", resuming: resuming)
                    return nil
                } catch {
                    return error
                }
            }
            // The breaker opens after the cut and the 503. The patience is two minutes.
            #expect((error == nil) == (seconds < 120), "\(kind): \(error.map { "\($0)" } ?? "no error")")
            #expect((server.completed == [content]) == (seconds < 120))
        }
    }

    @Test func aRedirectedCreationIsResumedWhereItLed() async throws {
        // The 104 has a relative Location, which counts from the URL that sent it.
        let server = UploadServer(faults: [.cut(after: 40)])
        let redirecting = RedirectingTransport(to: "https://storage.example.com/deep/files", server: server)
        _ = try await upload(client(redirecting, [.followRedirects()]), 0)
        #expect(server.completed == [content])
        #expect(redirecting.hosts == ["api.example.com"] + Array(repeating: "storage.example.com", count: 3))
    }

    @Test func aRedirectOverSocketsIsResumedWhereItLed() async throws {
        let (front, storage) = (try MockServer(), try MockServer())
        defer {
            front.stop()
            storage.stop()
        }
        let uploads = UploadServer(faults: [.cut(after: 40)])
        uploads.serve(on: storage)
        front.on(nil, "/files", .status(307, headers: [.location: "\(storage.url)/deep/files"]))
        let client = Client(baseURL: front.url, interceptors: [.followRedirects()])
        _ = try await upload(client, 0)
        #expect(uploads.completed == [content])
        #expect(front.requests.count == 1)
        #expect(storage.requests.map(\.path) == ["/deep/files", "/uploads/0", "/uploads/0"])
    }

    @Test(arguments: 0..<2) func anUploadStartsNoWaitThatEndsAfterTheDeadline(kind: Int) async throws {
        let clock = ManualClock()
        let time = TimeSource(clock: clock, random: RandomSource { .max })
        let server = server(kind, .refuse(503), .refuse(503), .refuse(503))
        let resuming: [UploadResuming] = [.draft.trying(time: time), .tus.trying(time: time)]
        await #expect(throws: (any Error).self) {
            try await clock.run {
                _ = try await client(server, [])
                    .upload(
                        .data(content, type: nil),
                        to: "/files",
                        resuming: resuming[kind],
                        context: .with(\.deadline, Deadline(after: .milliseconds(500), time: time))
                    )
            }
        }
        #expect(clock.now.elapsed <= .milliseconds(200))
    }
}

/// Redirects requests to one host, and hands the others to a server with the URL of each interim response.
private final class RedirectingTransport: Transport {
    private let target: String
    private let server: UploadServer
    private let seen = Mutex<[String]>([])

    init(to target: String, server: UploadServer) { (self.target, self.server) = (target, server) }

    var hosts: [String] { seen.withLock { $0 } }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let request = request
        seen.withLock { $0.append(request.url.host() ?? "") }
        guard request.url.host() == "api.example.com" else { return try await server.send(request) }
        return HTTPResponse(status: 307, headers: [.location: target], url: request.url)
    }
}
