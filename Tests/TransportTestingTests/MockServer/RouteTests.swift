import Testing

@testable import TransportTesting

@Suite struct RouteTests {
    @Test(arguments: [
        ("/users/*", "/users/42", true),
        ("/users/*", "/users", false),
        ("/users/*", "/users/", false),
        ("/users/*", "/users/42/name", false),
        ("users/*", "/users/42", true),
        ("/*/name", "/42/name", true),
        ("/a/**", "/a", true),
        ("/a/**", "/a/", true),
        ("/a/**", "/a/b/c", true),
        ("/a/**", "/b/c", false),
        ("/a/**/c", "/a/b/c", false),
        ("**", "/", true),
        ("**", "/a/b", true),
        ("/", "/", true),
        ("", "/", true),
        ("/", "/a", false),
        ("/a", "/a/", false),
        ("/a/", "/a/", true),
        ("/a b/é", "/a%20b/%C3%A9", true),
        ("/a%20b", "/a%20b", true),
        ("/a", "/A", false),
        ("/%zz", "/%zz", true),
        ("*", "*", true),
    ])
    func segmentsMatchOneByOne(pattern: String, path: String, matches: Bool) {
        #expect(PathPattern(pattern).matches(path) == matches)
    }
}
