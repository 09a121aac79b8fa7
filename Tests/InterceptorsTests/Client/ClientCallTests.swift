import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

/// The forms of a call: targets, results, content, context.
@Suite(.againstHanging) struct ClientCallTests {
    private let ada = #"{"id":1,"name":"Ada"}"#

    @Test func aGetWithoutAResultDiscardsTheContent() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/ping", .stream([Data("never".utf8), Data("read".utf8)]))
        let client = makeClient(stub)
        try await client.get("/ping", context: .with(\.responseBody, .streamed))
        async let ping: Void = client.get("/ping")
        try await ping
        #expect(stub.requests.count == 2)
        #expect(stub.openBodies == 0)
    }

    @Test func aGetWithoutAResultThrowsForAnErrorPage() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 404) }
        let failure = await #expect(throws: ResponseDecodingError.self) { try await makeClient(stub).get("/ping") }
        #expect(failure?.code == .unacceptedStatus)
    }

    @Test func aURLIsAWholeTargetAndALiteralsValuesAreData() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let client = makeClient(stub)
        let name = "a/b?c"
        let next = "https://other.example.com/\(name)"
        let url = try #require(URL(string: "/films?page=2"))
        try await client.get(.init(text: next))
        try await client.get(url)
        try await client.get("/films/\(name)")
        let _: NoContent? = try await client.get(url, query: ["a": 1])
        let (_, response) = try await client.response(.init(text: next), as: NoContent.self)
        #expect(response.status == 204)
        let base = "https://api.example.com/v1/films"
        #expect(
            stub.requests.map(\.url.absoluteString) == [
                next, "\(base)?page=2", "\(base)/a%2Fb%3Fc", "\(base)?page=2&a=1", next,
            ]
        )
    }

    @Test func aValueComesWithItsResponse() async throws {
        let stub = StubTransport()
        stub.on(nil, "/v1/users", .status(200, headers: ["X-Total-Count": "7"], body: HTTPBody(ada)))
        let client = makeClient(stub)
        let (user, response) = try await client.response("/users", as: User.self)
        #expect(user == User(id: 1))
        #expect(response.headers["X-Total-Count"] == "7")
        let creation = EndpointRequest<User>.post("/users", body: .encoded(User(id: 1)))
        let (created, answer) = try await client.response(to: creation)
        #expect(created.id == 1 && answer.status == 200)
        #expect(stub.requests.map(\.method) == [.get, .post])
    }

    @Test func aResponseThatCantBeDecodedIsAResponseDecodingError() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 200, body: "no JSON") }
        await #expect(throws: ResponseDecodingError.self) {
            try await makeClient(stub).response("/users", as: User.self)
        }
    }

    @Test(
        arguments: [
            (
                ["limit": 20, "title": "x", "tags": ["a"], "note": nil],
                #"{"limit":20,"note":null,"tags":["a"],"title":"x"}"#
            ),
            (["at": Date(timeIntervalSince1970: 0)], #"{"at":"1970-01-01T00:00:00Z"}"#),
            (["a": JSONObject(["b": 1, "c": true])], #"{"a":{"b":1,"c":true}}"#),
            (["a": 1, "a": 2], #"{"a":2}"#), ([:], "{}"),
        ] as [(JSONObject, String)]
    )
    func aLiteralIsAJSONObjectByTheClientsStrategies(object: JSONObject, text: String) async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        encoder.dateEncodingStrategy = .iso8601
        let client = Client(baseURL: URL(string: "https://h"), interceptors: [], transport: stub, encoder: encoder)
        try await client.post("/orders", body: .json(object))
        let sent = try #require(stub.requests.first)
        #expect(sent.body.data.map { String(decoding: $0, as: UTF8.self) } == text)
        #expect(sent.headers[.contentType] == "application/json")
    }

    @Test func aJSONObjectIsJSONWhateverTheEncoder() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let client = Client(baseURL: URL(string: "https://h"), interceptors: [], transport: stub, encoder: Shouting())
        try await client.post("/orders", body: .json(["a": 1]))
        let sent = try #require(stub.requests.first)
        #expect(sent.body.data == Data(#"{"a":1}"#.utf8))
        #expect(sent.headers[.contentType] == "application/json")
    }

    @Test func contentPrintsNoValues() {
        let content: [RequestBody] = [
            .json(["password": "hunter2"]), .stream("hunter2", type: nil), .encoded("hunter2"),
        ]
        var texts = content.map { "\($0) \(String(reflecting: $0))" }
        for each in content { dump(EndpointRequest<User>.post("/x", body: each), to: &texts[0]) }
        dump(["password": "hunter2"] as JSONObject, to: &texts[0])
        #expect(texts.allSatisfy { !$0.contains("hunter2") })
        #expect(texts[0].contains("password"))
    }

    @Test func contextsAreMadeInOneExpression() throws {
        let context = HTTPContext.with(\.responseBody, .streamed).with(\.timeouts, Timeouts(idle: .seconds(3)))
        #expect(context.responseBody == .streamed)
        #expect(context.timeouts?.idle == .seconds(3))
    }

    @Test func progressOfACallIsItsRequests() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let seen = Mutex<[Int64]>([])
        try await makeClient(stub).post("/photos", body: .data(Data([1]), type: nil)) { progress in
            seen.withLock { $0.append(progress.completed) }
        }
        try await makeClient(stub).put("/users/1", body: [1, 2]) { progress in
            seen.withLock { $0.append(progress.completed) }
        }
        #expect(seen.withLock { $0 } == [1, 5])
    }
}

private struct Shouting: BodyEncoder {
    let mediaType = "text/plain"
    func encode<Value: Encodable>(_ value: Value) throws -> Data { Data("\(value)!".utf8) }

    @Test func fileIsSentWithTheGivenType() async throws {
        let stub = StubTransport()
        stub.on(.put, "**", .status(204))
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("film".utf8))
        try await makeClient(stub).put("/film", body: .file(at: file, type: "video/mp4"))
        try await makeClient(stub).put("/film", body: .file(at: file))
        #expect(stub.requests.map(\.body.data) == [Data("film".utf8), Data("film".utf8)])
        #expect(stub.requests.map { $0.headers[.contentType] } == ["video/mp4", nil])
        let missing = folder.url.appending(path: "missing")
        let error = #expect(throws: TransportError.self) { try RequestBody.file(at: missing) }
        #expect(error?.code == .unreadableFile)
    }
}
