import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsMiddlewares

/// `.standard(…)` is the first array of the article *The order of a chain*.
@Suite(.againstHanging) struct StandardChainTests {
    private let tokens = TokenStore { _ in throw CancellationError() }

    private struct Mark: Interceptor {
        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try await next(request)
        }
    }

    private func names(_ interceptors: [any Interceptor]) -> [String] {
        let chain = InterceptorChain(interceptors, transport: StubTransport())
        #expect(chain.findings == [])
        return chain.names.components(separatedBy: " → ").dropLast()
    }

    /// The names in the arrays of the article, in their order.
    private static func arrays() throws -> [[String]] {
        let file = Repository.root.appending(path: "Sources/Middlewares/Middlewares.docc/OrderOfAChain.md")
        return try String(contentsOf: file, encoding: .utf8).matches(of: /(?s)```swift\n\[\n(.*?)\n\]\n```/).map {
            array in
            array.1.matches(of: /(?m)^ {4}\.(\w+)/).map { String($0.1) }
        }
    }

    @Test func theChainIsTheFirstOfTheArticle() throws {
        let arrays = try Self.arrays()
        #expect(try names(.standard(tokens)) == #require(arrays.first))
        // The array of all interceptors has them in the same order.
        let chain = try #require(arrays.first)
        #expect(try #require(arrays.dropFirst().first).filter(chain.contains) == chain)
    }

    @Test func withoutTokensNobodySignsIn() {
        #expect(names(.standard()) == ["validateStatus", "followRedirects", "cache", "retry", "logging"])
    }

    @Test func otherCredentialsAreWhereTheTokenIs() {
        let chain = names(.standard(credentials: [.cookies(CookieJar())]))
        #expect(chain == ["validateStatus", "followRedirects", "cookies", "cache", "retry", "logging"])
    }

    @Test(arguments: ["validateStatus", "followRedirects", "cache", "retry", "logging"])
    func eachPartIsLeftOutOrReplaced(part: String) {
        func chain(_ new: (any Interceptor)?) -> [any Interceptor] {
            switch part {
            case "validateStatus": .standard(tokens, status: new)
            case "followRedirects": .standard(tokens, redirects: new)
            case "cache": .standard(tokens, cache: new)
            case "retry": .standard(tokens, retry: new)
            default: .standard(tokens, log: new)
            }
        }
        let usual = names(.standard(tokens))
        #expect(names(chain(nil)) == usual.filter { $0 != part })
        #expect(names(chain(Mark())) == usual.map { $0 == part ? "Mark" : $0 })
    }

    @Test func aTimeSourceIsThatOfEachPart() async throws {
        let clock = ManualClock()
        let stub = StubTransport(time: .manual(clock))
        let fresh: StubAnswer = .status(200, headers: [.cacheControl: "max-age=60"])
        stub.enqueue(.status(503, headers: [.retryAfter: "20"]), fresh, fresh)
        let chain: [any Interceptor] = .standard(tokens, time: .manual(clock))
        let client = Client(baseURL: apiURL, interceptors: chain, transport: stub)
        #expect(names(chain) == names(.standard(tokens)))
        try await clock.run { try await client.get("/me") }
        #expect(clock.now.elapsed == .seconds(20))
        // The wait before the second attempt counts as age (RFC 9111 §4.2.3).
        clock.advance(by: .seconds(39))
        try await client.get("/me")
        #expect(stub.requests.count == 2)
        clock.advance(by: .seconds(2))
        try await client.get("/me")
        #expect(stub.requests.count == 3)
    }

    @Test func aSignedInCallPassesTheWholeChain() async throws {
        let stub = StubTransport()
        stub.enqueue(.status(302, headers: [.location: "/users/42"]), .status(401), .status(503), .status(200))
        let held = TokenStore(TokenStore.Token("old")) { _ in TokenStore.Token("new") }
        let clock = ManualClock()
        let chain: [any Interceptor] = .standard(held, retry: .retry(maxAttempts: 3, time: .manual(clock)), log: nil)
        let client = Client(baseURL: apiURL, interceptors: chain, transport: stub)
        try await clock.run { try await client.get("/me") }
        #expect(
            stub.requests.map { $0.headers[.authorization] } == [
                "Bearer old", "Bearer old", "Bearer new", "Bearer new",
            ]
        )
    }
}
