import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

/// A retry must not send an order again that the server may have acted on, whatever the error says.
@Suite(.againstHanging)
struct RepeatedOrderTests {
    @Test func placedOrderIsNotPlacedAgainWhenThePageAfterItFails() async throws {
        for failure in [HTTPErrorCode.cannotConnect, .cannotFindHost] {
            let transport = Recorder { request in
                guard request.method == .post else { throw TransportError(failure, "It failed.", request: request) }
                return redirect(303, "/receipt")
            }
            let chain = InterceptorChain([.retry(.constant(.zero)), .followRedirects()], transport: transport)
            let error = await #expect(throws: TransportError.self) {
                try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "order"))
            }
            #expect(transport.requests.map(\.method) == [.post, .get])
            #expect(error?.context.attempts.map(\.stop) == [.notIdempotent])
            #expect(error?.context.redirects.map(\.status) == [303])
        }
    }

    @Test func placedOrderIsNotPlacedAgainWhenThePageAfterItIsRefused() async throws {
        let refusals: [@Sendable (HTTPRequest) -> any Error] = [
            { LimitError.queueFull("limitConcurrency", waiting: 1, request: $0) },
            { _ in TransportError.unsigned(.unsignableRequest, "It can't be signed.") },
            { _ in TransportError(.cannotConnect, "It failed.") },
        ]
        for refusal in refusals {
            let transport = Recorder { request in
                guard request.method == .post else { throw refusal(request) }
                return redirect(303, "/receipt")
            }
            let chain = InterceptorChain(
                [
                    .retry(.constant(.zero, condition: .outcome { _, answer in (try? answer.get()) == nil })),
                    .followRedirects(),
                ],
                transport: transport
            )
            await #expect(throws: (any Error).self) {
                try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "order"))
            }
            #expect(transport.requests.map(\.method) == [.post, .get])
        }
    }

    @Test func placedOrderIsNotPlacedAgainForAnErrorThatHoldsTheResponseAfterIt() async throws {
        struct ServiceError: HTTPError {
            let code = HTTPErrorCode(rawValue: "serviceFailed")
            let message = "The service failed."
            let response: HTTPResponse?
            let underlying: (any Error)?
            let request: HTTPRequest.Summary? = nil
            var context = HTTPContext()
        }
        for (code, isWrapped) in [(429, false), (429, true), (503, false)] {
            let status = HTTPResponse.Status(integerLiteral: code)
            let transport = Recorder { request in
                guard request.method == .get else { return redirect(303, "/receipt") }
                return HTTPResponse(status: status, headers: [.retryAfter: "0"])
            }
            let chain = InterceptorChain(
                [
                    .retry(.constant(.zero, condition: .outcome { _, answer in (try? answer.get()) == nil })),
                    .intercept { request, next in
                        let response = try await next(request)
                        guard response.status.kind != .successful else { return response }
                        let error = ServiceError(response: response, underlying: nil)
                        throw isWrapped ? ServiceError(response: nil, underlying: error) : error
                    },
                    .followRedirects(),
                ],
                transport: transport
            )
            await #expect(throws: ServiceError.self) {
                try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "order"))
            }
            #expect(transport.requests.map(\.method) == [.post, .get])
        }
    }

    @Test func unsentRequestOfAnInterceptorSaysNothingAboutTheOrder() async throws {
        let transport = Recorder { request in
            guard request.url.path() == "/audit" else { return HTTPResponse(status: 201) }
            throw TransportError(.cannotConnect, "It failed.", request: request)
        }
        let audit = try #require(URL(string: "/audit", relativeTo: apiURL)?.absoluteURL)
        let chain = InterceptorChain(
            [
                .retry(.constant(.zero)),
                .intercept { request, next in
                    let response = try await next(request)
                    _ = try await next(HTTPRequest(method: .post, url: audit))
                    return response
                },
            ],
            transport: transport
        )
        await #expect(throws: TransportError.self) {
            try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "order"))
        }
        #expect(transport.requests.map { $0.url.path() } == [apiURL.path(), "/audit"])
    }

    @Test func bodyThatCouldNotBeFetchedSaysNothingAboutTheOrder() async throws {
        let reads = Tally()
        let source = HTTPBody.restartable { () -> AsyncThrowingStream<Data, any Error> in
            reads.count()
            return AsyncThrowingStream { chunks in
                chunks.yield(Data("first".utf8))
                chunks.finish(throwing: TransportError(.cannotConnect, "The other service is down."))
            }
        }
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        let chain = InterceptorChain([.retry(.constant(.zero))], transport: stub)
        let error = await #expect(throws: TransportError.self) {
            try await chain.send(HTTPRequest(method: .post, url: apiURL, body: source))
        }
        #expect(error?.code == .bodySourceFailed)
        #expect((error?.underlying as? TransportError)?.code == .cannotConnect)
        #expect(reads.value == 1)
    }

    /// The error of a service that a body's source asks.
    private struct ServiceError: HTTPError {
        let code: HTTPErrorCode
        let message = "The service failed."
        var request: HTTPRequest.Summary?
        var response: HTTPResponse?
        let underlying: (any Error)? = nil
        var context = HTTPContext()
    }

    @Test(arguments: [
        ServiceError(code: .connectionLost, request: HTTPRequest(url: apiURL).summary),
        ServiceError(code: .unacceptedStatus, response: HTTPResponse(status: 429)),
        ServiceError(code: .unacceptedStatus, response: HTTPResponse(status: 503)),
    ])
    private func failureOfABodysOwnRequestSaysNothingAboutTheOrder(failure: ServiceError) async throws {
        let reads = Tally()
        let source = HTTPBody.restartable {
            reads.count()
            return Chunks(["first"], failure: failure)
        }
        let stub = StubTransport { _ in HTTPResponse(status: 200) }
        let chain = InterceptorChain([.retry(.constant(.zero))], transport: stub)
        let error = await #expect(throws: TransportError.self) {
            try await chain.send(HTTPRequest(method: .post, url: apiURL, body: source))
        }
        #expect(error?.code == .bodySourceFailed)
        #expect(error?.response == nil)
        #expect(error?.underlying is ServiceError)
        #expect(reads.value == 1)
    }

    @Test func streamOfAnErrorIsDiscardedBeforeTheNextAttempt() async throws {
        struct ServiceError: HTTPError {
            let code = HTTPErrorCode(rawValue: "serviceFailed")
            let message = "The service failed."
            let response: HTTPResponse?
            let request: HTTPRequest.Summary? = nil
            let underlying: (any Error)? = nil
            var context = HTTPContext()
        }
        let discards = Tally()
        let transport = Recorder { _ in
            HTTPResponse(status: 503, body: .oneShot(Chunks(["a"]), onDiscard: { discards.count() }))
        }
        let chain = InterceptorChain(
            [
                .retry(.constant(.zero, maxAttempts: 2)),
                .intercept { request, next in throw ServiceError(response: try await next(request)) },
                .limitConcurrency(1),
            ],
            transport: transport
        )
        await #expect(throws: ServiceError.self) { try await chain.send(HTTPRequest(url: apiURL)) }
        #expect(transport.requests.count == 2)
        #expect(discards.value == 1)
    }

    @Test func orderIsNotSentAgainWithANewKeyAfterA401() async throws {
        let (tally, refreshes) = (Tally(), Tally())
        let transport = Recorder { request in
            if tally.count() == 1 { throw TransportError(.connectionLost, "It was lost.", request: request) }
            return HTTPResponse(status: 401)
        }
        let tokens = TokenStore(TokenStore.Token("old"), origins: Origin(apiURL).map { [$0] }) { _ in
            refreshes.count()
            return TokenStore.Token("new")
        }
        let chain = InterceptorChain(
            [
                .retryOnUnauthorized(tokens), .bearerAuth(tokens),
                .retry(.constant(.zero), idempotencyKey: { "key" }),
            ],
            transport: transport
        )
        let response = try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "order"))
        #expect(response.status == 401)
        #expect(transport.requests.count == 2)
        #expect(refreshes.value == 0)
    }

    @Test func refusalOfAnotherMethodSaysNothingAboutTheRequest() {
        let refusal = LimitError.queueFull("limitConcurrency", waiting: 1, request: HTTPRequest(url: apiURL))
        #expect(UnsentError.isCertain(after: refusal, of: HTTPRequest(method: .get, url: apiURL)))
        #expect(!UnsentError.isCertain(after: refusal, of: HTTPRequest(method: .post, url: apiURL)))
    }

    @Test(arguments: [429, 419] as [HTTPResponse.Status])
    func placedOrderIsNotPlacedAgainForAnEnvelopeAfterIt(status: HTTPResponse.Status) async throws {
        let transport = Recorder { request in
            guard request.method == .get else { return redirect(303, "/receipt") }
            return HTTPResponse(
                status: status,
                headers: [.contentType: "application/json"],
                body: #"{"code":7,"message":"Not now"}"#
            )
        }
        let logIns = Tally()
        let chain = InterceptorChain(
            [
                .retry(.constant(.zero)), .retryOnUnauthorized(when: .status(401, 419)) { _ = logIns.count() },
                .followRedirects(), .unwrapEnvelope(payload: "object"),
            ],
            transport: transport
        )
        let error = await #expect(throws: EnvelopeError.self) {
            try await chain.send(HTTPRequest(method: .post, url: apiURL, body: "order"))
        }
        #expect(transport.requests.map(\.method) == [.post, .get])
        #expect(logIns.value == 0)
        #expect(error?.context.redirects.map(\.status) == [303])
    }
}
