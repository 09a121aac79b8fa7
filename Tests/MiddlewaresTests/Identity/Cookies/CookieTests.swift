import Foundation
import InterceptorsSyntax
import InterceptorsTestSupport
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct SetCookieTests {
    @Test func attributesAreReadWhateverTheirCaseAndSpaces() throws {
        let cookie = try #require(
            SetCookie(
                " SID = 31d4d96e407aad42 ;PATH=/a; domain=.Example.COM ;SECURE;httponly; Max-Age=60; SameSite=Lax"
            )
        )
        #expect(cookie.cookie.name == "SID" && cookie.cookie.value == "31d4d96e407aad42")
        #expect(cookie.path == "/a" && cookie.domain == "example.com" && cookie.maxAge == 60)
        #expect(cookie.cookie.isSecure && cookie.cookie.isHTTPOnly)
    }

    @Test(arguments: ["", ";", "a", "=b", "  =b", "a\u{0}=b", "a=b\r\nX: y", "a=\u{7F}"])
    func fieldWithoutACookieIsNone(field: String) {
        #expect(SetCookie(field) == nil)
    }

    @Test func cookieOverTheLimitIsNone() {
        #expect(SetCookie("a=" + String(repeating: "b", count: 4095)) != nil)
        #expect(SetCookie("a=" + String(repeating: "b", count: 4096)) == nil)
    }

    @Test(arguments: [
        ("a=b=c; x", "b=c"), ("a=", ""), ("a=\"q\"", "\"q\""), ("a=1,2", "1,2"), ("a=\u{301}x", "\u{301}x"),
    ])
    func valueIsKeptAsItIs(field: String, value: String) {
        #expect(SetCookie(field)?.cookie.value == value)
    }

    @Test func lastUsableAttributeOfANameCounts() throws {
        let cookie = try #require(SetCookie("a=b; Path=/x; Path=rel; Max-Age=5; Max-Age=x; Domain=a.com; Domain="))
        #expect(cookie.path == nil && cookie.maxAge == 5 && cookie.domain == nil)
    }

    /// draft-ietf-httpbis-rfc6265bis §5.6: a longer attribute is ignored, so an earlier one of the same name counts.
    @Test func attributeOver1024BytesIsIgnored() throws {
        let (longest, longer) = (String(repeating: "d", count: 1024), String(repeating: "d", count: 1025))
        #expect(SetCookie("a=b; Domain=\(longest)")?.domain == longest)
        #expect(SetCookie("a=b; Path=/\(longest.dropLast())")?.path?.count == 1024)
        let cookie = try #require(
            SetCookie("a=b; Domain=x.com; Domain=\(longer); Path=/x; Path=/\(longest); Max-Age=5; Max-Age=\(longer)")
        )
        #expect(cookie.domain == "x.com" && cookie.path == "/x" && cookie.maxAge == 5)
        #expect(SetCookie("a=b; Secure=\(longer)")?.cookie.isSecure == false)
    }

    @Test(arguments: ["Max-Age=", "Max-Age=-", "Max-Age=1.5", "Max-Age=+1", "Max-Age=0x1", "Max-Age=１"])
    func unusableMaxAgeIsNone(attribute: String) {
        #expect(SetCookie("a=b; \(attribute)")?.maxAge == nil)
    }

    @Test func absurdMaxAgeIsANumber() {
        #expect(SetCookie("a=b; Max-Age=" + String(repeating: "9", count: 400))?.maxAge == .infinity)
    }
}

@Suite(.againstHanging) struct CookieJarTests {
    private let now = Shared(Date(timeIntervalSince1970: 1_000_000_000))

    private func jar(
        limit: Int = 3000,
        limitPerDomain: Int = 50,
        isPublicSuffix: @escaping @Sendable (String) -> Bool = { !$0.contains(".") }
    ) -> CookieJar {
        CookieJar(
            limit: limit,
            limitPerDomain: limitPerDomain,
            time: TimeSource(now: { [now] in now.value }),
            isPublicSuffix: isPublicSuffix
        )
    }

    private func set(_ jar: CookieJar, _ fields: String..., from text: String) throws {
        var all = HTTPFields()
        for field in fields { all.append(.setCookie, field) }
        jar.receive(all, from: try url(text))
    }

    private func sent(_ jar: CookieJar, to text: String) throws -> [String] {
        jar.cookies(for: try url(text)).map { "\($0.name)=\($0.value)" }
    }

    @Test func cookieWithoutADomainGoesToItsHostAlone() throws {
        let jar = jar()
        try set(jar, "a=1", from: "https://www.example.com/")
        #expect(try sent(jar, to: "https://WWW.example.com/x") == ["a=1"])
        for other in ["https://example.com/", "https://x.www.example.com/", "https://example.org/"] {
            #expect(try sent(jar, to: other).isEmpty)
        }
    }

    @Test func cookieOfADomainGoesToItsHosts() throws {
        let jar = jar()
        try set(jar, "a=1; Domain=.Example.com", from: "https://www.example.com/")
        for host in ["https://example.com/", "https://a.b.example.com/", "https://www.example.com:8443/"] {
            #expect(try sent(jar, to: host) == ["a=1"])
        }
        for other in ["https://notexample.com/", "https://example.com.evil.org/", "https://com/"] {
            #expect(try sent(jar, to: other).isEmpty)
        }
    }

    @Test(arguments: [
        "a=1; Domain=other.com", "a=1; Domain=ample.com", "a=1; Domain=com", "a=1; Domain=.com",
        "a=1; Domain=x.www.example.com",
        "a=1; Domain=xwww.example.com",
    ])
    func domainThatIsNotTheHostsOwnIsRefused(field: String) throws {
        let jar = jar()
        try set(jar, field, from: "https://www.example.com/")
        #expect(jar.cookies.isEmpty)
    }

    @Test func publicSuffixIsRefusedButKeepsItsOwn() throws {
        let jar = jar { $0 == "github.io" || !$0.contains(".") }
        try set(jar, "a=1; Domain=github.io", from: "https://evil.github.io/")
        #expect(jar.cookies.isEmpty)
        try set(jar, "a=1; Domain=github.io", from: "https://github.io/")
        try set(jar, "b=1; Domain=localhost", from: "http://localhost:8080/")
        #expect(jar.cookies.map(\.isHostOnly) == [true, true])
        #expect(try sent(jar, to: "https://evil.github.io/").isEmpty)
    }

    @Test(arguments: ["http://127.0.0.1:8080/", "http://[::1]/"]) func addressHasNoDomain(host: String) throws {
        let jar = jar()
        try set(jar, "a=1; Domain=0.0.1", "b=1; Domain=1", "c=1", from: host)
        #expect(try sent(jar, to: host) == ["c=1"])
        #expect(try sent(jar, to: "http://1.127.0.0.1/").isEmpty)
    }

    @Test func pathsMatchBySegments() throws {
        let jar = jar()
        try set(jar, "a=1; Path=/docs", "b=1; Path=/docs/", "c=1; Path=/", from: "https://e.com/x/y")
        #expect(try sent(jar, to: "https://e.com/docs") == ["a=1", "c=1"])
        #expect(try sent(jar, to: "https://e.com/docs/") == ["b=1", "a=1", "c=1"])
        #expect(try sent(jar, to: "https://e.com/docs/web") == ["b=1", "a=1", "c=1"])
        #expect(try sent(jar, to: "https://e.com/docsets") == ["c=1"])
        #expect(try sent(jar, to: "https://e.com") == ["c=1"])
    }

    @Test(arguments: [
        ("https://e.com/a/b/c", "/a/b"), ("https://e.com/a", "/"), ("https://e.com", "/"), ("https://e.com/a/", "/a"),
    ])
    func defaultPathIsThatOfTheRequest(from: String, path: String) throws {
        let jar = jar()
        try set(jar, "a=1", "b=1; Path=relative", from: from)
        #expect(jar.cookies.map(\.path) == [path, path])
    }

    @Test func secureCookieIsNeverSentNorSetNorReplacedOverHTTP() throws {
        let jar = jar()
        try set(jar, "a=1; Secure; Path=/", from: "https://e.com/")
        #expect(try sent(jar, to: "http://e.com/").isEmpty)
        try set(jar, "b=1; Secure", "a=evil; Path=/", "a=evil; Path=/deep", from: "http://e.com/")
        #expect(try sent(jar, to: "https://e.com/deep/x") == ["a=1"])
        try set(jar, "a=2; Path=/", from: "https://e.com/")
        #expect(try sent(jar, to: "http://e.com/") == ["a=2"])
    }

    // draft-ietf-httpbis-rfc6265bis §5.7: the rule also covers parent domains and subdomains.
    @Test func cookieOverHTTPNeverGoesBeforeASecureOneOfAHostBelow() throws {
        let jar = jar()
        try set(jar, "a=1; Secure; Path=/", from: "https://www.e.com/")
        try set(jar, "a=evil; Domain=e.com; Path=/", "b=1; Domain=e.com; Path=/", from: "http://e.com/")
        try set(jar, "a=2; Path=/", from: "http://other.com/")
        #expect(try sent(jar, to: "https://www.e.com/") == ["a=1", "b=1"])
        #expect(try sent(jar, to: "http://other.com/") == ["a=2"])
    }

    @Test func cookieOverHTTPNeverGoesBeforeASecureOneOfTheDomainAbove() throws {
        let jar = jar()
        try set(jar, "a=1; Secure; Domain=example.com; Path=/", from: "https://example.com/")
        try set(jar, "a=evil", "a=evil; Domain=a.example.com", "b=1", from: "http://a.example.com/")
        try set(jar, "a=2", from: "http://badexample.com/")
        #expect(try sent(jar, to: "https://a.example.com/") == ["a=1", "b=1"])
        #expect(try sent(jar, to: "http://badexample.com/") == ["a=2"])
    }

    @Test func secureCookieThatHasEndedHidesNothing() throws {
        let jar = jar()
        try set(jar, "a=1; Secure; Path=/; Max-Age=60", from: "https://e.com/")
        now.change { $0.addTimeInterval(60) }
        try set(jar, "a=2; Path=/", from: "http://e.com/")
        #expect(try sent(jar, to: "http://e.com/") == ["a=2"])
    }

    @Test func hostThatNoNameCanBeGetsAndSetsNoCookies() throws {
        let jar = jar()
        try set(jar, "a=1; Domain=e.com", "b=1", from: "https://e.com/")
        let long = "https://" + String(repeating: "a.", count: 45_000) + "e.com/"
        #expect(try sent(jar, to: long).isEmpty)
        try set(jar, "c=1", from: long)
        #expect(jar.cookies.map(\.name) == ["a", "b"])
        #expect(try sent(jar, to: "https://" + String(repeating: "a.", count: 125) + "e.com/") == ["a=1"])
    }

    @Test func prefixesAreHeldTo() throws {
        let jar = jar()
        try set(
            jar,
            "__Secure-a=1",
            "__Host-b=1; Secure; Path=/x",
            "__host-c=1; Secure; Path=/; Domain=e.com",
            "__Secure-d=1; Secure",
            "__Host-e=1; Secure; Path=/",
            from: "https://e.com/"
        )
        #expect(jar.cookies.map(\.name) == ["__Secure-d", "__Host-e"])
    }

    @Test func maxAgeWinsOverExpiresAndBothEnd() throws {
        let jar = jar()
        let past = "Expires=Sat, 01 Jan 2000 00:00:00 GMT", future = "Expires=Fri, 01 Jan 2038 00:00:00 GMT"
        try set(
            jar,
            "a=1; Max-Age=60; \(past)",
            "b=1; \(past)",
            "c=1; \(future); Max-Age=0",
            "d=1",
            from: "https://e.com/"
        )
        #expect(try sent(jar, to: "https://e.com/") == ["a=1", "d=1"])
        now.change { $0.addTimeInterval(59.9) }
        #expect(try sent(jar, to: "https://e.com/") == ["a=1", "d=1"])
        now.change { $0.addTimeInterval(0.1) }
        #expect(try sent(jar, to: "https://e.com/") == ["d=1"])
        #expect(jar.cookies.map(\.name) == ["d"])
    }

    @Test func noCookieLivesLongerThan400Days() throws {
        let jar = jar()
        try set(
            jar,
            "a=1; Max-Age=99999999999999999999",
            "b=1; Expires=Fri, 01 Jan 9999 00:00:00 GMT",
            from: "https://e.com/"
        )
        #expect(jar.cookies.allSatisfy { $0.expires == now.value.addingTimeInterval(400 * 86_400) })
    }

    @Test func cookieOfTheSameNameDomainAndPathIsReplacedAtItsPlace() throws {
        let jar = jar()
        try set(jar, "a=1", "b=1", "a=2", "A=3", from: "https://e.com/")
        #expect(try sent(jar, to: "https://e.com/") == ["a=2", "b=1", "A=3"])
        try set(jar, "a=; Max-Age=-1", from: "https://e.com/")
        #expect(try sent(jar, to: "https://e.com/") == ["b=1", "A=3"])
    }

    @Test func countOfADomainAndOfTheJarIsBounded() throws {
        let jar = jar(limit: 100, limitPerDomain: 5)
        for index in 0..<20 { try set(jar, "c\(index)=1", from: "https://e.com/") }
        #expect(jar.cookies.count == 5)
        #expect(try sent(jar, to: "https://e.com/") == (15..<20).map { "c\($0)=1" })
        for index in 0..<1000 { try set(jar, "x=1", from: "https://h\(index).example/") }
        #expect(jar.cookies.count <= 100)
        #expect(try sent(jar, to: "https://h999.example/") == ["x=1"])
    }

    @Test func cookieThatIsUsedOutlivesThoseThatAreNot() throws {
        let jar = jar(limitPerDomain: 2)
        try set(jar, "a=1; Path=/a", "b=1; Path=/b", from: "https://e.com/")
        _ = try sent(jar, to: "https://e.com/a")
        try set(jar, "c=1; Path=/", from: "https://e.com/")
        #expect(jar.cookies.map(\.name) == ["a", "c"])
    }

    @Test func cookiesGoToAnotherJarAndToFoundationAndBack() throws {
        let first = jar()
        try set(
            first,
            "a=1; Domain=example.com; Path=/x; Secure; HttpOnly; Max-Age=60",
            "b=2",
            from: "https://www.example.com/"
        )
        let stored = try JSONEncoder().encode(first.cookies)
        let second = CookieJar(
            try JSONDecoder().decode([Cookie].self, from: stored),
            time: TimeSource(now: { [now] in now.value })
        )
        #expect(second.cookies == first.cookies)
        #if canImport(Darwin)
        let bridged = first.cookies.compactMap(\.httpCookie).map(Cookie.init)
        #expect(bridged.map(\.domain) == ["example.com", "www.example.com"])
        #expect(bridged.map(\.isHostOnly) == [false, true])
        #expect(bridged.map(\.isSecure) == [true, false])
        #expect(bridged.map(\.value) == ["1", "2"])
        #endif
        second.removeAll { $0.name == "a" }
        #expect(second.cookies.map(\.name) == ["b"])
        second.removeAll()
        #expect(second.cookies.isEmpty)
    }

    @Test func valuesAreInNoDescriptionAndNoDump() throws {
        let jar = jar()
        try set(jar, "a=s3cr3t", from: "https://e.com/")
        var dumped = ""
        dump(jar, to: &dumped)
        dump(AnyInterceptor.cookies(jar), to: &dumped)
        let cookie = try #require(jar.cookies.first)
        for text in ["\(jar)", "\(cookie)", String(reflecting: cookie), dumped] { #expect(!text.contains("s3cr3t")) }
    }

    @Test func randomFieldsNeverTrap() throws {
        let random = RandomSource.seeded(3)
        let words = [
            "a", "=", ";", " ", "Path", "/", "Domain", ".", "com", "e.com", "Max-Age", "-", "9", "Expires", "Jan", ":",
            "é",
            "\u{301}", "Secure", ",", "2021", "10:10:10",
        ]
        let jar = jar(limit: 20, limitPerDomain: 3)
        for _ in 0..<5_000 {
            let field = (0..<Int(random.next() % 14)).map { _ in words[Int(random.next() % UInt64(words.count))] }
                .joined()
            try set(jar, field, from: "https://e.com/a")
        }
        #expect(jar.cookies.count <= 20)
    }
}
