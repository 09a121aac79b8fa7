import Foundation
import Interceptors
import InterceptorsInsight
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

// The code of the README and of the articles, unchanged: it must compile, and it works.
@Suite(.againstHanging, .checksArchive) struct ReadmeTests {
    struct User: Codable, Sendable { let id: Int, name: String }

    struct German: Interceptor {
        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            request.headers[.acceptLanguage] = "de"
            return try await next(request)
        }
    }

    func makeAPI(_ tokens: TokenStore, transport: any Transport = .platform()) -> Client {
        Client(
            baseURL: URL(string: "https://api.example.com"),
            interceptors: .standard(tokens),
            transport: transport,
            observer: ArchiveTrait.journal
        )
    }

    @Test func readmeChainSignsInRefreshesAndCaches() async throws {
        struct Session: Codable, Sendable { let token: String, refreshToken: String }
        let (name, password) = ("ada", "sesame")
        let stub = StubTransport()
        stub.on(.post, "/login", .json(#"{"token":"old","refreshToken":"a"}"#))
        stub.on(.post, "/refresh", .json(#"{"token":"new","refreshToken":"b"}"#))
        stub.on(.get, "/users/42") { request in
            guard request.headers[.authorization] == "Bearer new" else { return .status(401) }
            return .json(#"{"id":42,"name":"Ada"}"#, headers: [.cacheControl: "max-age=60"])
        }

        let tokens = TokenStore { expired, api in
            let session: Session = try await api.post("/refresh", body: ["token": expired?.refreshToken])
            return TokenStore.Token(session.token, refreshToken: session.refreshToken)
        }
        let api = makeAPI(tokens, transport: stub)
        let login = ["name": name, "password": password]
        let session: Session = try await api.post("/login", body: login, context: .with(\.authorization, .omitted))
        tokens.signIn(TokenStore.Token(session.token, refreshToken: session.refreshToken))
        for _ in 0..<2 {
            let user: User = try await api.get("/users/42")
            #expect(user.name == "Ada")
        }

        #expect(stub.requests.map(\.url.path) == ["/login", "/users/42", "/refresh", "/users/42"])
        #expect(stub.requests[2].body.data.map { String(decoding: $0, as: UTF8.self) } == #"{"token":"a"}"#)
    }

    @Test func refreshesAnExpiredToken() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(401), .json(#"{"id":42,"name":"Ada"}"#))
        let tokens = TokenStore(TokenStore.Token("old")) { _ in TokenStore.Token("new") }

        let api = makeAPI(tokens, transport: stub)
        let user: User = try await api.get("/users/42")
        #expect(user.name == "Ada")
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(api.chain.findings.isEmpty)
        try stub.verify()
    }

    @Test func theChainOfTenWorks() async throws {
        let signIn = SignIn()
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let cachesDirectory = folder.file("caches")
        let stub = StubTransport()
        let fields: HTTPFields = [.cacheControl: "max-age=60"]
        stub.enqueue(.status(200, headers: fields, body: #"{"code":1005,"message":"No such user"}"#))
        stub.enqueue(.status(200, headers: fields, body: #"{"code":200,"object":{"id":42,"name":"Ada"}}"#))

        let tokens = TokenStore { rejected in
            try await signIn.refresh(rejected)
        }

        let api = Client(
            baseURL: URL(string: "https://api.example.com/v1")!,
            interceptors: [
                .unwrapEnvelope(payload: "object"),
                .validateStatus(),
                .headers([.accept: "application/json"]),
                .transactionID(),
                .followRedirects(),
                .retryOnUnauthorized(tokens),
                .bearerAuth(tokens),
                .cache(.disk(at: cachesDirectory)),
                .retry(maxAttempts: 3),
                .logging(.headers, to: LogSink { _ in }),
            ],
            transport: stub
        )

        await #expect(throws: EnvelopeError.self) { let _: User = try await api.get("/users/42") }
        // The cache doesn't store the failure, in spite of its max-age, but stores the success.
        for _ in 0..<2 {
            let user: User = try await api.get("/users/42")
            #expect(user.id == 42)
        }
        #expect(stub.requests.count == 2)
        #expect(stub.requests.first?.url.absoluteString == "https://api.example.com/v1/users/42")
    }

    @Test func exampleOfAManualClockWorks() async throws {
        let url = URL(string: "https://api.example.com")
        let stub = StubTransport()
        stub.enqueue(.status(503), .status(503), .json(#"{"id":42,"name":"Ada"}"#))

        let clock = ManualClock()
        let client = Client(baseURL: url, interceptors: [.retry(time: .manual(clock))], transport: stub)
        let user: User = try await clock.run { try await client.get("/users/42") }

        #expect(user.id == 42)
        #expect(clock.now.elapsed > .zero)
        try stub.verify()
    }

    @Test func theExampleOfFilesWorks() async throws {
        let folder = try TemporaryFolder()
        let (title, photo) = ("Sunset", try folder.write(Data("jpeg".utf8)))
        let file = folder.file("film.mp4")
        let stub = StubTransport()
        stub.enqueue(.status(204), .json("[]"))
        let api = Client(baseURL: URL(string: "https://api.example.com"), transport: stub)

        try await api.post(
            "/photos",
            body: .multipart([
                .text(name: "title", title),
                .file(name: "photo", at: photo, contentType: "image/jpeg"),
            ])
        )

        try await api.download("/film.mp4", to: file)

        #expect(stub.requests.first?.body.data?.isEmpty == false)
        #expect(try Data(contentsOf: file) == Data("[]".utf8))
    }

    @Test func theInterceptorOfTheReadmeWorks() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(200))
        let chain = InterceptorChain([German()], transport: stub)
        _ = try await chain.send(HTTPRequest(url: try #require(URL(string: "https://example.com"))))
        #expect(stub.requests.first?.headers[.acceptLanguage] == "de")
    }

    #if os(Linux)
    @Test func theTLSExampleWorks() throws {
        let archive = try TestAuthority().issue(client: "Ada").pkcs12(password: "sesame")
        let password = "sesame"
        let folder = try TemporaryFolder()
        let cachesDirectory = folder.url
        let builtInKey = """
            -----BEGIN PUBLIC KEY-----
            MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=
            -----END PUBLIC KEY-----
            """

        var tls = TLSConfiguration.pinned([
            "api.example.com": [
                "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                "sha256/x4QzPSC810K5/cMjb05Qm4k3Bw5zBn4lTdO/nEW/Td4=",
            ]
        ])
        tls.identity = try ClientIdentity(pkcs12: archive, password: password)
        tls.signedPins = try SignedPins(
            url: URL(string: "https://static.example.com/pins.json")!,
            keys: [builtInKey],
            cacheFile: cachesDirectory.appending(path: "pins.json"),
            transport: .platform()
        )
        let client = Client(baseURL: URL(string: "https://api.example.com"), transport: .platform(tls: tls))
        #expect(client.baseURL?.host() == "api.example.com")
        #expect(tls.pins.values.first?.count == 2)
    }

    /// The example for authors of transports in Middlewares.docc/Testing.md and in the documentation of ``TransportConformance``.
    @Test(.againstHanging, arguments: TransportConformance.rules)
    func keepsThePromisesOfATransport(rule: TransportConformance.Rule) async throws {
        try await rule.check { time in MyTransport(time: time) }
    }

    struct MyTransport: Transport {
        private let base: CurlTransport

        init(time: TimeSource) {
            base = CurlTransport(time: time)
        }

        func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse { try await base.send(request) }
    }
    #endif

    private struct SignIn {
        func refresh(_ rejected: TokenStore.Token?) async throws -> TokenStore.Token { TokenStore.Token("fresh") }
    }
}
