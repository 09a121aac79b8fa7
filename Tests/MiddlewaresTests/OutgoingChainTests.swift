import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

/// Signatures and credentials, checked against the request that a server receives.
@Suite(.againstHanging)
struct OutgoingChainTests {
    private static let home = URL(string: "https://api.example.com/a?b=c")!
    private static let origin = Origin(home)!
    private static let key = SigningKey("k3y")
    private static let credentials = AWSCredentials(
        accessKeyID: "AKID",
        secretAccessKey: "s3cr3t",
        sessionToken: "t0ken"
    )

    /// One interceptor of each kind, bound to an origin where possible.
    private static func interceptors(_ origin: Origin) -> [(name: String, interceptor: any Interceptor)] {
        [
            (
                "HTTP message signature",
                .sign(.hmacSHA256(key, covering: ["@method", "@target-uri"]), origins: [origin])
            ),
            (
                "AWS",
                .sign(
                    .awsV4(region: "r", service: "s3", signsBody: false) { credentials },
                    origins: [origin]
                )
            ),
            ("basic", .basicAuth(username: "u", password: "p", origins: [origin], atOnce: true)),
            ("digest", .digestAuth(username: "u", password: "p", origins: [origin])),
            ("cookies", .cookies(CookieJar([Cookie(name: "sid", value: "s3cr3t", domain: "api.example.com")]))),
            ("tracing", .tracing()), ("metrics", .metrics { _ in }),
            ("compressRequest", .compressRequest { _ in false }),
        ]
    }

    @Test(arguments: 0..<8) func oneShotBodyPassesWholeAndIsNeverReadTwice(index: Int) async throws {
        let (name, interceptor) = Self.interceptors(Self.origin)[index]
        let received = Shared<[Data]>([])
        let recorder = Recorder { request in
            let body = try await request.body.collect(upTo: 100)
            received.change { $0.append(body) }
            return HTTPResponse(status: 200)
        }
        let body = HTTPBody.oneShot(Chunks(["one ", "shot"]))
        let request = HTTPRequest(method: .put, url: Self.home, body: body)
        _ = try await InterceptorChain([interceptor], transport: recorder).send(request)
        #expect(received.value == [Data("one shot".utf8)], "\(name)")
        let chain = InterceptorChain([interceptor], transport: recorder)
        let error = await #expect(throws: TransportError.self) { try await chain.send(request) }
        #expect(error?.code == .bodyNotReplayable, "\(name)")
    }

    @Test func redirectToAnotherOriginTakesNoSecretAlong() async throws {
        let elsewhere = try url("https://evil.example/a?b=c")
        for (name, interceptor) in Self.interceptors(Self.origin) {
            let recorder = Recorder { request in
                if request.url == Self.home {
                    let location: HTTPFields = [.location: elsewhere.absoluteString]
                    return HTTPResponse(status: 302, headers: location, url: request.url)
                }
                return HTTPResponse(
                    status: 401,
                    headers: [.wwwAuthenticate: "Digest realm=r, nonce=n, qop=auth"],
                    url: request.url
                )
            }
            let chain = InterceptorChain([.followRedirects(), interceptor], transport: recorder)
            _ = try await chain.send(HTTPRequest(url: Self.home))
            let last = try #require(recorder.requests.last)
            #expect(last.url == elsewhere, "\(name)")
            var fields = last.headers
            fields.remove(.traceparent)
            #expect(fields.isEmpty, "\(name)")
        }
    }

    @Test func eachAttemptIsSignedAnewOverWhatItSends() async throws {
        let times = Tally()
        let recorder = Recorder { request in
            let body = try await request.body.collect(upTo: 1 << 20)
            let digest = try MessageDigest.of(body)
            #expect(request.headers["Content-Digest"] == "sha-256=:\(Data(digest).base64EncodedString()):")
            return HTTPResponse(status: 503, headers: [.setCookie: "a=1"], url: request.url)
        }
        let sign = AnyInterceptor.sign(
            .hmacSHA256(Self.key, covering: ["@method", "cookie", "content-encoding", "content-digest"]),
            origins: [Self.origin],
            time: TimeSource(now: { Date(timeIntervalSince1970: Double(times.count())) })
        )
        let chain = InterceptorChain(
            [
                sendTwice, .cookies(CookieJar([Cookie(name: "b", value: "2", domain: "api.example.com")])),
                .compressRequest(), sign,
            ],
            transport: recorder
        )
        let text = String(repeating: "text ", count: 1_000)
        let body = HTTPBody.restartable { Chunks([text]) }
        _ = try await chain.send(HTTPRequest(method: .post, url: Self.home, body: body))
        let inputs = recorder.requests.compactMap { $0.headers["Signature-Input"] }
        #expect(inputs.map { $0.contains("created=1") } == [true, false])
        #expect(recorder.requests.map { $0.headers[.cookie] } == ["b=2", "b=2; a=1"])
        #expect(Set(recorder.requests.compactMap { $0.headers["Signature"] }).count == 2)
    }

    // MARK: Over real sockets

    private static let targets = [
        "/", "/a%20b/c?d=e%20f&g", "/%E1%88%B4?x=1+2&%E1%88%B4=y", "/a//b/?", "/~u/;p=1?q=/?@:",
    ]

    private static func transports() -> [any Transport] { [.platform(), URLSessionTransport()] }

    /// The last request as the server received it.
    private func received(_ server: MockServer) throws -> HTTPRequest {
        let request = try #require(server.requests.last)
        let host = try #require(request.headers[.host])
        return HTTPRequest(
            method: request.method,
            url: try url("http://\(host)\(request.target)"),
            headers: request.headers,
            body: HTTPBody(request.body)
        )
    }

    @Test(arguments: targets) func messageSignatureHoldsForWhatAServerGets(target: String) async throws {
        for transport in Self.transports() {
            let server = try MockServer()
            defer { server.stop() }
            server.on(nil, "/**") { _ in StubAnswer.status(204) }
            let origin = try #require(Origin(server.url))
            let sign = AnyInterceptor.sign(.hmacSHA256(Self.key), origins: [origin])
            let request = HTTPRequest(
                method: .post,
                url: try url(server.url.absoluteString + target),
                headers: [.contentType: "text/plain"],
                body: "content"
            )
            #expect(try await InterceptorChain([sign], transport: transport).send(request).status == 204)
            let got = try received(server)
            let parameters = try #require(got.headers["Signature-Input"]).dropFirst("sig1=".count)
            let covered = ["@method", "@target-uri", "content-type", "content-digest"]
            let base = try HTTPMessageSignature.base(covered, String(parameters), of: got)
            let code = try Self.key.hmacSHA256(base).base64EncodedString()
            #expect(got.headers["Signature"] == "sig1=:\(code):")
        }
    }

    @Test(arguments: targets, ["s3", "execute-api"])
    func awsSignatureHoldsForWhatAServerGets(target: String, service: String) async throws {
        for transport in Self.transports() {
            let server = try MockServer()
            defer { server.stop() }
            server.on(nil, "/**") { _ in StubAnswer.status(204) }
            let origin = try #require(Origin(server.url))
            let signer: RequestSigner = .awsV4(region: "r", service: service) { Self.credentials }
            let date = Date(timeIntervalSince1970: 1_440_938_160)
            let sign = AnyInterceptor.sign(signer, origins: [origin], time: TimeSource(now: { date }))
            let request = HTTPRequest(
                method: .put,
                url: try url(server.url.absoluteString + target),
                headers: [.contentType: "text/plain", "X-Amz-Meta": "a   b"],
                body: "content"
            )
            #expect(try await InterceptorChain([sign], transport: transport).send(request).status == 204)
            var got = try received(server)
            let sent = try #require(got.headers[.authorization])
            let names = try #require(sent.firstMatch(of: /SignedHeaders=([^,]+)/)).1.split(separator: ";").map(
                String.init
            )
            got.headers.removeAll { !names.contains($0.name.rawName.lowercased()) }
            // Signing the received request again must give the same signature.
            try await signer.sign(&got, at: date)
            #expect(got.headers[.authorization] == sent)
        }
    }

    @Test(arguments: targets) func digestNamesTheTargetThatAServerGets(target: String) async throws {
        for transport in Self.transports() {
            let server = try MockServer()
            defer { server.stop() }
            server.on(nil, "/**") { request in
                guard let field = request.headers[.authorization] else {
                    return StubAnswer.status(401, headers: [.wwwAuthenticate: "Digest realm=r, nonce=n, qop=auth"])
                }
                let parameters = Challenge.parameters(in: String(field.dropFirst("Digest ".count)))
                return StubAnswer.status(parameters["uri"] == request.target ? 200 : 400)
            }
            let auth = AnyInterceptor.digestAuth(
                username: "u",
                password: "p",
                origins: [try #require(Origin(server.url))]
            )
            let request = HTTPRequest(url: try url(server.url.absoluteString + target))
            #expect(try await InterceptorChain([auth], transport: transport).send(request).status == 200)
        }
    }
}
