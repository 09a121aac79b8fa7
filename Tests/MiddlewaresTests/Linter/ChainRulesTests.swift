import Foundation
import TestSupport
import Testing

@testable import Interceptors
@testable import Middlewares

/// Each rule finds its wrong order, and nothing in the right one.
@Suite(.againstHanging) struct ChainRulesTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let rule: ChainRule
        let severity: ChainFinding.Severity
        let wrong: [any Interceptor]
        let right: [any Interceptor]
        var testDescription: String { "\(rule): \(InterceptorChain(wrong, transport: StubTransport()).names)" }

        init(
            _ rule: ChainRule,
            _ severity: ChainFinding.Severity,
            wrong: [any Interceptor],
            right: [any Interceptor]
        ) {
            self.rule = rule
            self.severity = severity
            self.wrong = wrong
            self.right = right
        }
    }

    /// Adds a credential in a field that no redaction knows by itself.
    struct PassInterceptor: PlacedInterceptor {
        var placement: Placement { [.addsCredentials(in: "X-Door")] }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            request.headerFields["X-Door"] = "open-sesame"
            return try await next(request)
        }
    }

    struct FieldsInterceptor: PlacedInterceptor {
        var placement: Placement { [.outside(.signs)] }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try await next(request)
        }
    }

    static let tokens = TokenStore { _ in throw CancellationError() }
    static let otherTokens = TokenStore { _ in throw CancellationError() }
    private static let sign: AnyInterceptor = .sign(identifiesCaller: false) { _, _ in }
    private static let personalSign: AnyInterceptor = .sign { _, _ in }
    private static let digest: AnyInterceptor = .digestAuth(username: "ada", password: "x")
    private static let relogin: AnyInterceptor = .retryOnUnauthorized {}
    private static let minute: Duration = .seconds(60)

    static let cases: [Case] = identity + resending + responses

    private static let identity: [Case] = [
        Case(
            .credentialOutsideRenewal,
            .broken,
            wrong: [.bearerAuth(tokens), .retryOnUnauthorized(tokens)],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        ),
        Case(
            .credentialOutsideRenewal,
            .broken,
            wrong: [.bearerAuth(tokens), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .bearerAuth(tokens)]
        ),
        Case(.credentialOutsideRenewal, .broken, wrong: [.cookies(), relogin], right: [relogin, .cookies()]),
        Case(
            .renewalWithoutCredential,
            .broken,
            wrong: [.retryOnUnauthorized(tokens)],
            right: [.retryOnUnauthorized(tokens), .when(.origin("https://a.example"), [.bearerAuth(tokens)])]
        ),
        Case(
            .renewalWithoutCredential,
            .broken,
            wrong: [.retryOnUnauthorized(tokens), .bearerAuth(otherTokens)],
            right: [.cookies(), .retryOnUnauthorized(tokens), .bearerAuth(tokens)]
        ),
        Case(
            .renewalWithoutCredential,
            .doubtful,
            wrong: [.retryOnUnauthorized(tokens), .intercept { request, next in try await next(request) }],
            right: [.retryOnUnauthorized(tokens), PassInterceptor()]
        ),
        Case(
            .renewalWithoutCredential,
            .note,
            wrong: [relogin, .headers { _ in [:] }],
            right: [relogin, .cookies()]
        ),
        Case(
            .renewalWithoutCredential,
            .broken,
            wrong: [.retryOnUnauthorized(tokens), .headers([.authorization: "Bearer a"])],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .headers(["X-API-Key": "k"])]
        ),
        Case(
            .renewalWithoutCredential,
            .broken,
            wrong: [.retryOnUnauthorized(tokens), personalSign],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), personalSign]
        ),
        Case(
            .credentialOutsideRenewal,
            .broken,
            wrong: [.cookies(), relogin, .headers(["X-API-Key": "k"])],
            right: [relogin, .cookies(), .headers(["X-API-Key": "k"])]
        ),
        Case(
            .credentialSentToOtherHost,
            .broken,
            wrong: [.followRedirects(), .headers(["X-API-Key": "k"])],
            right: [.followRedirects(), .when(.origin("https://a.example"), [.headers(["X-API-Key": "k"])])]
        ),
        Case(
            .credentialSentToOtherHost,
            .broken,
            wrong: [.followRedirects(), .headers(forced: [.authorization: "Bearer k"])],
            right: [.followRedirects(), .bearerAuth("k"), .headers([.accept: "*/*"])]
        ),
        Case(
            .credentialSentToOtherHost,
            .doubtful,
            wrong: [.followRedirects(), .when(.matching { $0.method == .get }, [.headers(["X-API-Key": "k"])])],
            right: [.headers(["X-API-Key": "k"]), .followRedirects()]
        ),
        Case(
            .credentialSentToOtherHost,
            .broken,
            wrong: [PassInterceptor(), .followRedirects()],
            right: [PassInterceptor(), .followRedirects(redaction: .standard.adding(names: ["X-Door"]))]
        ),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [.partition(by: tokens), .cache(.memory()), .bearerAuth(tokens), .bearerAuth(otherTokens)],
            right: [
                .when(.origin("https://a.example"), [.partition(by: tokens)]),
                .when(.origin("https://b.example"), [.partition(by: otherTokens)]),
                .cache(.memory()), .bearerAuth(tokens), .bearerAuth(otherTokens),
            ]
        ),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [.partition(by: tokens), .bearerAuth(tokens), .bearerAuth(otherTokens), .cache(.memory())],
            right: [.bearerAuth(tokens), .bearerAuth(otherTokens), .cache(.memory())]
        ),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [
                .when(.origin("https://a.example"), [.partition(by: tokens)]), .cache(.memory()),
                .bearerAuth(tokens), .bearerAuth(otherTokens),
            ],
            right: [
                .when(.origin("https://a.example"), [.partition(by: tokens)]), .cache(.memory()),
                .bearerAuth(tokens), .when(.origin("https://a.example"), [.cookies()]),
            ]
        ),
        Case(
            .signatureOutsideSharing,
            .doubtful,
            wrong: [personalSign, .cache(.memory())],
            right: [.partition(by: tokens), .cache(.memory()), personalSign]
        ),
        Case(.signatureOutsideSharing, .doubtful, wrong: [sign, .cache(.memory())], right: [sign, .coalesce()]),
        Case(.signatureOutsideSharing, .doubtful, wrong: [digest, .coalesce()], right: [.coalesce(), sign]),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [.cache(.memory()), .bearerAuth(tokens)],
            right: [.partition(by: tokens), .cache(.memory()), .bearerAuth(tokens)]
        ),
        Case(.credentialInsideSharing, .broken, wrong: [.coalesce(), .cookies()], right: [.cookies(), .coalesce()]),
        Case(.credentialInsideSharing, .broken, wrong: [.coalesce(), digest], right: [digest, .coalesce()]),
        Case(.credentialInsideSharing, .broken, wrong: [.coalesce(), personalSign], right: [.coalesce(), sign]),
        Case(
            .credentialInsideSharing,
            .broken,
            wrong: [.cache(.memory()), .headers(["X-API-Key": "k"])],
            right: [.cache(.memory()), .headers(["Accept": "k"])]
        ),
        Case(
            .credentialInsideSharing,
            .doubtful,
            wrong: [.intercept { request, next in try await next(request) }, .cache(.memory()), .cookies()],
            right: [.intercept { request, next in try await next(request) }, .cookies(), .cache(.memory())]
        ),
        Case(
            .cookiesOutsideRedirects,
            .broken,
            wrong: [.cookies(), .followRedirects()],
            right: [.followRedirects(), .cookies()]
        ),
        Case(
            .credentialOutsideRedirects,
            .doubtful,
            wrong: [.bearerAuth("token"), .followRedirects()],
            right: [.followRedirects(), .bearerAuth("token")]
        ),
        Case(
            .rejectedTokenRetried,
            .doubtful,
            wrong: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(3, when: .status(401))],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .retry(3)]
        ),
        Case(
            .contentChangedAfterSigning,
            .broken,
            wrong: [sign, .compressRequest()],
            right: [.compressRequest(), sign]
        ),
        Case(.fieldsChangedAfterSigning, .doubtful, wrong: [sign, .transactionID()], right: [.transactionID(), sign]),
        Case(.fieldsChangedAfterSigning, .doubtful, wrong: [sign, .tracing()], right: [.tracing(), sign]),
        Case(.fieldsChangedAfterSigning, .doubtful, wrong: [sign, .headers([:])], right: [.headers([:]), sign]),
        Case(.fieldsChangedAfterSigning, .doubtful, wrong: [sign, .cookies()], right: [.cookies(), sign]),
        Case(.resentWithOldSignature, .doubtful, wrong: [sign, .retry()], right: [.retry(), sign]),
        Case(
            .resentWithOldSignature,
            .doubtful,
            wrong: [sign, .followRedirects()],
            right: [.followRedirects(), sign]
        ),
        Case(.placement, .doubtful, wrong: [sign, FieldsInterceptor()], right: [FieldsInterceptor(), sign]),
        Case(.placement, .doubtful, wrong: [digest, .compressRequest()], right: [.compressRequest(), digest]),
    ]

    private static let resending: [Case] = [
        Case(.retryInsideRetry, .doubtful, wrong: [.retry(), .group([.retry()])], right: [.retry()]),
        Case(
            .retryInsideRetry,
            .doubtful,
            wrong: [.retry(3, when: .code(.connectionLost)), .retry(3)],
            right: [.retry(3)]
        ),
        Case(
            .retryInsideRetry,
            .note,
            wrong: [.retry(3, when: .status(409)), .retry(3)],
            right: [.retry(3, when: .temporaryFailure || .status(409))]
        ),
        Case(
            .retryInsideRetry,
            .note,
            wrong: [.retry(3, when: .error(CancellationError.self)), .retry(3)],
            right: [.retry(3)]
        ),
        Case(
            .retryInsideRetry,
            .note,
            wrong: [
                .when(.matching { $0.method == .get }, [.retry(5)]),
                .when(.matching { $0.method == .post }, [.retry(2)]),
            ],
            right: [.when(.matching { $0.method == .get }, [.retry(5)])]
        ),
        Case(
            .breakerOutsideRetry,
            .doubtful,
            wrong: [.circuitBreaker(), .retry()],
            right: [.retry(), .circuitBreaker()]
        ),
        Case(
            .hedgeOutsideRetry,
            .doubtful,
            wrong: [.hedge(after: minute), .retry()],
            right: [.retry(), .hedge(after: minute)]
        ),
        Case(
            .limitOutsideRetry,
            .doubtful,
            wrong: [.rateLimit(1, per: minute), .retry()],
            right: [.retry(), .rateLimit(1, per: minute)]
        ),
        Case(
            .limitOutsideRetry,
            .doubtful,
            wrong: [.limitConcurrency(1), .retry()],
            right: [.retry(), .limitConcurrency(1)]
        ),
        Case(
            .limitOutsideHedge,
            .doubtful,
            wrong: [.limitConcurrency(1), .hedge(after: minute)],
            right: [.hedge(after: minute), .limitConcurrency(1)]
        ),
        Case(
            .limitOutsideCache,
            .doubtful,
            wrong: [.rateLimit(1, per: minute), .cache(.memory())],
            right: [.cache(.memory()), .rateLimit(1, per: minute)]
        ),
        Case(
            .limitOutsideCache,
            .doubtful,
            wrong: [.circuitBreaker(), .cache(.memory())],
            right: [.cache(.memory()), .circuitBreaker()]
        ),
        Case(
            .permitHeldDuringRenewal,
            .doubtful,
            wrong: [.limitConcurrency(1), .retryOnUnauthorized(tokens), .bearerAuth(tokens)],
            right: [.retryOnUnauthorized(tokens), .bearerAuth(tokens), .limitConcurrency(1)]
        ),
        Case(
            .permitHeldDuringRenewal,
            .doubtful,
            wrong: [.limitConcurrency(1), .bearerAuth(tokens)],
            right: [.limitConcurrency(1), .bearerAuth("token")]
        ),
        Case(
            .timeoutNeverActs,
            .doubtful,
            wrong: [.timeout(.seconds(10)), .retry(), .timeout(.seconds(30))],
            right: [.timeout(.seconds(30)), .retry(), .timeout(.seconds(10))]
        ),
        Case(
            .timeoutNeverActs,
            .doubtful,
            wrong: [.timeout(.seconds(30)), .headers([:]), .timeout(.seconds(10))],
            right: [.timeout(.seconds(30)), .when(.matching { $0.method == .get }, [.timeout(.seconds(10))])]
        ),
        Case(
            .timeoutNeverActs,
            .doubtful,
            wrong: [.timeout(.seconds(1)), .timeout()],
            right: [.timeout(), .timeout(.seconds(1))]
        ),
        Case(
            .timeoutNeverActs,
            .doubtful,
            wrong: [.timeout(.seconds(30)), .metrics { _ in }, .timeout(.seconds(10))],
            right: [.timeout(.seconds(30)), sign, .timeout(.seconds(10))]
        ),
        Case(
            .timeoutNeverActs,
            .doubtful,
            wrong: [.timeout(.seconds(10)), .timeout(.seconds(10))],
            right: [.timeout(.seconds(30)), .validateStatus(), .timeout(.seconds(10))]
        ),
    ]

    private static let responses: [Case] = [
        Case(
            .statusJudgedTooEarly,
            .broken,
            wrong: [.followRedirects(), .validateStatus()],
            right: [.validateStatus(), .followRedirects()]
        ),
        Case(
            .statusJudgedInsideCache,
            .doubtful,
            wrong: [.cache(.memory()), .validateStatus()],
            right: [.validateStatus(), .cache(.memory())]
        ),
        Case(
            .statusJudgedTooEarly,
            .broken,
            wrong: [.followRedirects(), .validateStatus([200, 404])],
            right: [.followRedirects(), .validateStatus(200..<400)]
        ),
        Case(
            .statusJudgedTooEarly,
            .doubtful,
            wrong: [digest, .validateStatus { $0.status.kind != .serverError }],
            right: [.validateStatus { $0.status.kind != .serverError }, digest]
        ),
        Case(
            .statusJudgedTooEarly,
            .broken,
            wrong: [digest, .validateStatus(200..<400)],
            right: [digest, .validateStatus(200..<500)]
        ),
        Case(
            .statusJudgedInsideCache,
            .doubtful,
            wrong: [.cache(.memory()), .validateStatus(200..<300)],
            right: [.cache(.memory()), .validateStatus(200..<500)]
        ),
        Case(
            .cookiesLostInError,
            .doubtful,
            wrong: [.cookies(), .validateStatus()],
            right: [.validateStatus(), .cookies()]
        ),
        Case(.statusJudgedTooEarly, .broken, wrong: [digest, .validateStatus()], right: [.validateStatus(), digest]),
        Case(
            .contentChangedInsideCache,
            .doubtful,
            wrong: [.cache(.memory()), .unwrapEnvelope(payload: "data")],
            right: [.unwrapEnvelope(payload: "data"), .cache(.memory())]
        ),
        Case(.cacheInsideCache, .doubtful, wrong: [.cache(.memory()), .cache(.memory())], right: [.cache(.memory())]),
        Case(
            .secretInLog,
            .broken,
            wrong: [PassInterceptor(), .logging(.headers)],
            right: [PassInterceptor(), .logging(.headers, redaction: .standard.adding(names: ["X-Door"]))]
        ),
        Case(
            .secretInLog,
            .broken,
            wrong: [
                .bearerAuth("t"), .logging(.headers, redaction: Redaction(sensitiveParts: [], sensitiveNames: [])),
            ],
            right: [.bearerAuth("t"), .logging(.headers)]
        ),
        Case(
            .secretInLog,
            .broken,
            wrong: [PassInterceptor(), .logging(curl: true)],
            right: [PassInterceptor(), .logging()]
        ),
        Case(.loggedTwice, .note, wrong: [.logging(), .logging()], right: [.logging(), .retry(), .logging()]),
        Case(.attemptsNotLogged, .note, wrong: [.logging(), .retry()], right: [.retry(), .logging()]),
        Case(.redirectsNotFollowed, .note, wrong: [.retry()], right: [.retry(), .followRedirects()]),
        Case(.noEffect, .doubtful, wrong: [.limitConcurrency()], right: [.limitConcurrency(perHost: 6)]),
    ]

    private static func findings(_ interceptors: [any Interceptor]) -> [ChainFinding] {
        let chain = InterceptorChain(interceptors, transport: StubTransport())
        return chain.findings + chain.notes
    }

    @Test(arguments: cases) func theWrongOrderIsFoundAndTheRightOneIsNot(_ order: Case) throws {
        let wrong = Self.findings(order.wrong).filter { $0.rule == order.rule }
        #expect(!wrong.isEmpty)
        for finding in wrong {
            #expect(finding.severity == order.severity)
            #expect(!finding.harm.isEmpty && !finding.remedy.isEmpty)
        }
        let other = Self.findings(order.right).filter { $0.rule == order.rule || $0.severity == .broken }
        #expect(other == [], "\(other)")
    }

    @Test func eachRuleHasACase() {
        #expect(Set(Self.cases.map(\.rule)) == Set(ChainRuleDefinition.all.map(\.rule)))
    }

    @Test func everyInterceptorDeclaresItsPlace() {
        let chain = InterceptorChain(
            Self.cases.flatMap { $0.right } + [
                .metrics { _ in }, .latestWins(), .partition(by: Self.tokens),
                .tracing(to: SpanReporter(begin: { _ in }, end: { _, _ in })),
            ],
            transport: StubTransport()
        )
        let unjudged = LintedChain(chain).elements.filter { $0.placement == nil }
        #expect(Set(unjudged.map(\.name)) == ["intercept"])
    }

    @Test func aFindingShowsTheRightOrderAsCode() throws {
        let finding = try #require(Self.findings([.cookies(), .followRedirects()]).first)
        #expect(finding.message == "cookies (1) is outside followRedirects (2).")
        #expect(finding.remedy == "[.followRedirects(…), .cookies(…)]")
        let partition = try #require(Self.findings([.cache(.memory()), Self.digest]).first)
        #expect(partition.remedy.hasPrefix("[.partition(by: …), .cache(…), .digestAuth(…)], or name the account"))
    }

    @Test func theRemedyForACredentialInACacheIsTheOppositeOrderOrAPartition() throws {
        let finding = try #require(Self.findings([.cache(.memory()), .cookies()]).first)
        #expect(finding.remedy.hasPrefix("[.cookies(…), .cache(…)], or [.partition(by: …), .cache(…), .cookies(…)]"))
    }

    @Test func theFindingAboutTimeoutsNamesTheirLimits() throws {
        func finding(_ interceptors: [any Interceptor]) throws -> ChainFinding {
            try #require(Self.findings(interceptors).first { $0.rule == .timeoutNeverActs })
        }
        let inner = try finding([.timeout(.seconds(10)), .retry(), .timeout(.milliseconds(30_500))])
        #expect(inner.message == "timeout (3) never acts: 30.5 seconds isn't below the 10.0 seconds of timeout (1).")
        #expect(inner.remedy == "[.timeout(.seconds(30.5)), …, .timeout(.seconds(10))], the longer limit outside")
        #expect(inner.harm.contains("retried"))
        let outer = try finding([.timeout(.seconds(30)), .headers([:]), .timeout(.seconds(10))])
        #expect(outer.remedy == "the chain without timeout (1)")
        #expect(!outer.harm.contains("retried"))
        #expect(try finding([.timeout(.seconds(1)), .timeout()]).remedy == "the chain without timeout (2)")
    }

    @Test func theHarmIsThatOfTheElements() throws {
        func harm(_ rule: ChainRule, _ interceptors: [any Interceptor]) throws -> String {
            try #require(Self.findings(interceptors).first { $0.rule == rule }).harm
        }
        #expect(try harm(.limitOutsideRetry, [.limitConcurrency(1), .retry()]).contains("permit"))
        #expect(try harm(.limitOutsideRetry, [.rateLimit(1, per: Self.minute), .retry()]).contains("300 requests"))
        let revalidation: [any Interceptor] = [.cache(.memory()), .validateStatus(200..<300)]
        #expect(try harm(.statusJudgedInsideCache, revalidation).contains("revalidation"))
        #expect(
            try harm(.credentialOutsideRenewal, [.cookies(), Self.relogin]).hasPrefix("When the credential expires")
        )
        let stored: [any Interceptor] = [.bearerAuth(Self.tokens), .retryOnUnauthorized(Self.tokens)]
        #expect(try harm(.credentialOutsideRenewal, stored).hasPrefix("Each call fails"))
    }

    @Test func aBreakerOutsideAHedgeIsNoFault() {
        #expect(
            !Self.findings([.circuitBreaker(), .hedge(after: Self.minute)]).contains { $0.rule == .limitOutsideHedge }
        )
    }
}
