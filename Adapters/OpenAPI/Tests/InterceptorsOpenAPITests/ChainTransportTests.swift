import Foundation
import HTTPTypes
import Interceptors
import InterceptorsOpenAPI
import InterceptorsStubs
import OpenAPIRuntime
import Testing

private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

/// The example of the README.
func makeTransport(_ tokens: TokenStore, over transport: any Transport = .platform()) -> ChainTransport {
    let chain = InterceptorChain(
        [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .cache(.memory()), .retry(maxAttempts: 3)],
        transport: transport
    )
    return ChainTransport(chain)
}

@Suite(.timeLimit(.minutes(10))) struct ChainTransportTests {
    private let stub = StubTransport()

    private func get(_ path: String) -> HTTPTypes.HTTPRequest {
        HTTPTypes.HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
    }

    private func send(
        _ transport: any ClientTransport,
        _ request: HTTPTypes.HTTPRequest,
        body: OpenAPIRuntime.HTTPBody? = nil,
        at server: String = "https://e.com/v1"
    ) async throws -> (HTTPTypes.HTTPResponse, OpenAPIRuntime.HTTPBody?) {
        try await transport.send(request, body: body, baseURL: url(server), operationID: "getUser")
    }

    @Test(
        arguments: [
            ("https://e.com", "/users/1", "https://e.com/users/1"),
            ("https://e.com/", "/users/1", "https://e.com/users/1"),
            ("https://e.com/v1", "/users/1?a=%20b", "https://e.com/v1/users/1?a=%20b"),
            ("https://e.com:81/v1/", "/", "https://e.com:81/v1/"),
        ]
    )
    func pathIsRelativeToTheServersURL(server: String, path: String, target: String) async throws {
        stub.enqueue(.status(200))
        _ = try await send(ChainTransport(stub), get(path), at: server)
        #expect(stub.requests.map(\.url.absoluteString) == [target])
    }

    @Test func serverWithoutAUsableURLIsRefused() async throws {
        for server in ["ftp://e.com", "/v1", "https://user:hush@e.com"] {
            await #expect(throws: TransportError.self) { try await send(ChainTransport(stub), get("/"), at: server) }
        }
    }

    @Test func callOfAGeneratedClientHasRefreshAndCache() async throws {
        let tokens = TokenStore(TokenStore.Token("old")) { _ in TokenStore.Token("new") }
        stub.enqueue(.status(401), .json(#"{"id":1}"#, headers: [.cacheControl: "max-age=60"]))
        let transport = makeTransport(tokens, over: stub)
        for _ in 0..<2 {
            let (response, body) = try await send(transport, get("/users/1"))
            #expect(
                response.status == .ok && response.headerFields[.contentType]?.hasPrefix("application/json") == true
            )
            #expect(try await String(collecting: #require(body), upTo: 1024) == #"{"id":1}"#)
        }
        #expect(stub.requests.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
        #expect(stub.requests.allSatisfy { $0.context.operationID == "getUser" })
    }

    @Test func contentThatCanBeReadAgainIsSentAgain() async throws {
        stub.enqueue(.status(503), .status(201))
        let chain = InterceptorChain([.retry(.constant(.zero))], transport: stub)
        var request = HTTPTypes.HTTPRequest(method: .put, scheme: nil, authority: nil, path: "/a")
        request.headerFields[.contentType] = "text/plain"
        let (response, _) = try await send(ChainTransport(chain), request, body: .init(Data("abc".utf8)))
        #expect(response.status == .created)
        #expect(stub.requests.map(\.body.length) == [3, 3])
        #expect(try await stub.requests[1].body.collect(upTo: 10) == Data("abc".utf8))
    }

    @Test func streamIsSentOnceAndAStreamIsReceived() async throws {
        let chain = InterceptorChain(
            [.intercept { request, _ in HTTPResponse(status: 200, body: request.body) }],
            transport: stub
        )
        let chunks = AsyncStream<ArraySlice<UInt8>> { continuation in
            for text in ["ab", "c"] { continuation.yield(ArraySlice(text.utf8)) }
            continuation.finish()
        }
        let body = OpenAPIRuntime.HTTPBody(chunks, length: .unknown, iterationBehavior: .single)
        let (_, received) = try await send(ChainTransport(chain), get("/"), body: body)
        #expect(received?.iterationBehavior == .single && received?.length == .unknown)
        #expect(try await String(collecting: #require(received), upTo: 10) == "abc")
    }

    @Test func responseWithoutContentHasNoBody() async throws {
        stub.enqueue(.status(204), .status(200))
        #expect(try await send(ChainTransport(stub), get("/")).1 == nil)
        let head = HTTPTypes.HTTPRequest(method: .head, scheme: nil, authority: nil, path: "/")
        #expect(try await send(ChainTransport(stub), head).1 == nil)
    }
}
