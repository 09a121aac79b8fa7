import InterceptorsTesting
import Testing

@testable import InterceptorsTransport

@Suite(.againstHanging) struct StubPatternTests {
    private func matches(_ pattern: String, _ url: String) -> Bool { StubPattern(pattern).matches(url) }

    @Test(arguments: [
        ("/users", "https://a.example/users", true),
        ("/users", "http://b.example:8080/users?page=2#top", true),
        ("users", "https://a.example/users", true),
        ("/users", "https://a.example/users/", false),
        ("/users", "https://a.example/Users", false),
        ("/users", "https://a.example/users/1", false),
        ("/users", "https://a.example/v1/users", false),
        ("/", "https://a.example", true),
        ("/", "https://a.example?x=1", true),
        ("/", "https://a.example/a", false),
        ("", "https://a.example/", true),
        ("/caf\u{E9}", "https://a.example/caf%C3%A9", true),
        ("/caf%C3%A9", "https://a.example/caf%C3%A9", true),
        ("/a%2Fb", "https://a.example/a%2Fb", true),
        ("/a/b", "https://a.example/a%2Fb", false),
        ("/100%", "https://a.example/100%25", true),
    ])
    func pathsCompareSegmentBySegment(pattern: String, url: String, expected: Bool) {
        #expect(matches(pattern, url) == expected)
    }

    @Test(arguments: [
        ("/users/*", "https://a.example/users/1", true),
        ("/users/*", "https://a.example/users/", false),
        ("/users/*", "https://a.example/users/1/posts", false),
        ("/users/*/posts", "https://a.example/users/1/posts", true),
        ("/*/*", "https://a.example/a/b", true),
        ("/*.json", "https://a.example/data.json", true),
        ("/*.json", "https://a.example/data.xml", false),
        ("/a*b*c", "https://a.example/aXbYc", true),
        ("/a*b*c", "https://a.example/abc", true),
        ("/a*b*c", "https://a.example/acb", false),
        ("/aa*aa", "https://a.example/aaa", false),
        ("/%2A", "https://a.example/*", true),
        ("/%2A", "https://a.example/x", false),
        ("/a*b", "https://a.example/a%2Fb", true),
    ])
    func aStarIsTextWithinOneSegment(pattern: String, url: String, expected: Bool) {
        #expect(matches(pattern, url) == expected)
    }

    @Test(arguments: [
        ("**", "https://a.example", true),
        ("/**", "https://a.example/a/b/c?d=e", true),
        ("/users/**", "https://a.example/users", true),
        ("/users/**", "https://a.example/users/1/posts/2", true),
        ("/users/**", "https://a.example/usersX", false),
        ("/**/posts", "https://a.example/posts", true),
        ("/**/posts", "https://a.example/a/posts/b/posts", true),
        ("/**/posts", "https://a.example/posts/a", false),
        ("/**/a/*/b/**/c", "https://a.example/a/x/a/1/b/2/3/c", true),
        ("/**/a/*/b/**/c", "https://a.example/a/x/a/1/b/2/3/d", false),
    ])
    func twoStarsAreAnySegments(pattern: String, url: String, expected: Bool) {
        #expect(matches(pattern, url) == expected)
    }

    @Test(arguments: [
        ("/s?q=swift", "https://a.example/s?page=1&q=swift", true),
        ("/s?q=swift", "https://a.example/s", false),
        ("/s?q=swift", "https://a.example/s?q=rust", false),
        ("/s?q=swift", "https://a.example/s?q=rust&q=swift", true),
        ("/s?q", "https://a.example/s?q=x", true),
        ("/s?q", "https://a.example/s?q", true),
        ("/s?q", "https://a.example/s?p", false),
        ("/s?q=*", "https://a.example/s?q=", true),
        ("/s?q=a*z", "https://a.example/s?q=a/b/z", true),
        ("/s?q=a b", "https://a.example/s?q=a%20b", true),
        ("/s?q=a%2Bb", "https://a.example/s?q=a%2Bb", true),
        ("/s?a%5B%5D=1", "https://a.example/s?a[]=1", true),
        ("/s?q=1&q=2", "https://a.example/s?q=2&q=1", true),
        ("/s?u=a=b", "https://a.example/s?u=a=b", true),
    ])
    func queryItemsMatchAsASubset(pattern: String, url: String, expected: Bool) {
        #expect(matches(pattern, url) == expected)
    }

    @Test(arguments: [
        ("https://a.example/x", "https://A.EXAMPLE/x", true),
        ("https://a.example/x", "http://a.example/x", false),
        ("https://a.example/x", "https://a.example:443/x", true),
        ("https://a.example:8443/x", "https://a.example/x", false),
        ("http://a.example:80", "http://a.example/", true),
        ("https://*.example/**", "https://api.example/v1/x", true),
        ("https://*.example/**", "https://api.example.org/v1/x", false),
        ("https://a.example", "https://a.example.evil.org/", false),
        ("http://[::1]:8080/x", "http://[::1]:8080/x", true),
        ("http://[::1]/x", "http://[::1]/x", true),
        ("http://127.0.0.1:1/x", "http://127.0.0.1:1/x", true),
        ("https://a.example/x", "https://user:pw@a.example/x", true),
        ("/http://odd", "https://a.example/http://odd", true),
    ])
    func aFullURLNamesSchemeHostAndPort(pattern: String, url: String, expected: Bool) {
        #expect(matches(pattern, url) == expected)
    }

    @Test func manyStarsTakeNoLongTime() {
        let pattern = "/" + String(repeating: "a*", count: 40) + "b"
        #expect(!matches(pattern, "https://a.example/" + String(repeating: "a", count: 4000)))
        let deep = String(repeating: "/**/a", count: 40) + "/b"
        #expect(!matches(deep, "https://a.example" + String(repeating: "/a", count: 2000)))
    }

    @Test(arguments: [
        "*", "?", "#", "://", "://x", "a://", "http://", "http://[", "http://@:", "/%", "/%2", "&=&", "/\u{0}",
    ])
    func noPatternTraps(pattern: String) {
        _ = matches(pattern, "https://a.example/a?b=c")
        _ = matches("/a", pattern)
    }
}
