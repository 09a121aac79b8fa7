import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// The facts that an ``EnvelopeError`` gives outer interceptors about its response.
@Suite(.againstHanging)
struct EnvelopeAnswerTests {
    private let refusal = #"{"code":1005,"message":"No such user"}"#

    private func response(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) -> HTTPResponse {
        HTTPResponse(status: status, headers: fields, body: HTTPBody(refusal), url: apiURL)
    }

    @Test func whoStandsOutsideCanTakeA401HiddenInA200ForOne() async throws {
        let stub = StubTransport()
        stub.enqueue(.json(#"{"code":401,"message":"Expired"}"#), .json(#"{"code":200,"object":7}"#))
        let handler = AnyInterceptor.intercept { request, next in
            do {
                return try await next(request)
            } catch let error as EnvelopeError where error.serverCode == 401 {
                return try await next(request)
            }
        }
        let chain = InterceptorChain([handler, .unwrapEnvelope(payload: "object")], transport: stub)
        let response = try await chain.send(HTTPRequest(url: url("https://api.example.com")))
        #expect(response.body.data == Data("7".utf8))
        try stub.verify()
    }

    @Test func errorHoldsTheHeadOfTheResponse() async throws {
        let chain = InterceptorChain(
            [.unwrapEnvelope(payload: "object")],
            transport: Recorder { _ in response(503, [.retryAfter: "7", "X-Request-ID": "r1"]) }
        )
        let error = await #expect(throws: EnvelopeError.self) { try await chain.get() }
        #expect(error?.status == 503 && error?.response?.status == 503)
        #expect(error?.response?.headers["X-Request-ID"] == "r1")
        #expect(error?.response?.body.data == Data(refusal.utf8) && error?.body == Data(refusal.utf8))
        #expect(error?.response?.url == apiURL)
    }

    @Test(arguments: [false, true]) func attemptsThatWereMadeAreInTheError(
        passesOthers: Bool
    ) async throws {
        let tally = Tally()
        let chain = InterceptorChain(
            [.unwrapEnvelope(payload: "object", passesOthers: passesOthers), .retry(.constant(.zero))],
            transport: Recorder { _ in tally.count() == 1 ? HTTPResponse(status: 503) : response(200) }
        )
        let error = await #expect(throws: EnvelopeError.self) { try await chain.get() }
        #expect(error?.context.attempts.map(\.status) == [503, 200])
    }

    @Test func attemptsAreInTheErrorOfWhatIsNoEnvelope() async throws {
        let tally = Tally()
        let transport = Recorder { _ in
            tally.count() % 2 == 1
                ? HTTPResponse(status: 503)
                : HTTPResponse(status: 200, body: "[]")
        }
        let chain = InterceptorChain(
            [.unwrapEnvelope(payload: "object"), .retry(.constant(.zero))],
            transport: transport
        )
        let error = await #expect(throws: EnvelopeError.self) { try await chain.get() }
        #expect(error?.context.attempts.count == 2)
    }

    @Test func statusOfAnEnvelopeOfFailureIsTriedAgainAndItsRetryAfterIsWaitedFor() async throws {
        let (clock, tally) = (ManualClock(), Tally())
        let chain = InterceptorChain(
            [.retry(.constant(.zero), time: .manual(clock)), .unwrapEnvelope(payload: "object")],
            transport: Recorder { _ in
                tally.count() == 1 ? response(429, [.retryAfter: "7"]) : HTTPResponse(status: 204)
            }
        )
        // A POST isn't idempotent, but a 429 says that the server did nothing.
        let task = Task { try await chain.send(HTTPRequest(method: .post, url: apiURL)) }
        await clock.sleepers(1)
        clock.advance(by: .seconds(7))
        let answer = try await task.value
        #expect(answer.status == 204)
        #expect(
            answer.context.attempts.map(\.description) == [
                "attempt 1: EnvelopeError.envelopeFailure (429 Too Many Requests), next after 7.0 seconds",
                "attempt 2: 204 No Content",
            ]
        )
    }

    @Test func statusOfAnEnvelopeOfFailureRefreshesTheToken() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain(
            [
                .retryOnUnauthorized(tokens, when: .status(401, 419)), .unwrapEnvelope(payload: "object"),
                .bearerAuth(tokens),
            ],
            transport: Recorder { request in
                request.headers[.authorization] == "Bearer new" ? HTTPResponse(status: 204) : response(419)
            }
        )
        #expect(try await chain.get() == 204)
    }

    @Test func envelopeAfterARedirectThatChangedTheMethodSendsNothingAgain() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let server = Recorder { request in
            request.method == .post
                ? HTTPResponse(status: 303, headers: [.location: "/result"], url: request.url) : response(200)
        }
        let chain = InterceptorChain(
            [
                .retryOnUnauthorized(tokens, when: .error(EnvelopeError.self) { $0.serverCode == 1005 }),
                .bearerAuth(tokens), .unwrapEnvelope(payload: "object"), .followRedirects(),
            ],
            transport: server
        )
        await #expect(throws: EnvelopeError.self) {
            try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "order"))
        }
        #expect(server.requests.map(\.method) == [.post, .get])
    }

    @Test func envelopeOfAnotherOriginCausesNoLogIn() async throws {
        let elsewhere = URL(string: "https://other.example.com/")
        let chain = InterceptorChain(
            [
                .retryOnUnauthorized(when: .error(EnvelopeError.self)) { Issue.record("Not our session.") },
                .unwrapEnvelope(payload: "object"),
            ],
            transport: Recorder { _ in HTTPResponse(status: 200, body: HTTPBody(refusal), url: elsewhere) }
        )
        await #expect(throws: EnvelopeError.self) { try await chain.get() }
    }
}
