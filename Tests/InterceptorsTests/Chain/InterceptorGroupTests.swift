import Foundation
import InterceptorsCore
import InterceptorsInsight
import InterceptorsTesting
import Testing

/// Appends its name to a field on the way down and on the way up.
private struct Mark: Interceptor {
    let name: String
    func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
        request.headers.append("X-Path", name)
        var response = try await next(request)
        response.headers.append("X-Path", name)
        return response
    }
}

@Suite(.againstHanging) struct InterceptorGroupTests {
    private let stub = StubTransport { _ in HTTPResponse(status: 204) }

    private func paths(
        _ interceptors: [any Interceptor],
        _ url: String = "https://a.example/"
    ) async throws -> (down: [String], up: [String]) {
        let chain = InterceptorChain(interceptors, transport: stub)
        let response = try await chain.send(try HTTPRequest(string: url))
        let sent = try #require(stub.requests.last)
        return (sent.headers[values: "X-Path"], response.headers[values: "X-Path"])
    }

    @Test func aGroupRunsItsElementsInPlace() async throws {
        let group: any Interceptor = .group([Mark(name: "b"), .group([Mark(name: "c")]), .group([])])
        let (down, up) = try await paths([Mark(name: "a"), group, Mark(name: "d")])
        #expect(down == ["a", "b", "c", "d"])
        #expect(up == ["d", "c", "b", "a"])
    }

    @Test(arguments: [
        ("https://api.example.com/x", ["a", "b", "c"]), ("https://API.example.com:443/", ["a", "b", "c"]),
        ("http://api.example.com/", ["a", "c"]), ("https://api.example.com:444/", ["a", "c"]),
        ("https://api.example.com.evil.org/", ["a", "c"]),
    ])
    func aConditionalPartIsForItsOriginOnly(url: String, expected: [String]) async throws {
        let part: any Interceptor = .when(.origin("https://api.example.com/v1"), [Mark(name: "b")])
        let (down, up) = try await paths([Mark(name: "a"), part, Mark(name: "c")], url)
        #expect(down == expected)
        #expect(up == expected.reversed())
    }

    @Test func anOriginThatIsNoneFailsBeforeAnythingIsSent() async throws {
        let error = await #expect(throws: TransportError.self) {
            try await paths([.when(.origin("api.example.com"), [Mark(name: "b")])])
        }
        #expect(error?.code == .unsupportedURL)
        #expect(stub.requests.isEmpty)
    }

    @Test func aConditionSeesTheRequestAsItArrives() async throws {
        let condition = RequestCondition.matching { $0.headers["X-Path"] == "a" }
        #expect(try await paths([Mark(name: "a"), .when(condition, [Mark(name: "b")])]).down == ["a", "b"])
        #expect(try await paths([.when(condition, [Mark(name: "b")]), Mark(name: "a")]).down == ["a"])
    }

    @Test func nextOfAConditionalPartMayBeCalledTwice() async throws {
        struct Twice: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                _ = try await next(request)
                return try await next(request)
            }
        }
        let (down, _) = try await paths([.when(.matching { _ in true }, [Twice(), Mark(name: "b")]), Mark(name: "c")])
        #expect(down == ["b", "c"])
        #expect(stub.requests.count == 2)
    }

    @Test func aClosureMayChangeTheRequest() async throws {
        let closure: any Interceptor = .intercept { request, next in
            request.headers["X-Path"] = "changed"
            return try await next(request)
        }
        #expect(try await paths([closure]).down == ["changed"])
    }

    @Test func aChainsNamesAreInItsOrder() {
        let closure: any Interceptor = .intercept { request, next in try await next(request) }
        let inner = InterceptorChain([closure], transport: stub)
        let group: any Interceptor = .group([closure, Mark(name: "b")])
        let chain = InterceptorChain([group, .when(.matching { _ in true }, [closure])], transport: inner)
        #expect(chain.names == "[intercept → Mark] → when [intercept] → intercept → StubTransport")
        #expect(InterceptorChain([], transport: stub).names == "StubTransport")
    }

    @Test func aRedirectInsideAnOriginsPartGetsNothingOfIt() async throws {
        struct Redirect: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                _ = try await next(request)
                return try await next(try HTTPRequest(string: "https://evil.example/"))
            }
        }
        let part: any Interceptor = .when(
            .origin("https://a.example"),
            [Redirect(), Mark(name: "key"), .group([Mark(name: "more")])]
        )
        #expect(try await paths([part]).down == [])
        #expect(stub.requests.map { $0.headers[values: "X-Path"] } == [["key", "more"], []])
    }

    @Test(arguments: [false, true])
    func aRedirectInsideAPartOfAnOriginsPartGetsNothingOfEither(hasJournal: Bool) async throws {
        struct Redirect: Interceptor {
            func intercept(_ request: HTTPRequest, next: Next) async throws -> HTTPResponse {
                _ = try await next(request)
                return try await next(try HTTPRequest(string: "https://evil.example/"))
            }
        }
        let all = RequestCondition.matching { _ in true }
        let inner: AnyInterceptor = .when(all, [Redirect(), Mark(name: "key"), .when(all, [Mark(name: "more")])])
        let part: AnyInterceptor = .when(.origin("https://a.example"), [.group([inner]), Mark(name: "last")])
        let chain = InterceptorChain([part], transport: stub, observer: hasJournal ? Journal() : nil)
        _ = try await chain.send(try HTTPRequest(string: "https://a.example/"))
        #expect(stub.requests.map { $0.headers[values: "X-Path"] } == [["key", "more", "last"], []])
    }
}
