import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

/// A wrong order of a rule in a running chain does harm, and the right one does none.
@Suite(.againstHanging) struct IdentityHarmTests {
    private let origins: Set<Origin> = [apiOrigin]

    private func tokens() -> TokenStore { TokenStore(.old, origins: origins) { _ in .new } }

    @Test func aRenewedTokenIsNotSentIfItIsAddedOutside() async throws {
        func status(_ order: (TokenStore) -> [any Interceptor]) async throws -> HTTPResponse.Status {
            try await InterceptorChain(order(tokens()), transport: TokenServer(accepting: ["new"])).get()
        }
        let wrong: (TokenStore) -> [any Interceptor] = { [.bearerAuth($0), .retryOnUnauthorized($0)] }
        let right: (TokenStore) -> [any Interceptor] = { [.retryOnUnauthorized($0), .bearerAuth($0)] }
        await #expect(throws: AuthenticationError.self) { _ = try await status(wrong) }
        #expect(try await status(right) == 200)
        expectFound(.credentialOutsideRenewal, wrong: wrong(tokens()), right: right(tokens()))
    }

    @Test func aRenewedTokenOfAnotherStoreIsNotSent() async throws {
        let (tokens, others) = (tokens(), tokens())
        let wrong: [any Interceptor] = [.retryOnUnauthorized(tokens), .bearerAuth(others)]
        let right: [any Interceptor] = [.retryOnUnauthorized(others), .bearerAuth(others)]
        #expect(try await InterceptorChain(wrong, transport: TokenServer(accepting: ["new"])).get() == 401)
        #expect(try await InterceptorChain(right, transport: TokenServer(accepting: ["new"])).get() == 200)
        expectFound(.renewalWithoutCredential, wrong: wrong, right: right)
    }

    @Test func anInnerTokenIsNeverSentAndItsRenewalDoesNotHelp() async throws {
        func order(_ tokens: TokenStore, _ constant: [any Interceptor]) -> [any Interceptor] {
            [.retryOnUnauthorized(tokens)] + constant + [.bearerAuth(tokens)]
        }
        let (wrong, right) = (order(tokens(), [.bearerAuth("old", for: apiOrigin)]), order(tokens(), []))
        #expect(try await InterceptorChain(wrong, transport: TokenServer(accepting: ["new"])).get() == 401)
        #expect(try await InterceptorChain(right, transport: TokenServer(accepting: ["new"])).get() == 200)
        expectFound(.credentialNeverSent, wrong: wrong, right: right)
    }

    @Test func aCacheOutsideOfTheTokenRefusesEachCall() async throws {
        let wrong: [any Interceptor] = [.cache(.memory()), .bearerAuth(tokens())]
        let right: [any Interceptor] = [.bearerAuth(tokens()), .cache(.memory())]
        await expectUnseenCaller {
            _ = try await InterceptorChain(wrong, transport: TokenServer(accepting: ["old"])).get()
        }
        #expect(try await InterceptorChain(right, transport: TokenServer(accepting: ["old"])).get() == 200)
        expectFound(.credentialInsideSharing, wrong: wrong, right: right)
    }

    @Test func theCookieOfARedirectIsNotSentToTheNextHop() async throws {
        let logIn: @Sendable (HTTPRequest) -> HTTPResponse = { request in
            guard request.url.path() == "/login" else {
                return HTTPResponse(status: request.headers.contains(.cookie) ? 200 : 403, url: request.url)
            }
            return HTTPResponse(
                status: 302,
                headers: [.location: "/home", .setCookie: "session=1; Path=/"],
                url: request.url
            )
        }
        let wrong: [any Interceptor] = [.cookies(), .followRedirects()]
        let right: [any Interceptor] = [.followRedirects(), .cookies()]
        let page = URL(string: "https://api.example.com/login")!
        #expect(try await InterceptorChain(wrong, transport: Recorder(logIn)).get(page) == 403)
        #expect(try await InterceptorChain(right, transport: Recorder(logIn)).get(page) == 200)
        expectFound(.cookiesOutsideRedirects, wrong: wrong, right: right)
    }

    @Test func aRedirectToAnotherOfTheTokensOriginsLosesTheToken() async throws {
        let (www, api) = (URL(string: "https://www.example.com/")!, apiURL)
        let server: @Sendable (HTTPRequest) -> HTTPResponse = { request in
            guard request.url.host() == "api.example.com" else {
                return HTTPResponse(
                    status: 307,
                    headers: [.location: "https://api.example.com/users/42"],
                    url: request.url
                )
            }
            return HTTPResponse(status: request.headers[.authorization] == "Bearer t" ? 200 : 401)
        }
        let auth: AnyInterceptor = .bearerAuth("t", for: Origin(www)!, Origin(api)!)
        let wrong: [any Interceptor] = [auth, .followRedirects()]
        let right: [any Interceptor] = [.followRedirects(), auth]
        #expect(try await InterceptorChain(wrong, transport: Recorder(server)).get(www) == 401)
        #expect(try await InterceptorChain(right, transport: Recorder(server)).get(www) == 200)
        expectFound(.credentialOutsideRedirects, wrong: wrong, right: right)
    }

    /// The values of a field that each of two hosts gets; the first host redirects to the second.
    private func values(_ name: HTTPField.Name, _ interceptors: [any Interceptor]) async throws -> [String?] {
        let other = "https://other.example.com/"
        let server = Recorder { request in
            request.url.host() == "api.example.com"
                ? HTTPResponse(status: 307, headers: [.location: other], url: request.url)
                : HTTPResponse(status: 200, url: request.url)
        }
        _ = try await InterceptorChain(interceptors, transport: server).get()
        return server.requests.map { $0.headers[name] }
    }

    @Test func aKeyInHeadersInsideRedirectsIsSentToTheOtherHost() async throws {
        let wrong: [any Interceptor] = [.followRedirects(), .headers(["X-API-Key": "k"])]
        let right: [any Interceptor] = [
            .followRedirects(), .when(.origin(apiOrigin), [.headers(["X-API-Key": "k"])]),
        ]
        #expect(try await values("X-API-Key", wrong) == ["k", "k"])
        #expect(try await values("X-API-Key", right) == ["k", nil])
        expectFound(.credentialSentToOtherHost, wrong: wrong, right: right)
    }

    @Test func anUnknownFieldOutsideRedirectsIsSentToTheOtherHost() async throws {
        let pass = ChainRulesTests.PassInterceptor()
        let wrong: [any Interceptor] = [pass, .followRedirects()]
        let right: [any Interceptor] = [pass, .followRedirects(redaction: .standard.adding(names: ["X-Door"]))]
        #expect(try await values("X-Door", wrong) == ["open-sesame", "open-sesame"])
        #expect(try await values("X-Door", right) == ["open-sesame", nil])
        expectFound(.credentialSentToOtherHost, wrong: wrong, right: right)
    }

    @Test func aPartitionOfAnotherStoreSharesTheResponsesOfTwoUsers() async throws {
        let ada = TokenStore(.init("a", account: "ada"), origins: []) { _ in .new }
        let others = tokens()
        let cache = { AnyInterceptor.cache(.memory()) }
        let server = Recorder { request in
            HTTPResponse(
                status: 200,
                headers: [.cacheControl: "max-age=600", "X-Token": request.headers[.authorization] ?? ""],
                url: request.url
            )
        }
        let wrong: [any Interceptor] = [.partition(by: ada), cache(), .bearerAuth(ada), .bearerAuth(others)]
        let right: [any Interceptor] = [.partition(by: others), cache(), .bearerAuth(others)]
        let chain = InterceptorChain(wrong, transport: server)
        let first = try await chain.send(HTTPRequest(url: apiURL)).headers["X-Token"]
        others.signIn(.init("bob"))
        let second = try await chain.send(HTTPRequest(url: apiURL)).headers["X-Token"]
        #expect(first == second)
        expectFound(.credentialInsideSharing, wrong: wrong, right: right)
    }

    @Test func aSignatureOutsideACacheNeverFindsAStoredResponse() async throws {
        let numbers = Tally()
        let sign: AnyInterceptor = .sign(origins: [apiOrigin]) { request, _ in
            request.headers["X-Signature"] = "\(numbers.count())"
        }
        func requests(_ interceptors: [any Interceptor], _ context: HTTPContext = HTTPContext()) async throws -> Int {
            let server = Recorder { request in
                HTTPResponse(status: 200, headers: [.cacheControl: "max-age=600"], url: request.url)
            }
            let chain = InterceptorChain(interceptors, transport: server)
            for _ in 0..<2 { _ = try await chain.send(HTTPRequest(url: apiURL, context: context)) }
            return server.requests.count
        }
        #expect(try await requests([sign, .cache(.memory())]) == 2)
        #expect(try await requests([.cache(.memory()), sign], .with(\.cachePartition, "ada")) == 1)
        expectFound(
            .signatureOutsideSharing,
            wrong: [sign, .cache(.memory())],
            right: [.partition(by: tokens()), .cache(.memory()), sign]
        )
    }

    @Test func aRejectedTokenIsSentAgainBeforeItIsRenewed() async throws {
        func sent(_ condition: OutcomeCondition) async throws -> [String] {
            let server = TokenServer(accepting: ["new"])
            let chain = InterceptorChain(order(condition), transport: server)
            #expect(try await chain.get() == 200)
            return server.authorizations
        }
        func order(_ condition: OutcomeCondition) -> [any Interceptor] {
            let tokens = tokens()
            return [
                .retryOnUnauthorized(tokens), .bearerAuth(tokens),
                .retry(.constant(.zero, maxAttempts: 3, condition: condition)),
            ]
        }
        #expect(try await sent(.status(401)) == ["Bearer old", "Bearer old", "Bearer old", "Bearer new"])
        #expect(try await sent(.temporaryFailure) == ["Bearer old", "Bearer new"])
        expectFound(.rejectedTokenRetried, wrong: order(.status(401)), right: order(.temporaryFailure))
    }

    @Test func aSecretFieldThatIsUnknownToTheRedactionIsLogged() async throws {
        func log(_ redaction: Redaction) async throws -> (interceptors: [any Interceptor], text: String) {
            let entries = Notes<String>()
            let interceptors: [any Interceptor] = [
                ChainRulesTests.PassInterceptor(),
                .logging(.headers, to: LogSink { entries.add($0.text) }, redaction: redaction),
            ]
            _ = try await InterceptorChain(interceptors, transport: Recorder()).get()
            return (interceptors, entries.all.joined())
        }
        let wrong = try await log(.standard)
        let right = try await log(.standard.adding(names: ["X-Door"]))
        #expect(wrong.text.contains("open-sesame"))
        #expect(right.text.contains("X-Door") && !right.text.contains("open-sesame"))
        expectFound(.secretInLog, wrong: wrong.interceptors, right: right.interceptors)
    }
}

/// A wrong order of what a signature covers, in a running chain.
@Suite(.againstHanging) struct SigningHarmTests {
    /// Signs the content, the URL and all fields, and adds a number that is used once.
    private let sign: AnyInterceptor = {
        let numbers = Tally()
        return .sign(origins: [apiOrigin]) { request, _ in
            request.headers["X-Number"] = "\(numbers.count())"
            request.headers["X-Signature"] = try await Self.signature(of: request)
        }
    }()

    private static func signature(of request: HTTPRequest) async throws -> String {
        let fields = request.headers.filter { $0.name != "X-Signature" }.map { "\($0.name.rawName)=\($0.value)" }
        let body = try await request.body.collect(upTo: 1 << 20).base64EncodedString()
        return ([request.url.absoluteString, body] + fields.sorted()).joined(separator: " ")
            .replacing("\n", with: "")
    }

    /// Refuses a request that isn't signed as it arrived, or whose number was used before. Fails the first request that
    /// is signed, and redirects from `/old`.
    private func server(failingFirst: Bool = false) -> Recorder {
        let (numbers, failures) = (Notes<String>(), Tally())
        return Recorder { request in
            let number = request.headers["X-Number"] ?? ""
            guard request.headers["X-Signature"] == (try await Self.signature(of: request)),
                !numbers.all.contains(number)
            else { return HTTPResponse(status: 403) }
            numbers.add(number)
            if failingFirst, failures.count() == 1 { return HTTPResponse(status: 503) }
            if request.url.path() == "/old" {
                return HTTPResponse(status: 308, headers: [.location: "/new"], url: request.url)
            }
            return HTTPResponse(status: 200)
        }
    }

    private func status(
        _ interceptors: [any Interceptor],
        path: String = "new",
        failingFirst: Bool = false
    ) async throws -> HTTPResponse.Status {
        let request = HTTPRequest(
            method: .put,
            url: URL(string: "https://api.example.com/\(path)")!,
            body: HTTPBody(Data(repeating: 0x20, count: 4096))
        )
        let chain = InterceptorChain(interceptors, transport: server(failingFirst: failingFirst))
        return try await chain.send(request).status
    }

    @Test func contentThatIsCompressedAfterSigningIsRefused() async throws {
        let wrong: [any Interceptor] = [sign, .compressRequest()]
        let right: [any Interceptor] = [.compressRequest(), sign]
        #expect(try await status(wrong) == 403)
        #expect(try await status(right) == 200)
        expectFound(.contentChangedAfterSigning, wrong: wrong, right: right)
    }

    @Test func aFieldThatIsAddedAfterSigningIsNotCovered() async throws {
        let wrong: [any Interceptor] = [sign, .headers([.acceptLanguage: "en"])]
        let right: [any Interceptor] = [.headers([.acceptLanguage: "en"]), sign]
        #expect(try await status(wrong) == 403)
        #expect(try await status(right) == 200)
        expectFound(.fieldsChangedAfterSigning, wrong: wrong, right: right)
    }

    @Test func aRetriedRequestWithTheOldSignatureIsRefused() async throws {
        let retry: AnyInterceptor = .retry(.constant(.zero, maxAttempts: 2))
        #expect(try await status([sign, retry], failingFirst: true) == 403)
        #expect(try await status([retry, sign], failingFirst: true) == 200)
        expectFound(.resentWithOldSignature, wrong: [sign, retry], right: [retry, sign])
    }

    @Test func aRedirectedRequestWithTheOldSignatureIsRefused() async throws {
        #expect(try await status([sign, .followRedirects()], path: "old") == 403)
        #expect(try await status([.followRedirects(), sign], path: "old") == 200)
        expectFound(.resentWithOldSignature, wrong: [sign, .followRedirects()], right: [.followRedirects(), sign])
    }

    @Test func aDigestOfContentThatIsCompressedLaterIsRefused() async throws {
        func status(_ order: (AnyInterceptor) -> [any Interceptor]) async throws -> HTTPResponse.Status {
            let interceptors = order(.digestAuth(username: "u", password: "p", origins: [apiOrigin]))
            let chain = InterceptorChain(interceptors, transport: DigestServer(qop: "auth-int"))
            let body = HTTPBody(Data(repeating: 0x20, count: 4096))
            return try await chain.send(HTTPRequest(method: .put, url: apiURL, body: body)).status
        }
        let wrong: (AnyInterceptor) -> [any Interceptor] = { [$0, .compressRequest()] }
        let right: (AnyInterceptor) -> [any Interceptor] = { [.compressRequest(), $0] }
        #expect(try await status(wrong) == 401)
        #expect(try await status(right) == 200)
        let digest: AnyInterceptor = .digestAuth(username: "u", password: "p")
        expectFound(.placement, wrong: wrong(digest), right: right(digest))
    }
}

/// Expects a finding of a rule in the wrong order, and none in the right one.
func expectFound(
    _ rule: ChainRule,
    wrong: [any Interceptor],
    right: [any Interceptor],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let chains = [wrong, right].map { InterceptorChain($0, transport: Recorder()) }
    let rules = chains.map { Set(($0.findings + $0.notes).map(\.rule)) }
    #expect(rules[0].contains(rule), sourceLocation: sourceLocation)
    #expect(!rules[1].contains(rule), sourceLocation: sourceLocation)
}
