import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct HTTPAuthInterceptorTests {
    private static let home = URL(string: "https://api.example.com/dir/index.html?a=b")!
    private static let origin = Origin(home)!

    private func digestChain(_ server: some Transport, password: String = "p") -> InterceptorChain {
        let auth = AnyInterceptor.digestAuth(
            username: "u",
            password: password,
            origins: [Self.origin],
            time: TimeSource(random: .seeded(1))
        )
        return InterceptorChain([auth], transport: server)
    }

    private func basicServer(accepting value: String?) -> Recorder {
        Recorder { request in
            if let value, request.headers[.authorization] == value {
                return HTTPResponse(status: 200, url: request.url)
            }
            return HTTPResponse(
                status: 401,
                headers: [.wwwAuthenticate: "Basic realm=\"WallyWorld\", charset=\"UTF-8\""],
                url: request.url
            )
        }
    }

    private func fields(_ requests: [HTTPRequest]) -> [String] {
        requests.map { $0.headers[.authorization] ?? "-" }
    }

    // MARK: Basic

    // RFC 7617 §2, §2.1
    @Test(arguments: [
        ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test", "123£", "Basic dGVzdDoxMjPCow=="),
        ("", "", "Basic Og=="), ("u", "p:q", "Basic dTpwOnE="),
    ])
    func basicIsUTF8(username: String, password: String, value: String) async throws {
        let server = basicServer(accepting: value)
        let auth = AnyInterceptor.basicAuth(username: username, password: password, origins: [Self.origin])
        let chain = InterceptorChain([auth], transport: server)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 200)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 200)
        #expect(fields(server.requests) == ["-", value, value])
    }

    @Test func basicAtOnceIsSentUnaskedUntilItIsRejected() async throws {
        let server = basicServer(accepting: nil)
        let auth = AnyInterceptor.basicAuth(
            username: "a",
            password: "b",
            origins: [Self.origin],
            atOnce: true
        )
        let chain = InterceptorChain([auth], transport: server)
        for _ in 0..<3 { #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 401) }
        #expect(fields(server.requests) == ["Basic YTpi", "-", "-"])
    }

    @Test(arguments: [("a:b", "c"), ("a", "b\n"), ("a\u{0}", "b")])
    func credentialThatBasicCannotSayIsRefused(username: String, password: String) async throws {
        let auth = AnyInterceptor.basicAuth(username: username, password: password, origins: [Self.origin])
        let chain = InterceptorChain([auth], transport: basicServer(accepting: nil))
        let error = await #expect(throws: AuthenticationError.self) {
            try await chain.send(HTTPRequest(url: Self.home))
        }
        #expect(error?.code == .invalidCredential)
    }

    @Test func rejectedCredentialIsNotUsedForTheRealmAgain() async throws {
        let server = basicServer(accepting: nil)
        let auth = AnyInterceptor.basicAuth(username: "a", password: "b", origins: [Self.origin])
        let chain = InterceptorChain([auth], transport: server)
        for _ in 0..<3 { #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 401) }
        #expect(fields(server.requests) == ["-", "Basic YTpi", "-", "-"])
    }

    @Test func anotherCredentialIsTriedAfterARejection() async throws {
        let asked = Tally()
        let server = basicServer(accepting: "Basic YToy")
        let auth = AnyInterceptor.httpAuth(origins: [Self.origin]) { realm, origin in
            #expect(realm == "WallyWorld" && origin == Self.origin)
            return PasswordCredential(username: "a", password: "\(asked.count())")
        }
        let chain = InterceptorChain([auth], transport: server)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 401)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 200)
        #expect(fields(server.requests) == ["-", "Basic YTox", "-", "Basic YToy"])
    }

    @Test(arguments: [200, 204, 302])
    func rejectionOfOneResourceAfterASuccessLeavesTheOthersAlone(code: Int) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        let server = Recorder { request in
            let isAllowed = request.headers.contains(.authorization) && request.url.path() != "/secret"
            return HTTPResponse(
                status: isAllowed ? status : 401,
                headers: isAllowed ? [:] : [.wwwAuthenticate: "Basic realm=x"],
                url: request.url
            )
        }
        let auth = AnyInterceptor.basicAuth(username: "a", password: "b", origins: [Self.origin])
        let chain = InterceptorChain([auth], transport: server)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == status)
        #expect(try await chain.send(HTTPRequest(url: try url("https://api.example.com/secret"))).status == 401)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == status)
        #expect(fields(server.requests) == ["-", "Basic YTpi", "Basic YTpi", "Basic YTpi"])
    }

    // MARK: Digest

    @Test(
        arguments: ["MD5", "MD5-sess", "SHA-256", "SHA-256-sess"],
        ["auth", "auth-int", "auth, auth-int"]
    )
    func challengeIsAnsweredAndThenAnsweredInAdvance(algorithm: String, qop: String) async throws {
        let server = DigestServer(qop: qop, algorithm: algorithm)
        let chain = digestChain(server)
        let request = HTTPRequest(method: .post, url: Self.home, body: "content")
        for _ in 0..<3 { #expect(try await chain.send(request).status == 200) }
        #expect(server.requests.count == 4)
        let counts = server.requests.dropFirst().compactMap { request in
            request.headers[.authorization].flatMap { Challenge.parameters(in: String($0.dropFirst(7)))["nc"] }
        }
        #expect(counts == ["00000001", "00000002", "00000003"])
        #expect(fields(server.requests).last?.contains(qop == "auth-int" ? "qop=auth-int" : "qop=auth,") == true)
    }

    @Test(arguments: [true, false]) func staleNonceIsReplacedWithoutTheCaller(saysStale: Bool) async throws {
        let server = DigestServer(saysStale: saysStale)
        let chain = digestChain(server)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 200)
        server.state.change { $0.nonces.append("nonce-2") }
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 200)
        #expect(server.requests.count == 4)
    }

    @Test func nonceGivenInAdvanceIsUsed() async throws {
        let server = DigestServer()
        server.state.change { $0.nextNonce = "next" }
        let chain = digestChain(server)
        for _ in 0..<2 { #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 200) }
        #expect(server.requests.count == 3)
        #expect(fields(server.requests).last?.contains("nonce=\"next\"") == true)
        #expect(fields(server.requests).last?.contains("nc=00000001") == true)
    }

    @Test func serverThatCallsEveryNonceStaleGetsAnEnd() async throws {
        let tally = Tally()
        let server = Recorder { request in
            HTTPResponse(
                status: 401,
                headers: [
                    .wwwAuthenticate: "Digest realm=r, qop=auth, nonce=n\(tally.count()), stale=true"
                ],
                url: request.url
            )
        }
        #expect(try await digestChain(server).send(HTTPRequest(url: Self.home)).status == 401)
        #expect(server.requests.count == 3)
    }

    @Test func wrongPasswordIsSentOnce() async throws {
        let server = DigestServer()
        let chain = digestChain(server, password: "wrong")
        for _ in 0..<3 { #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 401) }
        #expect(fields(server.requests).count { $0 != "-" } == 1)
    }

    @Test func parallelRequestsNeverUseACountTwice() async throws {
        let server = DigestServer()
        let chain = digestChain(server)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 200)
        try await withThrowingTaskGroup { group in
            for _ in 0..<300 { group.addTask { try await chain.send(HTTPRequest(url: Self.home)).status } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(server.requests.count == 302)
    }

    @Test func strongestSchemeIsAnswered() async throws {
        let server = Recorder { request in
            request.headers.contains(.authorization)
                ? HTTPResponse(status: 200, url: request.url)
                : HTTPResponse(
                    status: 401,
                    headers: [
                        .wwwAuthenticate: "Basic realm=r", .wwwAuthenticate: "Digest realm=r, nonce=n, qop=auth",
                        .wwwAuthenticate: "Digest realm=r, nonce=n, qop=auth, algorithm=SHA-256",
                    ],
                    url: request.url
                )
        }
        let auth = AnyInterceptor.httpAuth(origins: [Self.origin]) { _, _ in
            PasswordCredential(username: "u", password: "p")
        }
        _ = try await InterceptorChain([auth], transport: server).send(HTTPRequest(url: Self.home))
        #expect(fields(server.requests).last?.contains("algorithm=SHA-256") == true)
    }

    @Test func whereDigestIsAllowedBasicIsNotAnsweredInTheClear() async throws {
        let plain = try url("http://api.example.com/")
        let server = basicServer(accepting: nil)
        let auth = AnyInterceptor.httpAuth(origins: [Origin(plain)!]) { _, _ in
            PasswordCredential(username: "u", password: "p")
        }
        #expect(try await InterceptorChain([auth], transport: server).send(HTTPRequest(url: plain)).status == 401)
        #expect(fields(server.requests) == ["-"])
    }

    @Test func rejectedDigestIsNotFollowedByBasicBesideADigestThatIsNotKnown() async throws {
        let tally = Tally()
        let server = Recorder { request in
            let fields: HTTPFields =
                switch tally.count() {
                case 1: [.wwwAuthenticate: "Digest realm=r, nonce=n, qop=auth"]
                case 2: [:]
                default:
                    [
                        .wwwAuthenticate: "Digest realm=r, nonce=m, qop=auth, algorithm=SHA3-256",
                        .wwwAuthenticate: "Basic realm=r",
                    ]
                }
            return HTTPResponse(status: fields.isEmpty ? 200 : 401, headers: fields, url: request.url)
        }
        let auth = AnyInterceptor.httpAuth(origins: [Self.origin]) { _, _ in
            PasswordCredential(username: "u", password: "p")
        }
        let chain = InterceptorChain([auth], transport: server)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 200)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 401)
        #expect(fields(server.requests).map { $0.prefix(6) } == ["-", "Digest", "Digest"])
    }

    // MARK: Bodies

    @Test func oneShotBodyIsNotResentAndTheNextCallCarriesTheAnswer() async throws {
        let server = DigestServer()
        let chain = digestChain(server)
        let body = HTTPBody.oneShot(Chunks(["a", "b"]))
        let error = await #expect(throws: TransportError.self) {
            try await chain.send(HTTPRequest(method: .post, url: Self.home, body: body))
        }
        #expect(error?.code == .bodyNotReplayable)
        #expect(server.requests.count == 1)
        let again = HTTPBody.oneShot(Chunks(["a", "b"]))
        #expect(try await chain.send(HTTPRequest(method: .post, url: Self.home, body: again)).status == 200)
        #expect(server.requests.count == 2)
    }

    @Test func integrityOfAOneShotBodyIsTheCallersChallenge() async throws {
        let server = DigestServer(qop: "auth-int")
        let body = HTTPBody.oneShot(Chunks(["a"]))
        #expect(
            try await digestChain(server).send(HTTPRequest(method: .post, url: Self.home, body: body)).status == 401
        )
        #expect(server.requests.count == 1)
    }

    @Test func rejectedResponsesAreDiscarded() async throws {
        let discards = Tally()
        let server = Recorder { request in
            let isAnswered = request.headers.contains(.authorization)
            return HTTPResponse(
                status: isAnswered ? 200 : 401,
                headers: [.wwwAuthenticate: "Basic realm=r"],
                body: .oneShot(NoChunks(), onDiscard: { discards.count() }),
                url: request.url
            )
        }
        let auth = AnyInterceptor.basicAuth(username: "a", password: "b", origins: [Self.origin])
        let chain = InterceptorChain([auth], transport: server)
        #expect(try await chain.send(HTTPRequest(url: Self.home)).status == 200)
        #expect(discards.value == 1)
        struct Locked: Error {}
        let locked = AnyInterceptor.httpAuth(origins: [Self.origin]) { _, _ in throw Locked() }
        await #expect(throws: Locked.self) {
            try await InterceptorChain([locked], transport: server).send(HTTPRequest(url: Self.home))
        }
        #expect(discards.value == 2)
    }

    // MARK: Origins

    @Test(arguments: ["http://api.example.com/", "https://evil.example/", "https://api.example.com:8443/"])
    func anotherOriginIsNotAnswered(other: String) async throws {
        let server = basicServer(accepting: nil)
        let auth = AnyInterceptor.basicAuth(
            username: "a",
            password: "b",
            origins: [Self.origin],
            atOnce: true
        )
        let chain = InterceptorChain([auth], transport: server)
        #expect(try await chain.send(HTTPRequest(url: try url(other))).status == 401)
        #expect(fields(server.requests) == ["-"])
    }

    @Test func challengeOfAnotherOriginThatARedirectLedToIsNotAnswered() async throws {
        let elsewhere = try url("https://evil.example/")
        let server = Recorder { _ in
            HTTPResponse(status: 401, headers: [.wwwAuthenticate: "Basic realm=r"], url: elsewhere)
        }
        let auth = AnyInterceptor.basicAuth(username: "a", password: "b", origins: [Self.origin])
        #expect(try await InterceptorChain([auth], transport: server).send(HTTPRequest(url: Self.home)).status == 401)
        #expect(fields(server.requests) == ["-"])
    }

    @Test func unknownOriginIsExplainedAndTheClientsIsTheDefault() async throws {
        let server = basicServer(accepting: "Basic YTpi")
        let auth = AnyInterceptor.basicAuth(username: "a", password: "b")
        let error = await #expect(throws: AuthenticationError.self) {
            try await InterceptorChain([auth], transport: server).send(HTTPRequest(url: Self.home))
        }
        #expect(error?.code == .unknownOrigin)
        #expect(server.requests.isEmpty)
        let client = Client(baseURL: Self.home, interceptors: [auth], transport: server)
        #expect(try await client.send(HTTPRequest(url: Self.home)).status == 200)
    }

    @Test func requestWithAnAuthorizationOfItsOwnKeepsIt() async throws {
        let server = basicServer(accepting: nil)
        let auth = AnyInterceptor.basicAuth(username: "a", password: "b", atOnce: true)
        let request = HTTPRequest(url: Self.home, headers: [.authorization: "Bearer x"])
        #expect(try await InterceptorChain([auth], transport: server).send(request).status == 401)
        #expect(fields(server.requests) == ["Bearer x"])
    }

    @Test func secretsAreInNoDescriptionAndNoDump() {
        let credential = PasswordCredential(username: "ada", password: "s3cr3t")
        var dumped = ""
        dump(credential, to: &dumped)
        dump(AnyInterceptor.basicAuth(username: "ada", password: "s3cr3t", atOnce: true), to: &dumped)
        for text in ["\(credential)", String(reflecting: credential), dumped] { #expect(!text.contains("s3cr3t")) }
    }
}
