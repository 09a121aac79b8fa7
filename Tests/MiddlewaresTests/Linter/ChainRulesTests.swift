import Foundation
import InterceptorsAuthentication
import InterceptorsTestSupport
import InterceptorsTesting
import InterceptorsTraffic
import Testing

@testable import InterceptorsCore
@testable import InterceptorsMiddlewares

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
        var placement: [ChainRole] { [.addsCredentials(in: "X-Door")] }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            request.headers["X-Door"] = "open-sesame"
            return try await next(request)
        }
    }

    struct FieldsInterceptor: PlacedInterceptor {
        var placement: [ChainRole] { [.outside(.signs)] }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try await next(request)
        }
    }

    static let tokens = TokenStore { _ in throw CancellationError() }
    static let otherTokens = TokenStore(origins: [Origin(URL(string: "https://b.example")!)!]) { _ in
        throw CancellationError()
    }
    static let tokensOfA = TokenStore(origins: [Origin(URL(string: "https://a.example")!)!]) { _ in
        throw CancellationError()
    }
    static let sign: AnyInterceptor = .sign(identifiesCaller: false) { _, _ in }
    static let personalSign: AnyInterceptor = .sign { _, _ in }
    static let digest: AnyInterceptor = .digestAuth(username: "ada", password: "x")
    static let relogin: AnyInterceptor = .retryOnUnauthorized {}
    static let minute: Duration = .seconds(60)

    static let cases: [Case] = identity + resending + responses

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

    /// A misspelt name would judge nothing.
    @Test func theTableNamesOnlyWhatExists() {
        let interceptors = Self.cases.flatMap { $0.wrong + $0.right }
        let elements = LintedChain(InterceptorChain(interceptors, transport: StubTransport())).elements
        let roles = Set(elements.flatMap(\.roles))
        let counts = ["order": 2, "apart": 2, "alone": 1, "missing": 1]
        let faults = ChainRuleDefinition.all.flatMap(\.faults)
        for fault in faults {
            #expect(fault.roles.count == counts[fault.kind], "\(fault)")
            let words = fault.roles.joined().filter { $0 != "!" }
            let names = words.map { $0.hasPrefix("-") ? String($0.dropFirst()) : $0 }
            #expect(roles.isSuperset(of: names), "\(fault)")
        }
        #expect(Set(faults.compactMap(\.condition)) == Set(ChainRuleDefinition.conditions.keys))
    }

    /// A reason may hold the marks of the table.
    @Test func theTextOfAnAuthorStaysAsItIs() throws {
        let reason = "See #1, @1, <1> and *."
        let late: AnyInterceptor = .intercept("late", placement: [.outside(.signs, because: reason)]) {
            try await $1($0)
        }
        let finding = try #require(Self.findings([Self.sign, late]).first { $0.rule == .placement })
        #expect(finding.harm == reason)
        let marked: AnyInterceptor = .intercept("GET * #2", placement: [.outside(.signs, because: reason)]) {
            try await $1($0)
        }
        let named = try #require(Self.findings([Self.sign, marked]).first { $0.rule == .placement })
        #expect(named.message.contains("GET * #2") && !named.message.contains(reason))
    }

    @Test func eachFieldThatALogShowsIsNamed() throws {
        let element: AnyInterceptor = .intercept("doors", placement: [.addsCredentials(in: "X-Door", "X-Hall")]) {
            try await $1($0)
        }
        let finding = try #require(Self.findings([element, .logging(.headers)]).first { $0.rule == .secretInLog })
        #expect(finding.message.contains("shows the field X-Door, X-Hall, in which"))
        #expect(finding.remedy.contains(#".adding(names: ["X-Door", "X-Hall"])"#))
    }

    @Test func everyInterceptorDeclaresItsPlace() {
        let chain = InterceptorChain(
            Self.cases.flatMap { $0.right } + [
                .metrics { _ in }, .cancelPrevious(), .partition(by: Self.tokens),
                .tracing(begin: { _ in }, end: { _, _, _ in }),
            ],
            transport: StubTransport()
        )
        let unjudged = LintedChain(chain).elements.filter { !$0.isJudged }
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

    @Test func theRemedyForTimeoutsNamesTheirLimits() throws {
        let chain: [any Interceptor] = [.timeout(.seconds(10)), .retry(), .timeout(.milliseconds(30_500))]
        let finding = try #require(Self.findings(chain).first { $0.rule == .timeoutNeverActs })
        #expect(finding.message == "timeout (3) never acts, because its limit isn't below that of timeout (1).")
        #expect(finding.remedy == "[.timeout(.seconds(30.5)), …, .timeout(.seconds(10))], the longer limit outside")
        #expect(finding.harm.contains("retried"))
        let equal: [any Interceptor] = [.timeout(.seconds(10)), .timeout(.seconds(10))]
        let second = try #require(Self.findings(equal).first { $0.rule == .timeoutNeverActs })
        #expect(second.remedy == "the chain without timeout (2)" && !second.harm.contains("retried"))
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

    @Test func aChainPrintsShortSettings() {
        let interceptors: [any Interceptor] = [
            .validateStatus(), .timeout(.seconds(30)), .retry(maxAttempts: 3),
            .retry(maxAttempts: 2, when: .status(409)),
            .hedge(after: .milliseconds(300)), .limitConcurrency(32, perHost: 6), .timeout(),
            .rateLimit(100, per: Self.minute), .validateStatus(200..<300),
        ]
        let rows = InterceptorChain(interceptors, transport: StubTransport()).description.split(separator: "\n")
        let names = rows.prefix(interceptors.count).map { $0.dropFirst(3).split(separator: "  ").first ?? "" }
        #expect(
            names == [
                "validateStatus()", "timeout(.seconds(30))", "retry(maxAttempts: 3)", "retry(maxAttempts: 2, when: …)",
                "hedge(after: .seconds(0.3))",
                "limitConcurrency(32, perHost: 6)", "timeout()", "rateLimit", "validateStatus",
            ]
        )
    }

    @Test func aRemedyHasShortSettings() throws {
        let finding = try #require(Self.findings([.hedge(after: Self.minute), .retry(maxAttempts: 5)]).first)
        #expect(finding.remedy == "[.retry(maxAttempts: 5), .hedge(after: .seconds(60))]")
    }

    @Test func aBreakerOutsideAHedgeIsNoFault() {
        #expect(
            !Self.findings([.circuitBreaker(), .hedge(after: Self.minute)]).contains { $0.rule == .limitOutsideHedge }
        )
    }
}
