import Foundation
import Testing

@testable import InterceptorsMiddlewares

/// Cookie hosts are compared in the same form as the hosts of request origins.
@Suite(.againstHanging) struct CookieHostTests {
    private let jar = CookieJar()

    private func set(_ field: String, from text: String) throws {
        jar.receive([.setCookie: field], from: try url(text))
    }

    private func sent(to text: String) throws -> [String] { jar.cookies(for: try url(text)).map(\.name) }

    private static let forms = ["http://\u{2603}.net/", "http://xn--n3h.net/", "http://XN--N3H.net:8080/"]

    @Test(arguments: forms, forms)
    func hostInUnicodeEqualsTheSameHostInASCII(from: String, to: String) throws {
        try set("host=1", from: from)
        try set("domain=1; Domain=xn--n3h.net", from: from)
        #expect(try sent(to: to) == ["host", "domain"])
        #expect(try sent(to: to.replacing("://", with: "://www.")) == ["domain"])
        #expect(try sent(to: "http://net/").isEmpty)
    }

    // draft-ietf-httpbis-rfc6265bis §5.7: a server writes the domain in ASCII.
    @Test func domainOutsideASCIIIsRefused() throws {
        try set("a=1; Domain=\u{2603}.net", from: "http://\u{2603}.net/")
        #expect(jar.cookies.isEmpty)
    }

    @Test func ipv6AddressMayNameItselfAsDomain() throws {
        try set("a=1; Domain=[::1]", from: "http://[::1]/")
        try set("b=1", from: "http://[::1]:8080/")
        try set("c=1; Domain=[::2]", from: "http://[::1]/")
        try set("d=1; Domain=::1", from: "http://[::1]/")
        #expect(try sent(to: "http://[::1]/") == ["a", "b"])
        #expect(jar.cookies.map(\.isHostOnly) == [true, true])
    }

    // RFC 6265 §5.1.3: the end of an address is no domain that the address is in.
    @Test func cookieOfADomainOfDigitsGoesToNoAddress() throws {
        #expect(jar.insert(Cookie(name: "a", value: "1", domain: "3.4", isHostOnly: false, isSecure: false)))
        #expect(try sent(to: "http://1.2.3.4/").isEmpty)
    }

    @Test(arguments: [
        ("\u{2603}.net", "https://\u{2603}.net/"), (".B\u{FC}cher.example", "https://xn--bcher-kva.example/"),
        ("::1", "https://[::1]/"), ("[::1]", "https://[::1]/"), ("E.com", "https://e.com/"),
    ])
    func cookieMadeByHandGoesToItsHost(domain: String, to: String) throws {
        #expect(jar.insert(Cookie(name: "a", value: "1", domain: domain)))
        #expect(try sent(to: to) == ["a"])
    }

    @Test(arguments: ["\u{2603}/x", "a@\u{2603}", "\u{2603}?x", "\u{2603}:80", ":", "\u{2603}#"])
    func cookieOfADomainThatIsNoHostIsNeverSent(domain: String) throws {
        jar.insert(Cookie(name: "a", value: "1", domain: domain, isHostOnly: false))
        for host in ["https://\u{2603}/", "https://a/", "https://x/", "https://[::1]/"] {
            #expect(try sent(to: host).isEmpty)
        }
    }
}

@Suite(.againstHanging) struct CookieValidityTests {
    private let site = "https://e.com/"

    @Test(arguments: [
        ("a;b", "1"), ("a", "1; admin=1"), ("a", "1\r\nX: y"), ("a\n", "1"), ("a", "1\u{0}"), ("a", "\u{7F}"),
        ("a=b", "1"), ("", "1"), (" a", "1"), ("a", "1 "), ("a", String(repeating: "b", count: 4096)),
    ])
    func cookieThatServersWouldReadDifferentlyIsRefused(name: String, value: String) throws {
        let cookie = Cookie(name: name, value: value, domain: "e.com")
        let jar = CookieJar([cookie])
        #expect(!cookie.isValid)
        #expect(!jar.insert(cookie))
        var changed = Cookie(name: "a", value: "1", domain: "e.com")
        (changed.name, changed.value) = (name, value)
        #expect(!jar.insert(changed))
        #expect(jar.cookies.isEmpty)
        #expect(jar.cookies(for: try url(site)).isEmpty)
    }

    @Test(arguments: [("a", ""), ("a", "b=c"), ("a", "\"x y\", {1}"), ("\u{E9}", "e\u{301}"), ("__Host-a", "1")])
    func cookieThatServersReadUnchangedIsAccepted(name: String, value: String) throws {
        let jar = CookieJar()
        #expect(jar.insert(Cookie(name: name, value: value, domain: "e.com")))
        let sent = try #require(jar.cookies(for: try url(site)).first)
        #expect(sent.name.utf8.elementsEqual(name.utf8) && sent.value.utf8.elementsEqual(value.utf8))
    }

    @Test func cookieWithOctetsOutsideUTF8IsRefused() throws {
        let jar = CookieJar()
        var fields = HTTPFields()
        fields.append(HTTPField(name: .setCookie, trimmed: "latin=\u{E9}", hasControl: false, isTranscoded: true))
        fields.append(.setCookie, "utf8=\u{E9}")
        jar.receive(fields, from: try url(site))
        #expect(jar.cookies.map(\.name) == ["utf8"])
    }

    @Test(
        arguments: [
            ("a=1; SameSite=Lax", "lax", false), ("a=1; samesite = STRICT; Partitioned", "strict", true),
            ("a=1; SameSite=None; Secure; PARTITIONED", "none", true), ("a=1; SameSite=Later", nil, false),
            ("a=1; SameSite", nil, false), ("a=1", nil, false),
        ] as [(String, String?, Bool)]
    )
    func sameSiteAndPartitionedAreKept(field: String, sameSite: String?, isPartitioned: Bool) throws {
        let jar = CookieJar()
        jar.receive([.setCookie: field], from: try url(site))
        let stored = try JSONDecoder().decode([Cookie].self, from: try JSONEncoder().encode(jar.cookies))
        let cookie = try #require(CookieJar(stored).cookies.first)
        #expect(cookie.sameSite == sameSite && cookie.isPartitioned == isPartitioned)
    }
}
