import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

private enum Users: Endpoint {
    case one(String)
    case search(String, tags: [String])
    case create(User)
    case remove(Int)

    var request: EndpointRequest<NoContent> {
        switch self {
        case .one(let id): .get("/users/\(id)")
        case .search(let term, let tags): .get("/users", query: ["q": term, "tag": tags])
        case .create(let user): .post("/users", body: user)
        case .remove(let id): .delete("/users/\(id)", headers: ["X-Confirm": "yes"])
        }
    }
}

private struct UserByID: Endpoint {
    let id: Int
    var request: EndpointRequest<User> {
        .get("/users/\(id)", context: .with(\.timeouts, Timeouts(total: .seconds(5))))
    }
}

private protocol Named: Endpoint { var name: String { get } }

extension UserByID: Named {
    var name: String { "user by ID" }
}

@Suite(.againstHanging) struct EndpointTests {
    @Test func enumOfEndpointsSendsWhatEachCaseSays() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/users", .json(#"[{"id":1,"name":"Ada"}]"#))
        stub.on(.delete, "/v1/users/7", .status(204))
        stub.on(nil, "**", .json(#"{"id":1,"name":"Ada"}"#), times: 2)
        let client = makeClient(stub)

        let one = try await client.call(Users.one("a/b"), as: User.self)
        let created = try await client.call(Users.create(User(id: 1)), as: User.self)
        let found = try await client.call(Users.search("a&b", tags: ["x", "y"]), as: [User].self)
        try await client.call(Users.remove(7))

        #expect(one == created)
        #expect(found == [one])
        #expect(
            stub.requests.map(\.description) == [
                "GET https://api.example.com/v1/users/a%2Fb", "POST https://api.example.com/v1/users",
                "GET https://api.example.com/v1/users?q=a%26b&tag=x&tag=y", "DELETE https://api.example.com/v1/users/7",
            ]
        )
        #expect(stub.requests[1].headers[.contentType] == "application/json")
        #expect(stub.requests[3].headers["X-Confirm"] == "yes")
        #expect(stub.requests[3].headers[.accept] == nil)
        try stub.verify()
    }

    @Test func eachFactorySendsItsMethodAndEverythingElse() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 204) }
        let client = makeClient(stub)
        let (query, headers): (HTTPQuery, HTTPFields) = (["a": "b"], ["X-A": "b"])
        let context = HTTPContext.with(\.timeouts, Timeouts(total: .seconds(5)))
        let user = User(id: 1)
        let form = RequestBody.form(["x": 1])
        let requests: [EndpointRequest<NoContent>] = [
            .get("/x", query: query, headers: headers, context: context),
            .post("/x", body: user, query: query, headers: headers, context: context),
            .put("/x", body: user, query: query, headers: headers, context: context),
            .patch("/x", body: user, query: query, headers: headers, context: context),
            .post("/x", body: form, query: query, headers: headers, context: context),
            .put("/x", body: form, query: query, headers: headers, context: context),
            .patch("/x", body: form, query: query, headers: headers, context: context),
            .delete("/x", body: form, query: query, headers: headers, context: context),
            EndpointRequest(.query, "/x", query: query, headers: headers, body: form, context: context),
        ]
        for request in requests { try await client.call(request) }
        let json = "application/json", urlEncoded = "application/x-www-form-urlencoded"
        #expect(stub.requests.map(\.method) == [.get, .post, .put, .patch, .post, .put, .patch, .delete, .query])
        #expect(
            stub.requests.map { $0.headers[.contentType] }
                == [nil, json, json, json] + Array(repeating: urlEncoded, count: 5)
        )
        for request in stub.requests {
            #expect(request.url.absoluteString == "https://api.example.com/v1/x?a=b")
            #expect(request.headers["X-A"] == "b")
            #expect(request.context.timeouts?.total == .seconds(5))
        }
    }

    @Test func requestOfAnEndpointCanBeReadWithoutSendingIt() async throws {
        let client = makeClient(StubTransport())
        let request = try await client.request(for: Users.create(User(id: 1)))
        #expect(request.description == "POST https://api.example.com/v1/users")
        #expect(try JSONDecoder().decode(User.self, from: await request.body.collect(upTo: 100)) == User(id: 1))
        #expect(request.context.endpoint is Users)
    }

    @Test func errorOfAnEndpointReachesTheCaller() async throws {
        struct NoFile: Error {}
        struct Failing: Endpoint {
            var request: EndpointRequest<User> { get throws { throw NoFile() } }
        }
        let client = makeClient(StubTransport())
        await #expect(throws: NoFile.self) { try await client.call(Failing()) }
    }

    @Test func endpointWithAResponseTypeNeedsNoOther() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/users/42", .json(#"{"id":42,"name":"Ada"}"#))
        let user = try await makeClient(stub).call(UserByID(id: 42))
        #expect(user.id == 42)
        #expect(stub.requests.first?.context.timeouts?.total == .seconds(5))
    }

    @Test func closureMakesEndpoints() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/users?q=*", .json("[]"))
        let search = { (term: String) in EndpointRequest<[User]>.get("/users", query: ["q": term]) }
        #expect(try await makeClient(stub).call(search("Ada & Bob")) == [])
        #expect(stub.requests.first?.url.absoluteString == "https://api.example.com/v1/users?q=Ada%20%26%20Bob")
    }

    @Test func interceptorsSeeTheEndpoint() async throws {
        let names = Notes<String?>()
        let stub = StubTransport { _ in HTTPResponse(status: 200, body: #"{"id":42,"name":"Ada"}"#) }
        let noting: AnyInterceptor = .intercept { request, next in
            names.add((request.context.endpoint as? any Named)?.name)
            return try await next(request)
        }
        let client = makeClient(stub, [noting])
        try await client.call(UserByID(id: 42))
        _ = try await client.send(UserByID(id: 42))
        _ = try await client.call(Users.one("a"), as: User.self)
        _ = try await client.call(EndpointRequest<User>.get("/users/1"))
        #expect(names.all == ["user by ID", "user by ID", nil, nil])
        #expect(stub.requests.map { $0.context.endpoint == nil } == [false, false, false, false])
        #expect(stub.requests.last?.context.endpoint is EndpointRequest<User>)
    }

    @Test func requestsOfVerbsCarryNoEndpoint() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 200, body: #"{"id":42,"name":"Ada"}"#) }
        let client = makeClient(stub)
        let _: User = try await client.get("/users/1")
        try await client.get("/users/1")
        let _: User = try await client.post("/users", body: User(id: 1))
        _ = try await client.head("/users/1")
        let _: (User, HTTPResponse) = try await client.response("/users/1")
        for try await _ in client.pages("/users/1", as: User.self, next: .link) {}
        let folder = try TemporaryFolder()
        try await client.download("/users/1", to: folder.file())
        #expect(stub.requests.count == 7)
        #expect(stub.requests.allSatisfy { $0.context.endpoint == nil })
    }

    @Test func missingSampleIsAFailureThatNamesTheEndpoint() throws {
        struct Wrong: Endpoint {
            let request: EndpointRequest<NoContent> = .get("/")
            // Not a `StubAnswer`: the compiler takes it for another property, so the default stays.
            let sample = "{}"
        }
        func message(_ endpoint: some Endpoint) -> String? {
            guard case .failure(let error as TransportError) = endpoint.sample.content else { return nil }
            return "\(error.code): \(error.message)"
        }
        #expect(message(UserByID(id: 1)) == "noStub: UserByID has no sample: it needs a `var sample: StubAnswer`.")
        #expect(message(Wrong()) == "noStub: Wrong has no sample: it needs a `var sample: StubAnswer`.")
        let request = EndpointRequest<User>.get("/")
        #expect(message(request) == "noStub: EndpointRequest<User> has no sample: it was made without `.sample(…)`.")
        #expect(message(request.sample(.json("{}"))) == nil)
        #expect(request.sample(.status(204)).sample.status == 204)
    }
}
