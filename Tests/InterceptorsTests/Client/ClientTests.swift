import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

struct User: Codable, Hashable, Sendable {
    var id: Int
    var name = "Ada"
}

func makeClient(_ stub: StubTransport, _ interceptors: [any Interceptor] = []) -> Client {
    Client(baseURL: URL(string: "https://api.example.com/v1"), interceptors: interceptors, transport: stub)
}

@Suite(.againstHanging) struct ClientTests {
    private let ada = #"{"id":1,"name":"Ada"}"#

    @Test func verbsSendTheirMethodAndDecode() async throws {
        let stub = StubTransport()
        stub.on(nil, "/v1/users", .json(ada))
        let client = makeClient(stub)
        let user = User(id: 1)
        let read: User = try await client.get("/users")
        let posted: User = try await client.post("/users", body: user)
        let put = try await client.put("/users", body: user, as: User.self)
        let patched: User = try await client.patch("/users", body: user)
        let deleted: User = try await client.delete("/users")
        let withoutBody: User = try await client.post("/users")
        #expect([read, posted, put, patched, deleted, withoutBody].allSatisfy { $0 == user })
        #expect(stub.requests.map(\.method) == [.get, .post, .put, .patch, .delete, .post])
        #expect(stub.requests.map { $0.body.isEmpty } == [true, false, false, false, true, true])
        let sent = try #require(stub.requests[1].body.data)
        #expect(try JSONDecoder().decode(User.self, from: sent) == user)
    }

    @Test func verbsThatAskForNothingDiscardTheContent() async throws {
        let stub = StubTransport()
        stub.on(nil, "/v1/x", .stream([Data("never".utf8), Data("read".utf8)]))
        let client = makeClient(stub)
        var context = HTTPContext()
        context.responseBody = .streamed
        try await client.post("/x", context: context)
        try await client.post("/x", body: User(id: 1), context: context)
        try await client.put("/x", context: context)
        try await client.put("/x", body: User(id: 1), context: context)
        try await client.patch("/x", context: context)
        try await client.patch("/x", body: User(id: 1), context: context)
        try await client.delete("/x", context: context)
        try await client.call(EndpointRequest<NoContent>.get("/x", context: context))
        #expect(stub.requests.map(\.method) == [.post, .post, .put, .put, .patch, .patch, .delete, .get])
        #expect(stub.openBodies == 0)
    }

    @Test func dataAndTextAreSentAsTheyAreAndOtherValuesEncoded() async throws {
        let stub = StubTransport()
        stub.on(nil, "/v1/x", .json(ada))
        let client = makeClient(stub, [Defaults(fields: ["X-A": "default"])])
        let data = Data([0xFF, 0x00])
        let posted: User = try await client.post("/x", body: data)
        let put: User = try await client.put("/x", body: "a \"ä\"")
        try await client.patch("/x", body: [1, 2, 3] as [UInt8])
        try await client.patch("/x", body: "ab" as String?)
        try await client.post("/x", body: .encoded("ab"))
        #expect([posted, put].allSatisfy { $0.id == 1 })
        let sent = stub.requests.map(\.body.data)
        #expect(sent == [data, Data("a \"ä\"".utf8), Data([1, 2, 3]), Data("ab".utf8), Data("\"ab\"".utf8)])
        let text = "text/plain; charset=utf-8"
        let (bytes, json) = ("application/octet-stream", "application/json")
        #expect(
            stub.requests.map { $0.headers[.contentType] } == [bytes, text, bytes, text, json]
        )
    }

    @Test func aDefaultTypeReplacesTheOneGuessedOfBytesAndText() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let client = makeClient(stub, [Defaults(fields: ["Content-Type": "image/png"])])
        try await client.post("/x", body: Data([1]))
        try await client.post("/x", body: .data(Data([1]), type: "image/gif"))
        #expect(stub.requests.map { $0.headers[.contentType] } == ["image/png", "image/gif"])
    }

    @Test func headAndSendGiveTheResponseWhateverItsStatus() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(404, headers: ["X-A": "b"]), .status(500, body: "oops"))
        let client = makeClient(stub)
        let head = try await client.head("/users", query: ["a": 1])
        #expect(head.status == 404)
        #expect(head.headers["X-A"] == "b")
        let response = try await client.send(EndpointRequest<User>.get("/users"))
        #expect(response.status == 500)
        #expect(response.body.data == Data("oops".utf8))
        #expect(
            stub.requests.map(\.description) == [
                "HEAD https://api.example.com/v1/users?a=1", "GET https://api.example.com/v1/users",
            ]
        )
    }

    @Test func rawSendKeepsTheRequestAsItIs() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 299) }
        let url = try #require(URL(string: "http://other:81/a/../%2e?b#c"))
        let request = HTTPRequest(method: "LIST", url: url, headers: ["X-A": "b"], body: "content")
        #expect(try await makeClient(stub).send(request).status == 299)
        let sent = try #require(stub.requests.first)
        #expect(sent.method == "LIST")
        #expect(sent.url == url)
        #expect(sent.headers == ["X-A": "b"])
        #expect(sent.body.data == Data("content".utf8))
    }

    @Test func rawSendTakesARelativeURLForAPathBelowTheBase() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let url = try #require(URL(string: "/users?a=b"))
        _ = try await makeClient(stub).send(HTTPRequest(url: url))
        #expect(stub.requests.first?.url.absoluteString == "https://api.example.com/v1/users?a=b")
    }

    @Test func fieldsOfACallGoOverTheDefaults() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let client = makeClient(stub, [Defaults(fields: ["X-A": "default", "X-B": "default"])])
        try await client.post("/x", headers: ["x-a": "mine"])
        let sent = try #require(stub.requests.first).headers
        #expect(sent["X-A"] == "mine")
        #expect(sent["X-B"] == "default")
    }

    @Test func acceptAndContentTypeComeFromTheCoders() async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .json(ada))
        let client = makeClient(stub)
        let _: User = try await client.post("/x", body: User(id: 1))
        let _: Data = try await client.get("/x")
        try await client.post("/x", body: .form(["a": 1]))
        #expect(stub.requests.map { $0.headers[.accept] } == ["application/json", nil, nil])
        #expect(
            stub.requests.map { $0.headers[.contentType] }
                == ["application/json", nil, "application/x-www-form-urlencoded"]
        )
    }

    @Test func acceptAndContentTypeOfTheCallWin() async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .json(ada))
        let interceptors = [Defaults(fields: ["Accept": "chain/a", "Content-Type": "chain/c"])]
        let headers: HTTPFields = ["accept": "call/a", "content-type": "call/c"]
        let client = makeClient(stub, interceptors)
        let _: User = try await client.post("/x", body: User(id: 1), headers: headers)
        let sent = try #require(stub.requests.first).headers
        #expect(sent[values: .accept] == ["call/a"])
        #expect(sent[values: .contentType] == ["call/c"])
    }

    @Test func defaultsOfTheChainWinOverThoseOfTheCoders() async throws {
        let stub = StubTransport()
        stub.on(nil, "**", .json(ada))
        let outer = Defaults(fields: ["Accept": "outer/a", "Content-Type": "outer/c"])
        let inner = Defaults(fields: ["Accept": "inner/a"])
        let client = makeClient(stub, [outer, inner])
        let _: User = try await client.post("/x", body: User(id: 1))
        let sent = try #require(stub.requests.first).headers
        #expect(sent[values: .accept] == ["outer/a"])
        #expect(sent[values: .contentType] == ["outer/c"])
    }

    @Test func defaultContentTypeOfTheChainDoesNotReplaceThatOfAForm() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let client = makeClient(stub, [Defaults(fields: ["Content-Type": "application/json"])])
        let form = MultipartFormData([.text(name: "a", "b")])
        try await client.post("/x", body: try .multipart(form))
        try await client.post("/x", body: .form(["a": 1]))
        try await client.put("/x", body: .stream("plain", type: "text/plain"))
        #expect(
            stub.requests.map { $0.headers[values: .contentType] }
                == [[form.contentType], ["application/x-www-form-urlencoded"], ["text/plain"]]
        )
    }

    @Test func bodyIsSentAsItIs() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let client = makeClient(stub)
        try await client.put("/x", body: .stream("plain", type: "text/plain"))
        try await client.put("/x", body: .stream(HTTPBody(Data([0xFF])), type: nil))
        try await client.post("/x", body: .form(["a b": "c&d", "e": ["f", "+"]]))
        #expect(stub.requests.map { $0.headers[.contentType] }.prefix(2) == ["text/plain", nil])
        #expect(stub.requests[1].body.data == Data([0xFF]))
        #expect(stub.requests[2].body.data == Data("a%20b=c%26d&e=f&e=%2B".utf8))
    }

    @Test func aFormWithFilesIsSentWithItsBoundary() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let client = makeClient(stub)
        let form = try #require(MultipartFormData([.text(name: "a", "1")], boundary: "b"))
        try await client.post("/x", body: .multipart(form))
        try await client.post("/x", body: .multipart([.text(name: "a", "1"), .data(name: "f", Data([0xFF]))]))
        let sent = stub.requests
        #expect(sent[0].headers[.contentType] == "multipart/form-data; boundary=b")
        #expect(sent[0].body.data == (try form.body().data))
        #expect(sent[1].headers[.contentType]?.hasPrefix("multipart/form-data; boundary=form-") == true)
    }

    @Test func requestSaysTheOriginOfTheClient() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let seen = Notes<Origin?>()
        let client = makeClient(
            stub,
            [
                .intercept { request, next in
                    seen.add(request.context.clientOrigin)
                    return try await next(request)
                }
            ]
        )
        var context = HTTPContext()
        context.timeouts = Timeouts(total: .seconds(1))
        try await client.delete("/x")
        try await client.delete("/x", context: context)
        try await client.delete("https://evil.com/x")
        let url = try #require(URL(string: "https://evil.com/y"))
        _ = try await client.send(HTTPRequest(url: url))
        let origin = Origin(try #require(URL(string: "https://api.example.com")))
        #expect(seen.all == [origin, origin, origin, origin])
        #expect(stub.requests[1].context.timeouts?.total == .seconds(1))
    }

    @Test func originIsThatOfTheRequestsHoweverTheBaseIsSpelled() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        for base in ["https://b\u{FC}cher.example/v1", "HTTPS://API.example.com:443", "http://[::1]:8080/x"] {
            let client = Client(baseURL: URL(string: base), interceptors: [], transport: stub)
            try await client.delete("/x")
            let request = try #require(stub.requests.last)
            #expect(request.context.clientOrigin != nil)
            #expect(request.context.clientOrigin == Origin(request.url))
        }
    }

    @Test func withoutATransportItSendsOverTheNetwork() async throws {
        let server = try MockServer()
        defer { server.stop() }
        server.on(.post, "/v1/users") { request in StubAnswer.status(201, body: request.body) }
        let client = Client(baseURL: server.url.appending(path: "v1"), interceptors: [WithoutTimeouts()])
        let created: User = try await client.post("/users", body: User(id: 7, name: "Jos\u{E9}"), query: ["q": "a b+c"])
        #expect(created == User(id: 7, name: "Jos\u{E9}"))
        let request = try #require(server.requests.first)
        #expect(request.target == "/v1/users?q=a%20b%2Bc")
        #expect(request.headers[values: .contentType] == ["application/json"])
        #expect(request.headers[values: .accept] == ["application/json"])
    }

    @Test func descriptionShowsNoSecret() {
        let base = URL(string: "https://user:hunter2@h/v1?api_key=hunter2")
        let client = Client(baseURL: base, interceptors: [Defaults(fields: [:])], transport: StubTransport())
        #expect("\(client)" == "Client(https://<redacted>@h/v1?api_key=<redacted>, 1 interceptors)")
        #expect(!String(reflecting: client).contains("hunter2"))
    }

    @Test func innermostClientWithABaseNamesTheOrigin() async throws {
        let seen = Notes<Origin?>()
        let stub = StubTransport { request in
            seen.add(request.context.clientOrigin)
            return HTTPResponse(status: 204)
        }
        let outer = Client(baseURL: URL(string: "https://outer"), interceptors: [], transport: makeClient(stub))
        try await outer.delete("/x")
        let bare = Client(interceptors: [], transport: stub)
        try await bare.delete("https://h/x")
        try await Client(baseURL: URL(string: "https://outer"), interceptors: [], transport: bare).delete("x")
        #expect(seen.all.map { $0?.host } == ["api.example.com", nil, "outer"])
    }

    @Test func failureOfTheEncoderSendsNothing() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        await #expect(throws: EncodingError.self) { try await makeClient(stub).post("/x", body: [Double.nan]) }
        #expect(stub.requests.isEmpty)
    }

    @Test func injectedHeaderIsRefusedBeforeAnythingIsSent() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let error = await #expect(throws: TransportError.self) {
            try await makeClient(stub).post("/x", headers: ["X-A": "b\r\nX-Evil: 1"])
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test func cancellationIsNeverWrapped() async throws {
        let stub = StubTransport()
        stub.on(.get, "**", .json("1").delayed(by: .seconds(3600)))
        let client = makeClient(stub)
        let task = Task { let _: Int = try await client.get("/x") }
        await stub.requests(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func hundredsOfCallsAtOnceKeepTheirOwnValues() async throws {
        let stub = StubTransport { request in
            HTTPResponse(status: 200, body: HTTPBody(request.url.lastPathComponent))
        }
        let client = makeClient(stub)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<400 {
                group.addTask { try await client.get("/numbers/\(number)", as: Int.self) == number }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }

    @Test func mutationOfOneRequestNeverShowsInAnother() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let client = makeClient(
            stub,
            [
                .intercept { request, next in
                    var changed = request
                    changed.context.clientOrigin = nil
                    changed.headers["X-Changed"] = "yes"
                    _ = try await next(changed)
                    return try await next(request)
                }
            ]
        )
        try await client.delete("/x")
        try await client.delete("/x")
        #expect(stub.requests.map { $0.context.clientOrigin == nil } == [true, false, true, false])
        #expect(stub.requests.map { $0.headers.contains("X-Changed") } == [true, false, true, false])
    }
}

/// Removes the default time limit, which a busy machine can exceed.
private struct WithoutTimeouts: Interceptor {
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.context.timeouts = Timeouts(idle: nil)
        return try await next(request)
    }
}

private struct Defaults: Interceptor {
    let fields: HTTPFields

    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.addDefaults(fields)
        return try await next(request)
    }
}
