import Foundation
import Interceptors
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

/// Redirects together with other interceptors, and over real sockets.
@Suite(.againstHanging)
struct RedirectChainTests {
    @Test func clientWithoutInterceptorsFollowsRedirectsAndDoesNothingElse() async throws {
        let site = site(["https://h/a": (302, "/b")])
        let client = Client(baseURL: try url("https://h"), transport: site)
        #expect(client.chain.names == "followRedirects → Recorder")
        #expect(try await client.get("/a", as: Data.self) == Data("https://h/b".utf8))
        #expect(site.requests.allSatisfy { $0.headers.isEmpty })
    }

    @Test func arrayOfInterceptorsIsTakenLiterally() async throws {
        let site = site(["https://h/a": (302, "/b")])
        let client = Client(baseURL: try url("https://h"), interceptors: [], transport: site)
        #expect(try await client.send(HTTPRequest(url: url("https://h/a"))).status == 302)
        #expect(site.requests.count == 1)
    }

    @Test func bearerTokenNeverFollowsARedirectToAnotherOrigin() async throws {
        let site = site([
            "https://api.example/a": (307, "https://evil.example/b"),
            "https://evil.example/b": (307, "https://api.example/c"),
        ])
        let tokens = TokenStore(.init("hunter2")) { _ in throw Refused() }
        let client = Client(
            baseURL: try url("https://api.example"),
            interceptors: [.followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            transport: site
        )
        _ = try await client.send(HTTPRequest(method: .post, url: url("https://api.example/a"), body: "x"))
        #expect(site.requests.map { $0.headers[.authorization] } == ["Bearer hunter2", nil, "Bearer hunter2"])
    }

    @Test func bearerTokenAddedOutsideIsDroppedAtTheOriginsBorder() async throws {
        let site = site(["https://api.example/a": (302, "https://evil.example/b")])
        let tokens = TokenStore(.init("hunter2")) { _ in throw Refused() }
        let client = Client(
            baseURL: try url("https://api.example"),
            interceptors: [.bearerAuth(tokens), .followRedirects()],
            transport: site
        )
        _ = try await client.send(HTTPRequest(url: url("https://api.example/a")))
        #expect(site.requests.map { $0.headers[.authorization] } == ["Bearer hunter2", nil])
    }

    @Test func unauthorizedFromAnotherOriginCausesNoRefresh() async throws {
        let refreshes = Tally()
        let tokens = TokenStore(.init("hunter2")) { _ in
            refreshes.count()
            return .init("new")
        }
        let transport = Recorder { request in
            request.url.host() == "api.example" ? redirect(302, "https://evil.example/") : HTTPResponse(status: 401)
        }
        let client = Client(
            baseURL: try url("https://api.example"),
            interceptors: [.retryOnUnauthorized(tokens), .followRedirects(), .bearerAuth(tokens)],
            transport: transport
        )
        #expect(try await client.send(HTTPRequest(url: url("https://api.example/a"))).status == 401)
        #expect(refreshes.value == 0)
    }

    @Test(arguments: [false, true])
    func unauthorizedAfterARedirectedPostIsTheAnswerAndThePostIsNotSentAgain(isPassword: Bool) async throws {
        let server = Recorder { request in
            var response = request.method == .post ? redirect(303, "/page") : HTTPResponse(status: 401)
            if request.method == .get { response.headers[.wwwAuthenticate] = "Basic realm=r" }
            response.url = request.url
            return response
        }
        let authentication: any Interceptor =
            isPassword
            ? .basicAuth(username: "a", password: "b", origins: [apiOrigin])
            : .retryOnUnauthorized(origins: [apiOrigin]) { Issue.record("There is nothing to log in for.") }
        let chain = InterceptorChain([authentication, .followRedirects()], transport: server)
        #expect(try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "order")).status == 401)
        #expect(server.requests.map(\.method) == [.post, .get])
    }

    @Test func validateStatusOutsideSeesTheFinalStatusAlone() async throws {
        let site = site(["https://h/a": (302, "/b")])
        let chain = InterceptorChain([.validateStatus(), .followRedirects()], transport: site)
        #expect(try await chain.send(HTTPRequest(url: url("https://h/a"))).status == 200)
    }

    /// RFC 9110 §15.4: nobody reads the content of a redirect that is followed.
    private static func redirectWithTooMuchContent() throws -> MockServer {
        let server = try MockServer()
        server.on(.get, "/a", .status(302, headers: [.location: "/b"], body: "more than ten bytes"))
        server.on(.get, "/b", .status(200, body: "followed"))
        return server
    }

    private static func request(_ server: MockServer) -> HTTPRequest {
        var request = HTTPRequest(url: server.url.appending(path: "a"))
        request.context.responseBody = .buffered(upTo: 10)
        return request
    }

    @Test func redirectWhoseContentIsTooLongIsFollowed() async throws {
        let server = try Self.redirectWithTooMuchContent()
        let response = try await Client(baseURL: server.url).send(Self.request(server))
        #expect(response.body.data == Data("followed".utf8))
        // A request that a policy creates also follows redirects.
        server.on(.get, "/c", .status(302, headers: [.location: "/a"]))
        let policy: @Sendable (HTTPRequest, HTTPResponse) async throws -> HTTPRequest? = { following, _ in
            var request = HTTPRequest(url: following.url)
            request.context.responseBody = following.context.responseBody
            return request
        }
        var request = Self.request(server)
        request.url = server.url.appending(path: "c")
        let chain = InterceptorChain([.followRedirects(policy: policy)], transport: .platform())
        #expect(try await chain.send(request).body.data == Data("followed".utf8))
    }

    @Test func readingTheContentOfARedirectThatIsNotFollowedThrowsItsFault() async throws {
        let server = try Self.redirectWithTooMuchContent()
        let stopping = AnyInterceptor.followRedirects { _, _ in nil }
        let response = try await InterceptorChain([stopping], transport: .platform()).send(Self.request(server))
        #expect(response.status == 302)
        let reading = await #expect(throws: TransportError.self) { try await response.body.collect(upTo: 100) }
        #expect(reading?.code == .bodyTooLarge)
        let judged = InterceptorChain([.validateStatus(), stopping], transport: .platform())
        let error = await #expect(throws: StatusError.self) { try await judged.send(Self.request(server)) }
        #expect(error?.status == 302)
        #expect(error?.isBodyComplete == false)
        let limited = InterceptorChain([.followRedirects(limit: 0)], transport: .platform())
        let limit = await #expect(throws: RedirectError.self) { try await limited.send(Self.request(server)) }
        #expect(limit?.code == .tooManyRedirects)
    }

    @Test func overRealSocketsPostBecomesGetWithoutContentAndSecretsStayAtTheirPort() async throws {
        let first = try MockServer()
        let second = try MockServer()
        defer {
            first.stop()
            second.stop()
        }
        let target = second.url.appending(path: "b").absoluteString
        first.on(.post, "/a") { _ in StubAnswer.status(303, headers: [.location: target], body: "moved") }
        second.on(nil, "/b") { request in StubAnswer.status(200, headers: [:], body: "\(request.method)") }
        let client = Client(baseURL: first.url)
        let request = HTTPRequest(
            method: .post,
            url: first.url.appending(path: "a"),
            headers: [.authorization: "Bearer hunter2", .contentType: "text/plain"],
            body: "content"
        )
        let response = try await client.send(request)
        #expect(response.body.data == Data("GET".utf8))
        #expect(response.url?.absoluteString == target)
        let received = try #require(second.requests.first)
        #expect(received.body.isEmpty)
        #expect(!received.headers.contains(.authorization))
        #expect(!received.headers.contains(.contentType))
    }

    @Test func errorListsTheRedirectsOfTwoInterceptorsInTheirOrder() async throws {
        let stub = StubTransport { request in
            switch request.url.path {
            case "/1": return HTTPResponse(status: 302, headers: [.location: "/2"])
            case "/2": return HTTPResponse(status: 302, headers: [.location: "/3"])
            default: throw TransportError(.connectionLost, "The server has gone.", request: request)
            }
        }
        let inner: AnyInterceptor = .followRedirects { $1.url?.path == "/1" ? nil : $0 }
        let chain = InterceptorChain([.followRedirects(), inner], transport: stub)
        let request = HTTPRequest(url: try url("https://h/1"))
        let error = await #expect(throws: TransportError.self) { try await chain.send(request) }
        #expect(error?.context.redirects.map(\.target.path) == ["/2", "/3"])
    }
}
