import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@Suite(.againstHanging)
struct UnauthorizedConditionTests {
    private struct EnvelopeFailure: Error {
        let code: Int
    }

    private struct OtherFailure: Error {}

    private let request = HTTPRequest(url: apiURL)

    @Test func statusesMatchAnyOfThem() {
        let condition = OutcomeCondition.status(401, 419)
        #expect(condition.matches(.success(HTTPResponse(status: 401)), to: request))
        #expect(condition.matches(.success(HTTPResponse(status: 419)), to: request))
        #expect(!condition.matches(.success(HTTPResponse(status: 403)), to: request))
        #expect(!condition.matches(.failure(EnvelopeFailure(code: 401)), to: request))
    }

    @Test func errorMatchesByItsTypeAndWhatItHolds() {
        let condition = OutcomeCondition.error(EnvelopeFailure.self) { $0.code == 1001 }
        #expect(condition.matches(.failure(EnvelopeFailure(code: 1001)), to: request))
        #expect(!condition.matches(.failure(EnvelopeFailure(code: 1002)), to: request))
        #expect(!condition.matches(.failure(OtherFailure()), to: request))
        #expect(!condition.matches(.success(HTTPResponse(status: 401)), to: request))
        #expect(OutcomeCondition.error(OtherFailure.self).matches(.failure(OtherFailure()), to: request))
    }

    @Test func conditionsCombine() {
        let condition = OutcomeCondition.status(401) || .error(OtherFailure.self) || .outcome { _, _ in false }
        #expect(condition.matches(.success(HTTPResponse(status: 401)), to: request))
        #expect(condition.matches(.failure(OtherFailure()), to: request))
        #expect(!condition.matches(.failure(EnvelopeFailure(code: 1)), to: request))
    }

    @Test func cancellationIsNeverARejection() {
        let condition = OutcomeCondition.outcome { _, _ in true } || .error(CancellationError.self)
        #expect(!condition.matches(.failure(CancellationError()), to: request))
        #expect(condition.matches(.failure(OtherFailure()), to: request))
    }

    @Test func validateStatusInsideDoesNotHideARejection() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(tokens), .validateStatus(), .bearerAuth(tokens)],
            transport: server
        )
        #expect(try await chain.get() == 200)
        #expect(server.authorizations == ["Bearer old", "Bearer new"])
    }

    @Test func statusErrorOfAnotherOriginCausesNoLogIn() async throws {
        let elsewhere = URL(string: "https://other.example.com/")
        let chain = InterceptorChain(
            [.retryOnUnauthorized { Issue.record("Not our 401.") }, .validateStatus()],
            transport: Recorder { _ in HTTPResponse(status: 401, url: elsewhere) }
        )
        let error = await #expect(throws: StatusError.self) { try await chain.get() }
        #expect(error?.status == 401)
    }

    @Test func envelopeErrorOfAnInterceptorInsideRefreshes() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let envelope: AnyInterceptor = .intercept { request, next in
            let response = try await next(request)
            if response.status == 401 { throw EnvelopeFailure(code: 1001) }
            return response
        }
        let condition = OutcomeCondition.error(EnvelopeFailure.self) { $0.code == 1001 }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(tokens, when: condition), envelope, .bearerAuth(tokens)],
            transport: server
        )
        #expect(try await chain.get() == 200)
        #expect(server.authorizations == ["Bearer old", "Bearer new"])
    }

    @Test func envelopeThatHidesARejectionInA200IsUnwrappedInsideAndRefreshes() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain(
            [
                .retryOnUnauthorized(
                    tokens,
                    when: .status(401) || .error(EnvelopeError.self) { $0.serverCode == 1001 }
                ),
                .unwrapEnvelope(payload: "object"),
                .bearerAuth(tokens),
            ],
            transport: StubTransport { request in
                let isNew = request.headers[.authorization] == "Bearer new"
                let envelope = isNew ? #"{"code":200,"object":{"id":42}}"# : #"{"code":1001,"message":"Log in"}"#
                return HTTPResponse(
                    status: 200,
                    headers: [.contentType: "application/json"],
                    body: HTTPBody(envelope)
                )
            }
        )
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(try await response.body.collect(upTo: 100) == Data(#"{"id":42}"#.utf8))
    }

    @Test func responseCanBeJudgedByItsBufferedBody() async throws {
        let condition = OutcomeCondition.outcome { _, answer in
            (try? answer.get())?.body.data == Data(#"{"code":1001}"#.utf8)
        }
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(tokens, when: condition), .bearerAuth(tokens)],
            transport: StubTransport { request in
                let isNew = request.headers[.authorization] == "Bearer new"
                return HTTPResponse(status: 200, body: isNew ? "{}" : #"{"code":1001}"#)
            }
        )
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(response.body.data == Data("{}".utf8))
    }

    @Test func errorThatDoesNotCountIsThrownOn() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            Issue.record("Nothing was rejected.")
            return .new
        }
        let chain = authenticatingChain(tokens, StubTransport { _ in throw OtherFailure() })
        await #expect(throws: OtherFailure.self) { try await chain.get() }
    }

    @Test func errorOfTheRefreshBeforeSendingIsNoRejection() async throws {
        let server = TokenServer(accepting: ["new"])
        let refreshes = Tally()
        let expired = TokenStore.Token("old", expiresAt: Date(timeIntervalSince1970: 0))
        let tokens = TokenStore(expired, origins: [apiOrigin]) { _ in
            refreshes.count()
            throw RefreshRefused()
        }
        let chain = InterceptorChain(
            [.retryOnUnauthorized(tokens, when: .outcome { _, _ in true }), .bearerAuth(tokens)],
            transport: server
        )
        await expectRefreshFailed(RefreshRefused()) { try await chain.get() }
        #expect(refreshes.value == 1)
        #expect(server.requests.value.isEmpty)
    }
}
