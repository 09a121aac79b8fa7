import Testing

@testable import InterceptorsTesting

@Suite(.againstHanging) struct RouteTests {
    private func route(_ method: HTTPRequest.Method?, _ pattern: String) -> Route {
        Route(
            scope: StubScope(method, pattern),
            readsBody: true,
            answer: .response(.status(200)),
            location: CodeLocation(fileID: #fileID, line: #line)
        )
    }

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
        ("/a/**/c", "/a/b/c", true),
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
        ("/a", "/a?b=c", true),
        ("/a?b=c", "/a?x=1&b=c", true),
        ("/a?b=c", "/a?b=d", false),
        ("/a", "http://localhost/a", true),
        ("/a/*.json", "/a/b.json", true),
    ])
    func aPatternMatchesTargets(pattern: String, target: String, matches: Bool) throws {
        let head = try RequestHead(Wire.lines(Wire.get(target)))
        #expect(route(nil, pattern).matches(head.request) == matches)
    }

    @Test func aMethodMatchesExactly() throws {
        let get = try RequestHead(Wire.lines(Wire.get("/a"))).request
        for (method, matches) in [(HTTPRequest.Method.get, true), ("get", false), (.post, false)] {
            #expect(route(method, "/a").matches(get) == matches)
        }
    }
}
