import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Testing

@testable import InterceptorsMiddlewares

/// Streamed one-shot bodies with each interceptor that may send again, and redirects with each that holds secrets.
@Suite(.againstHanging)
struct BodiesAndOriginsTests {
    private static let origins: Set<Origin> = [apiOrigin]

    /// Interceptors that may send again, each with an answer that causes it.
    static let resending: [(name: String, interceptors: [any Interceptor], answer: HTTPResponse)] = {
        let tokens = TokenStore(.old, origins: origins) { _ in .new }
        return [
            ("retry", [.retry(.constant(.zero))], HTTPResponse(status: 503)),
            ("followRedirects", [.followRedirects()], redirect(307, "/b")),
            (
                "retryOnUnauthorized", [.retryOnUnauthorized(tokens), .bearerAuth(tokens)],
                HTTPResponse(status: 401)
            ),
            (
                "basicAuth", [.basicAuth(username: "ada", password: "x", origins: origins)],
                HTTPResponse(status: 401, headers: [.wwwAuthenticate: #"Basic realm="r""#])
            ),
            (
                "all of them", [.followRedirects(), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry()],
                HTTPResponse(status: 503, headers: [.retryAfter: "0"])
            ),
        ]
    }()

    @Test(arguments: 0..<5)
    func oneShotBodyIsReadOnceAndSentOnceByWhoeverWouldSendAgain(index: Int) async throws {
        let (name, interceptors, answer) = Self.resending[index]
        let transport = Recorder { request in
            let body = try await request.body.collect(upTo: 100)
            #expect(body == Data("once".utf8), "\(name)")
            return answer
        }
        let request = HTTPRequest(method: .put, url: apiURL, body: .oneShot(Chunks(["on", "ce"])))
        let chain = InterceptorChain(interceptors, transport: transport)
        do {
            // Either the answer is returned, or an error says why the request can't be sent again.
            #expect(try await chain.send(request).status == answer.status, "\(name)")
        } catch let error as TransportError {
            #expect(error.code == .bodyNotReplayable, "\(name)")
        }
        #expect(transport.requests.count == 1, "\(name)")
    }

    @Test func oneShotBodyComesWholeThroughThoseWhoSendOnce() async throws {
        let clock = ManualClock()
        let tokens = TokenStore(.new, origins: Self.origins) { _ in .new }
        let transport = Recorder { request in
            let body = try await request.body.collect(upTo: 100)
            #expect(body == Data("once".utf8))
            return HTTPResponse(status: 200)
        }
        let chain = InterceptorChain(
            [
                .cancelPrevious(), .validateStatus(), .transactionID(), .tracing(),
                .timeout(.seconds(1), time: .manual(clock)),
                .followRedirects(),
                .retryOnUnauthorized(tokens), .bearerAuth(tokens),
                .digestAuth(username: "ada", password: "x", origins: Self.origins), .cookies(), .coalesce(),
                .cache(.memory(), time: .manual(clock)), .retry(time: .manual(clock)),
                .hedge(after: .zero, time: .manual(clock)),
                .rateLimit(1, per: .seconds(1), time: .manual(clock)), .limitConcurrency(1),
                .circuitBreaker(time: .manual(clock)),
                .sign(origins: Self.origins) { request, _ in request.headers["Signature"] = "s" },
                .metrics(time: .manual(clock)) { _ in }, .logging(.body, to: LogSink { _ in }),
            ],
            transport: transport
        )
        let request = HTTPRequest(method: .put, url: apiURL, body: .oneShot(Chunks(["on", "ce"])))
        #expect(try await chain.send(request).status == 200)
        #expect(transport.requests.count == 1)
    }

    @Test func tokenCookiesAndSignatureStayWithTheirOriginsOverRedirects() async throws {
        let hops = [
            "https://api.example.com/1": "https://evil.example/2",
            "https://evil.example/2": "https://api.example.com/3",
            "https://api.example.com/3": "http://api.example.com/4",
        ]
        let transport = Recorder { request in
            let host = try #require(request.url.host())
            var response = hops[request.url.absoluteString].map { redirect(307, $0) } ?? HTTPResponse(status: 200)
            response.headers.append(.setCookie, "sid=\(host); Path=/; Secure")
            response.url = request.url
            return response
        }
        let tokens = TokenStore(.new, origins: Self.origins) { _ in .new }
        let chain = InterceptorChain(
            [
                .followRedirects(allowsDowngrade: true), .retryOnUnauthorized(tokens), .bearerAuth(tokens), .cookies(),
                .sign(origins: Self.origins) { request, _ in request.headers["Signature"] = "signed" },
            ],
            transport: transport
        )
        let request = HTTPRequest(method: .post, url: try url("https://api.example.com/1"), body: "x")
        #expect(try await chain.send(request).status == 200)
        let sent = transport.requests
        #expect(sent.map { $0.headers[.authorization] } == ["Bearer new", nil, "Bearer new", nil])
        #expect(sent.map { $0.headers["Signature"] } == ["signed", nil, "signed", nil])
        #expect(sent.map { $0.headers[.cookie] } == [nil, nil, "sid=api.example.com", nil])
    }
}
