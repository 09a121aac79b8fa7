import Foundation
import InterceptorsCore
import InterceptorsTesting
import Synchronization
import Testing

/// The examples of `shareResponse(by:)` and `identifyCaller(by:as:)`, and how a chain treats them.
@Suite(.againstHanging) struct ResponseSharingTests {
    actor Kept {
        struct Key: Hashable {
            let url: URL
            let caller: Caller
        }

        private var responses: [Key: HTTPResponse] = [:]
        func response(for url: URL, _ caller: Caller) -> HTTPResponse? { responses[Key(url: url, caller: caller)] }
        func keep(_ response: HTTPResponse, for url: URL, _ caller: Caller) {
            responses[Key(url: url, caller: caller)] = response
        }
    }

    struct KeepsTheLast: Interceptor {
        let kept = Kept()

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            guard request.method == .get else { return try await next(request) }
            let (url, caller) = (request.url, request.caller)
            if let response = await kept.response(for: url, caller) { return response }
            request.shareResponse(by: "keepsTheLast")
            let response = try await next(copy request)
            if request.isAnswered(by: response) { await kept.keep(response, for: url, caller) }
            return response
        }
    }

    struct APIKeyInterceptor: Interceptor {
        let key: String
        let origin: Origin

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try request.identifyCaller(by: "apiKey", as: key)
            if Origin(request.url) == origin { request.headers["X-API-Key"] = key }
            return try await next(request)
        }
    }

    private let url = URL(string: "https://api.example.com/me?access_token=hush")!
    private let origin = Origin(URL(string: "https://api.example.com")!)!
    private let stub: StubTransport = {
        let stub = StubTransport()
        stub.on(.get, "**", .status(200))
        return stub
    }()

    private func get(_ interceptors: [any Interceptor], _ fields: HTTPFields = [:]) async throws -> HTTPResponse.Status
    {
        let chain = InterceptorChain(interceptors, transport: stub)
        return try await chain.send(HTTPRequest(url: url, headers: fields)).status
    }

    private static func adding(_ name: HTTPField.Name, _ value: String) -> any Interceptor {
        AnyInterceptor.intercept { request, next in
            var request = request
            request.headers[name] = value
            return try await next(request)
        }
    }

    @Test func credentialInsideOfASharedResponseIsRefusedAndTheErrorNamesBoth() async throws {
        let error = await expectUnseenCaller {
            try await get([KeepsTheLast(), APIKeyInterceptor(key: "s3cr3t", origin: origin)])
        }
        #expect(error?.code == .sharedResponse)
        #expect(error?.request?.method == .get)
        let text = "\(try #require(error))"
        #expect(text.contains("keepsTheLast is outside of apiKey"))
        #expect(text.contains("[.apiKey(…), .keepsTheLast(…)]"))
        #expect(text.contains("not sent"))
        #expect(!text.contains("hush") && !text.contains("s3cr3t"))
        #expect(stub.requests.isEmpty)
        #expect(try await get([APIKeyInterceptor(key: "s3cr3t", origin: origin), KeepsTheLast()]) == 200)
    }

    @Test(arguments: ["Authorization", "Cookie", "X-API-Key", "X-Auth-Token"])
    func fieldThatIsSensitiveIsRefusedWithoutTheAuthorsHelp(name: String) async throws {
        let field = try #require(HTTPField.Name(name))
        let error = await expectUnseenCaller {
            try await get([KeepsTheLast(), Self.adding(field, "s3cr3t")])
        }
        let text = "\(try #require(error))"
        #expect(text.contains("keepsTheLast") && text.contains(name) && !text.contains("s3cr3t"))
        #expect(stub.requests.isEmpty)
        #expect(try await get([Self.adding(field, "s3cr3t"), KeepsTheLast()]) == 200)
    }

    @Test func changedCredentialIsAnAddedOne() async throws {
        let chain: [any Interceptor] = [KeepsTheLast(), Self.adding(.authorization, "Bearer b")]
        await expectUnseenCaller { try await get(chain, [.authorization: "Bearer a"]) }
        #expect(try await get(chain, [.authorization: "Bearer b"]) == 200)
    }

    @Test func fieldsThatTellNobodyApartMayBeAddedAndCredentialsTakenAway() async throws {
        let dropping: some Interceptor = .intercept { request, next in
            var request = request
            request.headers.remove(.authorization)
            return try await next(request)
        }
        let chain: [any Interceptor] = [
            KeepsTheLast(), Self.adding(.accept, "text/plain"), Self.adding("X-Request-ID", "1"), dropping,
            Self.adding(.ifNoneMatch, "\"1\""), Self.adding(.proxyAuthorization, "Basic eA=="),
        ]
        #expect(try await get(chain, [.accept: "*/*", .authorization: "Bearer a", .userAgent: "test"]) == 200)
    }

    @Test func ofSeveralElementsEachMustHaveSeenTheCredential() async throws {
        let key = APIKeyInterceptor(key: "1", origin: origin)
        await expectUnseenCaller { try await get([KeepsTheLast(), KeepsTheLast(), key]) }
        await expectUnseenCaller { try await get([KeepsTheLast(), key, KeepsTheLast()]) }
        let silent = Self.adding("X-API-Key", "1")
        await expectUnseenCaller { try await get([KeepsTheLast(), silent, KeepsTheLast()]) }
        #expect(stub.requests.isEmpty)
        #expect(try await get([key, KeepsTheLast(), KeepsTheLast()]) == 200)
    }

    @Test func chainWithinAChainIsHeldToTheSame() async throws {
        let inner = InterceptorChain([APIKeyInterceptor(key: "1", origin: origin)], transport: stub)
        let silent = InterceptorChain([Self.adding("X-API-Key", "1")], transport: stub)
        for chain in [inner, silent] {
            await expectUnseenCaller {
                try await InterceptorChain([KeepsTheLast()], transport: chain).send(HTTPRequest(url: url))
            }
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func credentialThatChangesEachTimeIsNotAdvisedToMoveOutside() async throws {
        var request = HTTPRequest(url: url)
        request.shareResponse(by: "cache")
        let error = #expect(throws: TransportError.self) {
            try request.requireUnshared(by: "sign", changesEachTime: true)
        }
        #expect(error?.message.contains("[.sign") == false)
        #expect(error?.message.contains(" Name the account: request.context.cachePartition = account.id") == true)
    }

    @Test func orderThatIsAdvisedPutsTheCredentialOutsideOfAllThatShares() throws {
        var request = HTTPRequest(url: url)
        request.shareResponse(by: "coalesce")
        request.shareResponse(by: "cache")
        let error = #expect(throws: TransportError.self) { try request.requireUnshared(by: "bearerAuth") }
        #expect(error?.message.contains("[.bearerAuth(…), .coalesce(…), .cache(…)]") == true)
    }

    @Test func responseOfARequestThatNamesItsPartitionIsShared() async throws {
        let chain = InterceptorChain([KeepsTheLast(), APIKeyInterceptor(key: "1", origin: origin)], transport: stub)
        var request = HTTPRequest(url: url)
        request.context.cachePartition = "ada"
        #expect(try await chain.send(request).status == 200)
        #expect(try await chain.send(request).status == 200)
        request.context.cachePartition = "bob"
        #expect(try await chain.send(request).status == 200)
        #expect(stub.requests.count == 2)
    }

    @Test func callerWithoutACredentialYetIsRefusedInsideOfASharedResponse() async throws {
        let signedOut: some Interceptor = .intercept { request, next in
            var request = request
            try request.identifyCaller(by: "apiUser", as: nil)
            return try await next(request)
        }
        let error = await expectUnseenCaller { try await get([KeepsTheLast(), signedOut]) }
        #expect(error?.message.contains("apiUser") == true)
        #expect(stub.requests.isEmpty)
        #expect(try await get([signedOut, KeepsTheLast()]) == 200)
        #expect("\(stub.requests[0].caller)" == "Caller(nobody)")
    }

    @Test func keyGoesToItsOriginOnly() async throws {
        let chain = InterceptorChain([APIKeyInterceptor(key: "s3cr3t", origin: origin)], transport: stub)
        for host in ["https://api.example.com/me", "https://evil.example/me", "http://api.example.com/me"] {
            _ = try await chain.send(HTTPRequest(url: URL(string: host)!))
        }
        #expect(stub.requests.map { $0.headers["X-API-Key"] } == ["s3cr3t", nil, nil])
    }

    // The field's name isn't sensitive: the declaration alone tells callers apart.
    @Test func declaredIdentityKeepsCallersApart() async throws {
        let keeper = KeepsTheLast()
        for key in ["ada", "bob", "ada", "caf\u{e9}", "cafe\u{301}"] {
            let identifying: some Interceptor = .intercept { request, next in
                var request = request
                try request.identifyCaller(by: "apiUser", as: key)
                request.headers["Api-Username"] = "x"
                return try await next(request)
            }
            _ = try await InterceptorChain([identifying, keeper], transport: stub).send(HTTPRequest(url: url))
        }
        #expect(stub.requests.count == 4)
        let caller = stub.requests[0].caller
        #expect("\(caller)" == "Caller(credentials)" && !String(reflecting: caller).contains("ada"))
    }

    @Test func sensitiveQueryItemIsRefusedWithoutTheAuthorsHelp() async throws {
        func adding(_ name: String) -> any Interceptor {
            AnyInterceptor.intercept { request, next in
                var request = request
                request.url.append(queryItems: [URLQueryItem(name: name, value: "s3cr3t")])
                return try await next(request)
            }
        }
        let error = await expectUnseenCaller { try await get([KeepsTheLast(), adding("api_key")]) }
        #expect(error?.message.contains("the query item api_key") == true)
        #expect(error?.description.contains("s3cr3t") == false)
        #expect(stub.requests.isEmpty)
        #expect(try await get([adding("api_key"), KeepsTheLast()]) == 200)
        #expect(try await get([KeepsTheLast(), adding("page")]) == 200)
        // After a redirect inside, the URL is another one, and its query comes from the server.
        let elsewhere: some Interceptor = .intercept { request, next in
            var request = request
            request.url = URL(string: "https://storage.example.com/x?X-Amz-Signature=1")!
            return try await next(request)
        }
        #expect(try await get([KeepsTheLast(), elsewhere]) == 200)
    }

    @Test func keyOfTheProgramItselfMayBeAddedInside() async throws {
        let key: some Interceptor = .intercept { request, next in
            var request = request
            request.headers["X-API-Key"] = "program"
            request.declareAnonymous()
            return try await next(request)
        }
        #expect(try await get([KeepsTheLast(), key]) == 200)
        // The declaration covers only the fields that the request had then, and none that is added later.
        await expectUnseenCaller {
            try await get([KeepsTheLast(), key, Self.adding(.authorization, "Bearer a")])
        }
    }

    @Test func allElementsThatShareKnowADeclaredKeyOfTheProgram() async throws {
        let key: some Interceptor = .intercept { request, next in
            var request = request
            request.headers["X-API-Key"] = "program"
            request.declareAnonymous()
            return try await next(request)
        }
        #expect(try await get([KeepsTheLast(), KeepsTheLast(), KeepsTheLast(), key]) == 200)
    }

    @Test func emptyPartitionNamesNobody() {
        var request = HTTPRequest(url: url, headers: [.authorization: "Bearer ada"])
        let ada = request.caller
        request.context.cachePartition = ""
        #expect(request.caller == ada)
        request.headers[.authorization] = "Bearer bob"
        #expect(request.caller != ada)
    }

    @Test func callerIsTheSameInEachSpellingOfAFieldName() {
        let (upper, lower) =
            (["Authorization": "Bearer ada"], ["authorization": "Bearer ada"]) as (HTTPFields, HTTPFields)
        #expect(HTTPRequest(url: url, headers: upper).caller == HTTPRequest(url: url, headers: lower).caller)
    }

    @Test func elementAndIdentityOfACallerStayApart() throws {
        var (left, right) = (HTTPRequest(url: url), HTTPRequest(url: url))
        try left.identifyCaller(by: "api", as: "user1")
        try right.identifyCaller(by: "apiuser", as: "1")
        #expect(left.caller != right.caller)
    }
}
