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
        static var placement: Placement { [.addsCredentials(in: "X-Door")] }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            request.headerFields["X-Door"] = "open-sesame"
            return try await next(request)
        }
    }

    struct FieldsInterceptor: PlacedInterceptor {
        static var placement: Placement { [.outside(.signs)] }

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
            .note,
            wrong: [.retryOnUnauthorized(tokens), .intercept { request, next in try await next(request) }],
            right: [.retryOnUnauthorized(tokens), PassInterceptor()]
        ),
        Case(
            .renewalWithoutCredential,
            .note,
            wrong: [.retryOnUnauthorized(tokens), .headers { _ in [:] }],
            right: [.retryOnUnauthorized(tokens), .headers([.authorization: "Bearer a"])]
        ),
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
            .note,
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
            wrong: [.bearerAuth("t"), .logging(redaction: Redaction(sensitiveParts: [], sensitiveNames: []))],
            right: [.bearerAuth("t"), .logging()]
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
        #expect(finding.message == "cookies (1) is outside of followRedirects (2).")
        #expect(finding.remedy == "[.followRedirects(…), .cookies(…)]")
        let partition = try #require(Self.findings([.cache(.memory()), Self.digest]).first)
        #expect(partition.remedy.hasPrefix("[.digestAuth(…), .cache(…)], or name the account"))
    }
}
