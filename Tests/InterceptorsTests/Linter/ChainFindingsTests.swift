import Foundation
import InterceptorsTesting
import Testing

@testable import InterceptorsCore

/// How the linter looks at a chain. The rules themselves are tested with the interceptors of `Middlewares`.
@Suite(.againstHanging) struct ChainFindingsTests {
    /// An interceptor of a user that declares its place.
    struct Placed: PlacedInterceptor {
        let placement: [ChainRole]

        init(_ placement: [ChainRole]) { self.placement = placement }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try await next(request)
        }
    }

    struct MyAuth: Interceptor {
        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try await next(request)
        }
    }

    struct Retrying: PlacedInterceptor {
        var placement: [ChainRole] { [.retries] }

        func intercept(_ request: consuming HTTPRequest, next: Next) async throws -> HTTPResponse {
            try await next(request)
        }
    }

    private func chain(
        _ interceptors: [any Interceptor],
        over transport: any Transport = StubTransport()
    ) -> InterceptorChain {
        InterceptorChain(interceptors, transport: transport)
    }

    private let closure: AnyInterceptor = .intercept { request, next in try await next(request) }

    @Test func anOwnInterceptorTakesPartByItsRoles() throws {
        let chain = chain([Placed([.signs]), Placed([.compresses])])
        let finding = try #require(chain.findings.first)
        #expect(chain.findings.count == 1)
        #expect(finding.rule == .contentChangedAfterSigning)
        #expect(finding.severity == .broken)
        #expect(finding.elements == ["Placed", "Placed"])
        #expect(finding.message == "Placed (1) is outside Placed (2).")
        #expect(finding.remedy == "[Placed(…), Placed(…)]")
        #expect(self.chain([Placed([.compresses]), Placed([.signs])]).findings == [])
    }

    @Test func twoValuesOfATypeAreTwoElements() {
        #expect(chain([Retrying(), Retrying()]).findings.map(\.rule) == [.retryInsideRetry])
    }

    @Test func aWishForAPlaceIsJudged() throws {
        let (inside, outside) = (
            Placed([.inside(.resends, because: "It must run each time.")]), Placed([.outside(.shares)])
        )
        let (retry, cache) = (Placed([.retries]), Placed([.stores]))
        #expect(chain([retry, inside]).findings == [])
        #expect(chain([outside, cache]).findings == [])
        let finding = try #require(chain([inside, retry]).findings.first)
        #expect(finding.rule == .placement)
        #expect(finding.harm == "It must run each time.")
        #expect(chain([cache, outside]).findings.map(\.rule) == [.placement])
        #expect(
            chain([Placed([.inside(ChainRole("paginates"))]), Placed([ChainRole("paginates")])]).findings.count == 1
        )
    }

    @Test func aRoleOfAnAuthorIsNoRoleOfThePackage() {
        #expect(!Placement([ChainRole("retries")]).includes(.retries))
        #expect(chain([Placed([ChainRole("retries")]), Placed([ChainRole("retries")])]).findings == [])
        #expect(Placement([ChainRole("retries")]).declared == ["retries"])
    }

    @Test func aWishThatARuleAlsoReportsIsOneFinding() {
        let chain = chain([Placed([.signs]), Placed([.changesRequest, .outside(.signs)])])
        #expect(chain.findings.map(\.rule) == [.fieldsChangedAfterSigning])
    }

    @Test func aWishOfAnElementThatMayNeverMeetTheOtherIsANote() {
        let (get, post): (RequestCondition, RequestCondition) = (
            .matching { $0.method == .get }, .matching { $0.method == .post }
        )
        let chain = chain([.when(get, [Placed([.signs])]), .when(post, [Placed([.outside(.signs)])])])
        #expect(chain.findings == [])
        #expect(chain.notes.map(\.rule).contains(.placement))
    }

    @Test func anAcknowledgedCredentialExcusesNoOther() {
        let cache: AnyInterceptor = Placed([.stores]).acknowledged(.credentialInsideSharing, "MyKey is public")
        let key: AnyInterceptor = Placed([.addsCredentials]).acknowledged(.credentialInsideSharing, "public")
        let other = Placed([.addsCredentials])
        #expect(chain([cache, other]).findings.map(\.rule) == [.credentialInsideSharing])
        #expect(chain([Placed([.stores]), key]).findings == [])
        #expect(
            chain([Placed([.stores]), key, other]).findings.map(\.message) == ["Placed (1) is outside Placed (3)."]
        )
    }

    @Test func elementsForDifferentOriginsMeetAfterARedirect() {
        let (here, there): (RequestCondition, RequestCondition) = (
            .origin("https://a.example"), .origin("https://b.example")
        )
        let (cache, redirects, key) = (Placed([.stores]), Placed([.followsRedirects]), Placed([.addsCredentials]))
        let judge = Placed([.validates])
        #expect(
            chain([.when(here, [cache, redirects]), .when(there, [key])]).findings.map(\.rule)
                == [.credentialInsideSharing, .cacheOutsideRedirects]
        )
        #expect(chain([.when(here, [cache]), redirects, .when(there, [key])]).findings.count == 2)
        // The redirect isn't inside the cache.
        #expect(chain([.when(here, [redirects, cache]), .when(there, [key])]).findings == [])
        let reader = Placed([.followsRedirects, .readsStatus])
        #expect(
            chain([.when(here, [reader]), .when(there, [judge])]).findings.map(\.rule) == [.statusJudgedTooEarly]
        )
    }

    @Test func aRoleImpliesMoreGeneralRoles() {
        let cookies = Placement([.keepsCookies])
        let implied: [ChainRole] = [.addsCredentials, .identifiesCaller, .changesRequest]
        for role in implied { #expect(cookies.includes(role)) }
        #expect(!cookies.includes(.resends))
        #expect(cookies.declared == ["keepsCookies"])
    }

    @Test(
        arguments: [
            { outer, inner in [.group([outer]), inner] },
            { outer, inner in [outer, .group([inner])] },
            { outer, inner in [.when(.matching { _ in true }, [outer]), inner] },
            { outer, inner in [outer, .when(.matching { _ in true }, [inner])] },
            { outer, inner in [.when(.matching { _ in true }, [outer, .group([inner])])] },
        ] as [@Sendable (any Interceptor, any Interceptor) -> [any Interceptor]]
    )
    func groupsAndPartsAreLookedInto(_ order: @Sendable (any Interceptor, any Interceptor) -> [any Interceptor]) {
        #expect(chain(order(Placed([.signs]), Placed([.compresses]))).findings.map(\.severity) == [.broken])
        #expect(chain(order(Placed([.compresses]), Placed([.signs]))).findings == [])
    }

    @Test func chainsAndClientsInsideAreLookedInto() {
        let inner = chain([Placed([.compresses])])
        let rules: [ChainRule] = [.contentChangedAfterSigning]
        #expect(chain([Placed([.signs])], over: inner).findings.map(\.rule) == rules)
        let client = Client(interceptors: [], transport: chain([], over: inner))
        #expect(chain([Placed([.signs])], over: client).findings.map(\.rule) == rules)
        #expect(chain([Placed([.signs])], over: client).names == "Placed → Placed → StubTransport")
    }

    @Test func elementsThatNeverMeetAreNotCompared() {
        let signs = Placed([.signs]), compresses = Placed([.compresses])
        let (here, there): (RequestCondition, RequestCondition) = (
            .origin("https://a.example"), .origin("https://b.example")
        )
        #expect(chain([.when(here, [signs]), .when(there, [compresses])]).findings == [])
        #expect(chain([.when(here, [signs]), .when(here, [compresses])]).findings.map(\.severity) == [.doubtful])
        let anything: RequestCondition = .matching { $0.method == .post }
        #expect(chain([.when(here, [signs]), .when(anything, [compresses])]).findings.map(\.severity) == [.doubtful])
        #expect(chain([.when(here, [.when(anything, [signs]), compresses])]).findings.map(\.severity) == [.broken])
    }

    @Test func anElementMaySilenceARuleWithAReason() {
        let signs: AnyInterceptor = Placed([.signs]).acknowledged(
            .contentChangedAfterSigning,
            "the server unpacks first"
        )
        let chain = chain([signs, Placed([.compresses])])
        #expect(chain.findings == [])
        #expect(
            chain.description.contains("acknowledged: Placed (1) is outside Placed (2). the server unpacks first")
        )
        #expect(
            self.chain([Placed([.signs]).acknowledged(.retryInsideRetry, "…"), Placed([.compresses])]).findings.count
                == 1
        )
        #expect(self.chain([AnyInterceptor(signs), Placed([.compresses])]).findings == [])
        let group: AnyInterceptor = .group([Placed([.signs])])
        #expect(
            self.chain([group.acknowledged(.contentChangedAfterSigning, "…"), Placed([.compresses])]).findings == []
        )
        let both = signs.acknowledged(.retryInsideRetry, "…")
        #expect(Set(both.acknowledgements.keys) == ["contentChangedAfterSigning", "retryInsideRetry"])
    }

    @Test func aClosureMayDeclareItsPlace() throws {
        func closure(_ placement: [ChainRole]) -> AnyInterceptor {
            .intercept("check", placement: placement) { request, next in try await next(request) }
        }
        let (judge, reader) = (closure([.validates]), Placed([.followsRedirects, .readsStatus]))
        let finding = try #require(chain([reader, judge]).findings.first)
        #expect(finding.severity == .broken)
        #expect(finding.message == "Placed (1) is outside check (2).")
        #expect(finding.remedy == "[.intercept(\"check\", …) { … }, Placed(…)]")
        #expect(chain([judge, reader]).findings == [])
        #expect(chain([judge]).names == "check → StubTransport")
        #expect(chain([closure([])]).description.hasPrefix("1  check\n"))
    }

    @Test func aWishMayBeAboutElementsWithAWish() {
        let (last, first) = (Placed([.inside(.outside(.signs))]), Placed([.outside(.signs)]))
        #expect(chain([first, last]).findings == [])
        #expect(chain([last, first]).findings.map(\.rule) == [.placement])
        // Neither is about elements that sign.
        #expect(chain([last, Placed([.signs])]).findings == [])
        #expect("\(ChainRole.inside(.outside(.signs)))" == "inside(outside(signs))")
    }

    @Test func twoLoggersThatSeldomMeetAreSaidToMeetSometimes() throws {
        func message(_ interceptors: [any Interceptor]) throws -> String {
            try #require(chain(interceptors).notes.first { $0.rule == .loggedTwice }).message
        }
        let log = Placed([.logs])
        #expect(try message([log, log]) == "Placed (1) and Placed (2) see the same exchanges.")
        let parts: [any Interceptor] = [
            .when(.matching { $0.method == .get }, [log]), .when(.matching { $0.method == .post }, [log]),
        ]
        #expect(
            try message(parts)
                == "Placed (1) and Placed (2) see the same exchanges, if a request meets the conditions of both."
        )
    }

    @Test func aCredentialMayBeOutsideACacheThatItNeverMeets() {
        let (here, there): (RequestCondition, RequestCondition) = (
            .origin("https://a.example"), .origin("https://b.example")
        )
        let (key, cache) = (Placed([.addsCredentials, .awaitsRenewal]), Placed([.namesPartition, .stores]))
        #expect(chain([.when(there, [key]), .when(here, [cache])]).findings == [])
    }

    @Test func aRedirectToTheOriginOfAnOuterPartIsANote() {
        let (here, there): (RequestCondition, RequestCondition) = (
            .origin("https://a.example"), .origin("https://b.example")
        )
        let (key, redirects) = (Placed([.addsCredentials]), Placed([.followsRedirects]))
        let wrong = chain([.when(there, [key]), .when(here, [redirects])])
        #expect(wrong.findings == [])
        #expect(wrong.notes.map(\.rule) == [.credentialOutsideRedirects])
        #expect(chain([.when(here, [redirects]), .when(there, [key])]).notes == [])
    }

    @Test func anAcknowledgementCostsNoHop() {
        #expect(Placed([]).acknowledged(.placement, "…").base is Placed)
        #expect(AnyInterceptor(Placed([])).acknowledged(.placement, "…").base is Placed)
    }

    @Test func aClosureIsNotJudged() {
        let text = chain([closure, MyAuth(), Placed([])]).description
        #expect(
            text == """
                1  intercept  not judged
                2  MyAuth     not judged
                3  Placed
                   StubTransport

                note: Nothing follows redirects. When the server moves a resource, calls get its 301 instead of the \
                resource. Write [.followRedirects(), …]. (redirectsNotFollowed)
                """
        )
    }

    @Test func aChainPrintsItsRolesAndFindings() {
        let redirects = Placed([.followsRedirects, .readsStatus])
        let part: AnyInterceptor = .when(.origin("https://a.example"), [Placed([.validates])])
        let chain = chain([redirects, part, closure])
        #expect(
            chain.description == """
                1  Placed           followsRedirects, readsStatus
                2  when #1: Placed  validates
                3  intercept        not judged
                   StubTransport

                \(chain.findings[0])
                """
        )
        #expect("\(chain.findings[0])".hasPrefix("broken: Placed (1) is outside Placed (2). "))
        #expect(InterceptorChain([redirects], transport: StubTransport()).description.hasSuffix("StubTransport"))
    }

    @Test func everyRuleIsExplainedOnce() {
        let rules = ChainRuleDefinition.all
        #expect(Set(rules.map(\.rule)).count == rules.count)
        for rule in rules {
            #expect(rule.harm.hasSuffix("."), "\(rule.rule)")
        }
    }
}
