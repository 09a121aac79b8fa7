import Foundation
import Interceptors
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@Suite(.againstHanging)
struct UnauthorizedBodyTests {
    @Test func oneShotBodyIsNeverResentEmptyButTheTokenIsRefreshed() async throws {
        let server = TokenServer(accepting: ["new"])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = authenticatingChain(tokens, server)
        let body = HTTPBody.oneShot(
            AsyncStream {
                $0.yield(Data("once".utf8)); $0.finish()
            }
        )
        let error = await #expect(throws: TransportError.self) {
            try await chain.send(HTTPRequest(method: .post, url: apiURL, body: body))
        }
        #expect(error?.code == .bodyNotReplayable)
        #expect(error?.description.contains("one-shot") == true)
        #expect(server.authorizations == ["Bearer old"])
        #expect(tokens.current == .new)
        #expect(try await chain.get() == 200)
    }

    @Test func oneShotBodyThatWasNotReadIsSentAgain() async throws {
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let server = TokenServer(accepting: ["new"])
        let gate: AnyInterceptor = .intercept { request, next in
            guard request.headers[.authorization] == "Bearer new" else { return HTTPResponse(status: 401) }
            return try await next(request)
        }
        let chain = InterceptorChain([.retryOnUnauthorized(tokens), .bearerAuth(tokens), gate], transport: server)
        let body = HTTPBody.oneShot(
            AsyncStream {
                $0.yield(Data("once".utf8)); $0.finish()
            }
        )
        #expect(try await chain.send(HTTPRequest(method: .post, url: apiURL, body: body)).status == 200)
        #expect(server.bodies.value == [Data("once".utf8)])
    }

    @Test func expiredTokenCostsAOneShotBodyNothing() async throws {
        let server = TokenServer(accepting: ["new"])
        let expired = TokenStore.Token("old", expiresAt: Date(timeIntervalSince1970: 0))
        let tokens = TokenStore(expired, origins: [apiOrigin]) { _ in .new }
        let body = HTTPBody.oneShot(
            AsyncStream {
                $0.yield(Data("once".utf8)); $0.finish()
            }
        )
        let request = HTTPRequest(method: .post, url: apiURL, body: body)
        #expect(try await authenticatingChain(tokens, server).send(request).status == 200)
    }

    @Test func restartableBodyIsSentWholeBothTimes() async throws {
        let bodies = Shared<[Data]>([])
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = authenticatingChain(
            tokens,
            StubTransport { request in
                let body = try await request.body.collect(upTo: 100)
                bodies.change { $0.append(body) }
                return HTTPResponse(status: request.headers[.authorization] == "Bearer new" ? 200 : 401)
            }
        )
        let body = HTTPBody.restartable {
            AsyncStream {
                $0.yield(Data("again".utf8)); $0.finish()
            }
        }
        #expect(try await chain.send(HTTPRequest(method: .put, url: apiURL, body: body)).status == 200)
        #expect(bodies.value == [Data("again".utf8), Data("again".utf8)])
    }

    @Test func bodyOfAResponseThrownAwayIsDiscardedBeforeTheRefresh() async throws {
        let discards = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in
            #expect(discards.value == 1)
            return .new
        }
        let chain = authenticatingChain(tokens, StreamedAnswers(accepting: "new", discards: discards))
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(response.status == 200)
        #expect(discards.value == 1)
        #expect(response.body.isReadable)
    }

    @Test func bodyOfA401ThatSurfacesIsLeftToTheCaller() async throws {
        let discards = Tally()
        let tokens = TokenStore(.old, origins: [apiOrigin]) { _ in .new }
        let chain = authenticatingChain(tokens, StreamedAnswers(accepting: "other", discards: discards))
        let response = try await chain.send(HTTPRequest(url: apiURL))
        #expect(response.status == 401)
        #expect(discards.value == 1)
        #expect(try await response.body.collect(upTo: 100) == Data("streamed".utf8))
    }
}

/// Streams one-shot bodies, and counts the discarded ones.
private struct StreamedAnswers: Transport {
    let accepted: String
    let discards: Tally

    init(accepting accepted: String, discards: Tally) {
        self.accepted = accepted
        self.discards = discards
    }

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let stream = AsyncStream<Data> {
            $0.yield(Data("streamed".utf8)); $0.finish()
        }
        return HTTPResponse(
            status: request.headers[.authorization] == "Bearer \(accepted)" ? 200 : 401,
            body: .oneShot(stream, onDiscard: { [discards] in discards.count() }),
            url: request.url
        )
    }
}
