import Foundation
import Interceptors
import Synchronization
import Testing

/// The examples of `ResponseSharing`, as they are printed there, and what a chain makes of them.
@Suite(.againstHanging) struct ResponseSharingTests {
    actor Kept {
        private var responses: [URL: HTTPResponse] = [:]
        func response(to request: HTTPRequest) -> HTTPResponse? { responses[request.url] }
        func keep(_ response: HTTPResponse, to request: HTTPRequest) { responses[request.url] = response }
    }

    struct KeepsTheLast: Interceptor {
        let kept = Kept()

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            if let response = await kept.response(to: request) { return response }
            request.shareResponse(by: "keepsTheLast")
            let response = try await next(copy request)
            await kept.keep(response, to: request)
            return response
        }
    }

    struct APIKeyInterceptor: Interceptor {
        let key: String

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try request.requireUnshared(by: "apiKey")
            request.headerFields["X-API-Key"] = key
            return try await next(request)
        }
    }

    private let url = URL(string: "https://api.example.com/me?access_token=hush")!
    private let stub: StubTransport = {
        let stub = StubTransport()
        stub.on(.get, "**", .status(200))
        return stub
    }()

    private func get(_ interceptors: [any Interceptor], _ fields: HTTPFields = [:]) async throws -> HTTPResponse.Status
    {
        let chain = InterceptorChain(interceptors, transport: stub)
        return try await chain.send(HTTPRequest(url: url, headerFields: fields)).status
    }

    private static func adding(_ name: HTTPField.Name, _ value: String) -> any Interceptor {
        ClosureInterceptor { request, next in
            var request = request
            request.headerFields[name] = value
            return try await next(request)
        }
    }

    @Test func credentialInsideOfASharedResponseIsRefusedAndTheErrorNamesBoth() async throws {
        let error = await #expect(throws: ChainOrderError.self) {
            try await get([KeepsTheLast(), APIKeyInterceptor(key: "s3cr3t")])
        }
        #expect(error?.code == .sharedResponse)
        #expect(error?.method == .get)
        let text = "\(try #require(error))"
        #expect(text.contains("keepsTheLast is outside of apiKey"))
        #expect(text.contains("[.apiKey(…), .keepsTheLast(…)]"))
        #expect(text.contains("not sent"))
        #expect(!text.contains("hush") && !text.contains("s3cr3t"))
        #expect(stub.requests.isEmpty)
        #expect(try await get([APIKeyInterceptor(key: "s3cr3t"), KeepsTheLast()]) == 200)
    }

    @Test(arguments: ["Authorization", "Cookie", "X-API-Key", "Proxy-Authorization", "X-Auth-Token"])
    func fieldThatIsSensitiveIsRefusedWithoutTheAuthorsHelp(name: String) async throws {
        let field = try #require(HTTPField.Name(name))
        let error = await #expect(throws: ChainOrderError.self) {
            try await get([KeepsTheLast(), Self.adding(field, "s3cr3t")])
        }
        let text = "\(try #require(error))"
        #expect(text.contains("keepsTheLast") && text.contains(name) && !text.contains("s3cr3t"))
        #expect(stub.requests.isEmpty)
        #expect(try await get([Self.adding(field, "s3cr3t"), KeepsTheLast()]) == 200)
    }

    @Test func changedCredentialIsAnAddedOne() async throws {
        let chain: [any Interceptor] = [KeepsTheLast(), Self.adding(.authorization, "Bearer b")]
        await #expect(throws: ChainOrderError.self) { try await get(chain, [.authorization: "Bearer a"]) }
        #expect(try await get(chain, [.authorization: "Bearer b"]) == 200)
    }

    @Test func fieldsThatTellNobodyApartMayBeAddedAndCredentialsTakenAway() async throws {
        let dropping: some Interceptor = .intercept { request, next in
            var request = request
            request.headerFields.remove(.authorization)
            return try await next(request)
        }
        let chain: [any Interceptor] = [
            KeepsTheLast(), Self.adding(.accept, "text/plain"), Self.adding("X-Request-ID", "1"), dropping,
            Self.adding(.ifNoneMatch, "\"1\""),
        ]
        #expect(try await get(chain, [.accept: "*/*", .authorization: "Bearer a", .userAgent: "test"]) == 200)
    }

    @Test func ofSeveralElementsEachMustHaveSeenTheCredential() async throws {
        let key = APIKeyInterceptor(key: "1")
        await #expect(throws: ChainOrderError.self) { try await get([KeepsTheLast(), KeepsTheLast(), key]) }
        await #expect(throws: ChainOrderError.self) { try await get([KeepsTheLast(), key, KeepsTheLast()]) }
        let silent = Self.adding("X-API-Key", "1")
        await #expect(throws: ChainOrderError.self) { try await get([KeepsTheLast(), silent, KeepsTheLast()]) }
        #expect(stub.requests.isEmpty)
        #expect(try await get([key, KeepsTheLast(), KeepsTheLast()]) == 200)
    }

    @Test func chainWithinAChainIsHeldToTheSame() async throws {
        let inner = InterceptorChain([APIKeyInterceptor(key: "1")], transport: stub)
        let silent = InterceptorChain([Self.adding("X-API-Key", "1")], transport: stub)
        for chain in [inner, silent] {
            await #expect(throws: ChainOrderError.self) {
                try await InterceptorChain([KeepsTheLast()], transport: chain).send(HTTPRequest(url: url))
            }
        }
        #expect(stub.requests.isEmpty)
    }

    @Test func credentialThatChangesEachTimeIsNotAdvisedToMoveOutside() async throws {
        var request = HTTPRequest(url: url)
        request.shareResponse(by: "cache", alternative: "Name an account.")
        let error = #expect(throws: ChainOrderError.self) {
            try request.requireUnshared(by: "sign", changesEachTime: true)
        }
        #expect(error?.message.contains("[.sign") == false)
        #expect(error?.message.contains("Name an account.") == true)
    }
}
