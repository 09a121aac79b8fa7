import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// A proxy's 407 is answered like a server's 401.
@Suite(.againstHanging) struct ProxyAuthTests {
    private static let proxy = Origin(URL(string: "http://proxy.example:3128")!)!
    private let target = URL(string: "http://elsewhere.example:8080/path?x=1")!
    private let asked = Shared<[String]>([])

    private func auth(
        _ schemes: Set<PasswordScheme> = [.digest],
        password: String = "p"
    ) -> AnyInterceptor {
        .passwordAuth(proxy: Self.proxy, schemes: schemes, time: TimeSource(random: .seeded(1))) {
            [asked] realm, origin in
            asked.change { $0.append("\(realm) \(origin)") }
            return PasswordCredential(username: "u", password: password)
        }
    }

    private static let challenge = "Digest realm=\"r\", qop=\"auth\", algorithm=SHA-256, nonce=\"n\""

    /// Whether a digest answers the challenge.
    private static func isRight(_ field: String?, _ method: String, _ target: String) throws -> Bool {
        guard let field, field.hasPrefix("Digest ") else { return false }
        let given = Challenge.parameters(in: String(field.dropFirst(7)))
        let check = DigestCheck(user: "u", realm: "r", password: "p", algorithm: "SHA-256")
        return try given["nonce"] == "n" && given["qop"] == "auth" && check.accepts(given, method, target)
    }

    private func server(_ challenge: String = challenge) -> Recorder {
        Recorder { request in
            if try Self.isRight(request.headerFields[.proxyAuthorization], "GET", request.url.absoluteString) {
                return HTTPResponse(status: 200, url: request.url)
            }
            return HTTPResponse(status: 407, headerFields: [.proxyAuthenticate: challenge], url: request.url)
        }
    }

    @Test func aDigestOfTheWholeURLAnswersTheProxy() async throws {
        let server = server()
        let chain = InterceptorChain([auth()], transport: server)
        for _ in 0..<2 { #expect(try await chain.get(target) == 200) }
        #expect(server.requests.map { $0.headerFields.contains(.proxyAuthorization) } == [false, true, true])
        #expect(server.requests.allSatisfy { !$0.headerFields.contains(.authorization) })
        #expect(asked.value == ["r http://proxy.example:3128"])
    }

    @Test func oneProxyIsRememberedForAllServers() async throws {
        let server = server()
        let chain = InterceptorChain([auth()], transport: server)
        #expect(try await chain.get(target) == 200)
        #expect(try await chain.get(try url("http://another.example/")) == 200)
        #expect(server.requests.count == 3)
    }

    @Test func aRequestThatGoesThroughATunnelShowsTheServerNothing() async throws {
        let server = server()
        let chain = InterceptorChain([auth()], transport: server)
        #expect(try await chain.get(target) == 200)
        #expect(try await chain.get(try url("https://elsewhere.example/")) == 407)
        #expect(server.requests.last?.headerFields.contains(.proxyAuthorization) == false)
        #expect(asked.value.count == 1)
    }

    @Test func aServerIsNotAnsweredAndBasicOnlyWhereItIsAllowed() async throws {
        let server = Recorder { request in
            let status: HTTPResponse.Status = request.url.path() == "/server" ? 401 : 407
            if request.headerFields[.proxyAuthorization] == "Basic dTpw" {
                return HTTPResponse(status: 200, url: request.url)
            }
            let fields: HTTPFields = [.proxyAuthenticate: "Basic realm=\"r\"", .wwwAuthenticate: Self.challenge]
            return HTTPResponse(status: status, headerFields: fields, url: request.url)
        }
        let digest = InterceptorChain([auth()], transport: server)
        #expect(try await digest.get(target) == 407)
        #expect(try await digest.get(try url("http://elsewhere.example/server")) == 401)
        #expect(asked.value.isEmpty)
        #expect(try await InterceptorChain([auth([.basic])], transport: server).get(target) == 200)
    }

    @Test func aWrongPasswordIsSentOnce() async throws {
        let server = server()
        let chain = InterceptorChain([auth(password: "wrong")], transport: server)
        for _ in 0..<2 { #expect(try await chain.get(target) == 407) }
        #expect(server.requests.filter { $0.headerFields.contains(.proxyAuthorization) }.count == 1)
    }

    @Test func aServersFailureProvesTheProxysPassword() async throws {
        let server = Recorder { request in
            let isRight = try Self.isRight(request.headerFields[.proxyAuthorization], "GET", request.url.absoluteString)
            guard isRight, request.url.path() != "/refusing" else {
                return HTTPResponse(status: 407, headerFields: [.proxyAuthenticate: Self.challenge], url: request.url)
            }
            return HTTPResponse(status: 500, url: request.url)
        }
        let chain = InterceptorChain([auth()], transport: server)
        #expect(try await chain.get(target) == 500)
        #expect(try await chain.get(try url("http://elsewhere.example/refusing")) == 407)
        #expect(try await chain.get(target) == 500)
    }

    @Test func aDigestForTheProxyIsOfTheURLWhateverTheHostField() async throws {
        let chain = InterceptorChain([auth()], transport: server())
        let request = HTTPRequest(url: target, headerFields: [.host: "other.example"])
        #expect(try await chain.send(request).status == 200)
    }

    @Test func aLogInGoesByTheProxyToo() async throws {
        let chain = InterceptorChain([auth()], transport: server())
        var request = HTTPRequest(url: target)
        request.context.authorization = .omitted
        #expect(try await chain.send(request).status == 200)
    }

    @Test func serverAndProxyAreAnsweredInOneChain() async throws {
        let server = Recorder { request in
            guard try Self.isRight(request.headerFields[.proxyAuthorization], "GET", request.url.absoluteString) else {
                return HTTPResponse(status: 407, headerFields: [.proxyAuthenticate: Self.challenge], url: request.url)
            }
            guard try Self.isRight(request.headerFields[.authorization], "GET", "/path?x=1") else {
                return HTTPResponse(status: 401, headerFields: [.wwwAuthenticate: Self.challenge], url: request.url)
            }
            return HTTPResponse(status: 200, url: request.url)
        }
        let own = AnyInterceptor.digestAuth(username: "u", password: "p", origins: [Origin(target)!])
        #expect(try await InterceptorChain([own, auth()], transport: server).get(target) == 200)
    }

    // Such a 407 comes from the origin, inside the tunnel: the proxy's own would have refused the tunnel.
    @Test func a407OverHTTPSNeitherGetsNorRejectsThePassword() async throws {
        let server = server()
        let chain = InterceptorChain([auth()], transport: server)
        #expect(try await chain.get(try url("https://elsewhere.example/")) == 407)
        #expect(server.requests.map { $0.headerFields.contains(.proxyAuthorization) } == [false])
        #expect(asked.value.isEmpty)
        #expect(try await chain.get(target) == 200)
    }

    @Test func aResponseOverHTTPSAfterAnInnerRedirectNeitherProvesNorRenewsTheAnswer() async throws {
        let secure = try url("https://elsewhere.example/")
        let server = Recorder { request in
            let field = request.headerFields[.proxyAuthorization] ?? ""
            guard field.hasPrefix("Digest ") else {
                return HTTPResponse(status: 407, headerFields: [.proxyAuthenticate: Self.challenge], url: request.url)
            }
            let fields: HTTPFields = [
                "Proxy-Authentication-Info": "nextnonce=\"origin\"", .proxyAuthenticate: Self.challenge,
            ]
            return HTTPResponse(status: 407, headerFields: fields, url: secure)
        }
        let chain = InterceptorChain([auth()], transport: server)
        for _ in 0..<2 { #expect(try await chain.get(target) == 407) }
        let answers = server.requests.compactMap { $0.headerFields[.proxyAuthorization] }
        #expect(answers.count == 2 && answers.allSatisfy { $0.contains("nonce=\"n\"") })
    }

    @Test func aCacheOutsideOrInsideNeedsNoPartition() async throws {
        for isOutside in [true, false] {
            let server = Recorder { request in
                let field = request.headerFields[.proxyAuthorization]
                guard try Self.isRight(field, "GET", request.url.absoluteString) else {
                    let fields: HTTPFields = [.proxyAuthenticate: Self.challenge, .cacheControl: "max-age=60"]
                    return HTTPResponse(status: 407, headerFields: fields, url: request.url)
                }
                return HTTPResponse(status: 200, headerFields: [.cacheControl: "max-age=60"], url: request.url)
            }
            let auth: [any Interceptor] = [auth()]
            let cache: [any Interceptor] = [.cache(.memory())]
            let chain = InterceptorChain(isOutside ? cache + auth : auth + cache, transport: server)
            for _ in 0..<3 { #expect(try await chain.get(target) == 200) }
            #expect(server.requests.count == 2)
        }
    }

    @Test func coalesceOutsideNeedsNoPartition() async throws {
        let chain = InterceptorChain([.coalesce(), auth()], transport: server())
        #expect(try await chain.get(target) == 200)
    }

    #if os(Linux)
    @Test func overARealProxy() async throws {
        let proxy = try MockServer()
        defer { proxy.stop() }
        proxy.on(nil, "/**") { request in
            let isRight = try? Self.isRight(request.headerFields[.proxyAuthorization], "GET", request.target)
            if isRight == true { return MockResponse.status(200, body: "by proxy") }
            return MockResponse.status(407, headers: [.proxyAuthenticate: Self.challenge])
        }
        var configuration = CurlTransport.Configuration()
        configuration.proxy = .url(try #require(URL(string: "http://127.0.0.1:\(proxy.port)")))
        let chain = InterceptorChain([auth()], transport: CurlTransport(configuration))
        let response = try await chain.send(HTTPRequest(url: try url("http://elsewhere.invalid/path?x=1")))
        #expect(try await response.body.collect(upTo: 100) == Data("by proxy".utf8))
        #expect(proxy.requests.map(\.target) == Array(repeating: "http://elsewhere.invalid/path?x=1", count: 2))
    }
    #endif
}
