import Foundation
import InterceptorsCore
import InterceptorsTesting
import Testing

/// How a target and a base URL are joined, as the transport sees the result.
@Suite(.againstHanging) struct RequestTargetTests {
    private let stub = StubTransport { _ in HTTPResponse(status: 204) }

    private func url(_ target: RequestTarget, base: String?, query: HTTPQuery = [:]) async throws -> String {
        let client = Client(baseURL: base.flatMap(URL.init(string:)), interceptors: [], transport: stub)
        let _: NoContent = try await client.get(target, query: query)
        return try #require(stub.requests.last).url.absoluteString
    }

    @Test(arguments: [
        ("https://h/v1", "/users/42", "https://h/v1/users/42"),
        ("https://h/v1", "users/42", "https://h/v1/users/42"),
        ("https://h/v1/", "/users/42", "https://h/v1/users/42"),
        ("https://h/v1/", "users/42", "https://h/v1/users/42"),
        ("https://h", "/users", "https://h/users"),
        ("https://h", "users", "https://h/users"),
        ("https://h/", "users", "https://h/users"),
        ("https://h:8443/a/b", "c/", "https://h:8443/a/b/c/"),
        ("https://[::1]:8443/a", "b", "https://[::1]:8443/a/b"),
        ("HTTPS://H/a", "b", "https://H/a/b"),
        ("https://h/v1", "", "https://h/v1"),
        ("https://h/v1/", "", "https://h/v1/"),
        ("https://h", "", "https://h"),
        ("https://h/v1", "/", "https://h/v1/"),
        ("https://h/v1//", "x", "https://h/v1//x"),
        ("https://h/a%20b", "x", "https://h/a%20b/x"),
    ])
    func pathIsJoinedBelowTheBase(base: String, target: String, expected: String) async throws {
        #expect(try await url(RequestTarget(text: target), base: base) == expected)
    }

    @Test(arguments: [
        ("//evil.com/x", "https://h/v1//evil.com/x"),
        ("///evil.com", "https://h/v1///evil.com"),
        ("/\\evil.com", "https://h/v1/%5Cevil.com"),
        ("\\\\evil.com", "https://h/v1/%5C%5Cevil.com"),
        ("@evil.com", "https://h/v1/@evil.com"),
        (":80@evil.com", "https://h/v1/:80@evil.com"),
        ("/\u{301}/x", "https://h/v1/%CC%81/x"),
        (" https://evil.com", "https://h/v1/%20https://evil.com"),
        ("/https://evil.com/x", "https://h/v1/https://evil.com/x"),
        ("a:b/c", "https://h/v1/a:b/c"),
        ("mailto:x@y", "https://h/v1/mailto:x@y"),
        ("1://x", "https://h/v1/1://x"),
    ])
    func pathNeverLeavesTheBaseHost(target: String, expected: String) async throws {
        #expect(try await url(RequestTarget(text: target), base: "https://h/v1") == expected)
    }

    @Test(arguments: [
        ("../x", "https://h/v1/x"),
        ("/../../../x", "https://h/v1/x"),
        ("a/../b", "https://h/v1/b"),
        ("a/./b", "https://h/v1/a/b"),
        ("a/b/..", "https://h/v1/a/"),
        ("a/.", "https://h/v1/a/"),
        ("..", "https://h/v1/"),
        ("a/...", "https://h/v1/a/..."),
        (".well-known/x", "https://h/v1/.well-known/x"),
        ("a..b/.c", "https://h/v1/a..b/.c"),
        ("x?p=../y", "https://h/v1/x?p=../y"),
    ])
    func dotSegmentsStopAtTheBase(target: String, expected: String) async throws {
        #expect(try await url(RequestTarget(text: target), base: "https://h/v1") == expected)
    }

    @Test(arguments: [
        ("a b", "https://h/a%20b"),
        ("caf\u{E9}", "https://h/caf%C3%A9"),
        ("👩🏽‍💻", "https://h/%F0%9F%91%A9%F0%9F%8F%BD%E2%80%8D%F0%9F%92%BB"),
        ("a%20b", "https://h/a%20b"),
        ("a%2Fb", "https://h/a%2Fb"),
        ("a%2fb c", "https://h/a%2fb%20c"),
        ("100%", "https://h/100%25"),
        ("%zz%4", "https://h/%25zz%254"),
        ("a|b^`{}\"<>", "https://h/a%7Cb%5E%60%7B%7D%22%3C%3E"),
        ("[x]", "https://h/%5Bx%5D"),
        ("a\r\nX-Evil: 1", "https://h/a%0D%0AX-Evil:%201"),
        ("a\u{0}b", "https://h/a%00b"),
        ("a+b,c;d=e!$&'()*", "https://h/a+b,c;d=e!$&'()*"),
        ("q?a=b c&d=%20&e=ü&f=[]", "https://h/q?a=b%20c&d=%20&e=%C3%BC&f=%5B%5D"),
        ("q?a=b?c/d", "https://h/q?a=b?c/d"),
        ("q#fragment", "https://h/q"),
        ("q?a=b#c?d", "https://h/q?a=b"),
        ("#f", "https://h"),
        ("?", "https://h"),
    ])
    func whatAURLCannotHoldIsEncodedOnce(target: String, expected: String) async throws {
        #expect(try await url(RequestTarget(text: target), base: "https://h") == expected)
    }

    @Test(arguments: [
        ("https://h/v1?key=1", "/u", "https://h/v1/u?key=1&p=2"),
        ("https://h/v1?key=1", "/u?a=b", "https://h/v1/u?key=1&a=b&p=2"),
        ("https://h/v1?key=1#f", "", "https://h/v1?key=1&p=2"),
        ("https://h/v1?", "?", "https://h/v1?p=2"),
        ("https://h/v1", "?a=b", "https://h/v1?a=b&p=2"),
        ("https://h/v1?key=1", "https://other/x?y=z", "https://other/x?y=z&p=2"),
    ])
    func queriesFollowOneAnother(base: String, target: String, expected: String) async throws {
        #expect(try await url(RequestTarget(text: target), base: base, query: ["p": 2]) == expected)
    }

    @Test(arguments: ["https://h/v1", nil])
    func absoluteURLWins(base: String?) async throws {
        for (target, expected) in [
            ("http://other:8080/x?y#z", "http://other:8080/x?y"),
            ("HTTPS://Other/x", "https://Other/x"),
            ("https://other", "https://other"),
            ("https://other?q=a b", "https://other?q=a%20b"),
            ("https://b\u{FC}cher.example/\u{FC}", "https://xn--bcher-kva.example/%C3%BC"),
            ("https://[::1]:443/x", "https://[::1]:443/x"),
            ("https://other/a/../../b", "https://other/b"),
        ] {
            #expect(try await url(RequestTarget(text: target), base: base) == expected)
        }
        let foundation = try #require(URL(string: "https://other/x"))
        #expect(try await url(RequestTarget(foundation), base: base) == "https://other/x")
    }

    @Test func relativeURLIsAPathLikeAnyOther() async throws {
        let relative = try #require(URL(string: "/users?a=b"))
        #expect(try await url(RequestTarget(relative), base: "https://h/v1") == "https://h/v1/users?a=b")
    }

    @Test(arguments: [
        "http:", "http://", "https:///x", "https:h", "http:/h/x", "https://?x", "https://#x", "ftp://h/x",
        "file:///etc/passwd",
        "javascript://h/%0Aalert(1)", "https://exa mple.com/x", "https://h\n/x", "https://h\\@evil.com/",
        "https://h:99999/",
        "https://h:0/", "https://h:abc/", "https://[::1/x", "https://%/", "https://\u{0}/",
    ])
    func badURLIsAnErrorThatSaysWhatIsWrong(target: String) async throws {
        let error = await #expect(throws: TransportError.self) {
            try await url(RequestTarget(text: target), base: "https://h/v1")
        }
        #expect(error?.code == .unsupportedURL)
        #expect(error?.message.isEmpty == false)
        #expect(stub.requests.isEmpty)
    }

    @Test func relativeTargetWithoutABaseSaysSo() async throws {
        let error = await #expect(throws: TransportError.self) { try await url("/users", base: nil) }
        #expect(error?.code == .unsupportedURL)
        #expect(error?.message == "\"/users\" is a relative URL, and the client has no base URL to put before it.")
    }

    @Test(arguments: ["ftp://h/", "/relative", "https:", "mailto:a@b", "data:,x"])
    func badBaseURLFailsTheCallAndNamesTheBase(base: String) async throws {
        let error = await #expect(throws: TransportError.self) { try await url("/users", base: base) }
        #expect(error?.code == .unsupportedURL)
        #expect(error?.message.hasPrefix("The client's base URL can't be used") == true)
        #expect(try await url("https://h/x", base: base) == "https://h/x")
    }

    @Test(arguments: [
        "ftp://user:hunter2@h/x", "https://user:hunt#hunter2@h h/", "https://h h/?token=hunter2",
        "https://h h/#hunter2",
        "ftp:user:hunter2@h", "https://user:hunter2#1@h h/", "https://user:hunter2?1@h h/", "https://user:hunter2@[/x",
        "https://user:x/hunter2@h h",
    ])
    func errorShowsNoSecretOfABadURL(target: String) async throws {
        let error = await #expect(throws: (any Error).self) { try await url(RequestTarget(text: target), base: nil) }
        #expect(!String(reflecting: error).contains("hunter2"))
        #expect(!String(describing: RequestTarget(text: target)).contains("hunter2"))
    }

    @Test func errorIsBoundedAndOnOneLine() async throws {
        let target = RequestTarget(text: "ftp://h/\n" + String(repeating: "x", count: 100_000))
        let error = await #expect(throws: TransportError.self) { try await url(target, base: nil) }
        #expect((error?.description.count ?? .max) < 500)
        #expect(error?.description.contains("\n") == false)
    }
}

/// Targets from string literals with interpolated values.
@Suite(.againstHanging) struct RequestTargetInterpolationTests {
    private let stub = StubTransport { _ in HTTPResponse(status: 204) }

    private func url(_ target: RequestTarget) async throws -> String {
        let client = Client(baseURL: URL(string: "https://h/v1"), interceptors: [], transport: stub)
        let _: NoContent = try await client.get(target)
        return try #require(stub.requests.last).url.absoluteString
    }

    @Test(arguments: [
        ("42", "42"),
        ("a/b", "a%2Fb"),
        ("a?b=c", "a%3Fb%3Dc"),
        ("a#b", "a%23b"),
        ("100%", "100%25"),
        ("%2F", "%252F"),
        ("%2e%2e", "%252e%252e"),
        ("a b+c&d", "a%20b%2Bc%26d"),
        ("../../admin", "..%2F..%2Fadmin"),
        ("\\..\\", "%5C..%5C"),
        (";x=1", "%3Bx%3D1"),
        ("é\r\n\u{0}", "%C3%A9%0D%0A%00"),
        ("https://evil.com", "https%3A%2F%2Fevil.com"),
        ("v1.2~_-", "v1.2~_-"),
        ("...", "%2E%2E%2E"),
    ])
    func valueStaysOneSegment(value: String, encoded: String) async throws {
        #expect(try await url("/users/\(value)/posts") == "https://h/v1/users/\(encoded)/posts")
        #expect(try await url("/search?q=\(value)") == "https://h/v1/search?q=\(encoded)")
    }

    @Test(arguments: [".", ".."])
    func dotSegmentFromAValueIsRefused(value: String) async throws {
        let dot = "."
        let halves: RequestTarget = "/users/\(dot)\(dot)/posts"
        for target in [halves, "/users/\(value)", "/users/\(value)/posts", "\(value)", "https://h/\(value)"] {
            let error = await #expect(throws: TransportError.self) { try await url(target) }
            #expect(error?.code == .unsupportedURL)
        }
        #expect(stub.requests.isEmpty)
        #expect(try await url("/search?q=\(value)").hasPrefix("https://h/v1/search?q=%2E"))
    }

    @Test(arguments: ["/films?page=2", "https://h/v1/films", "//h/films"])
    func wholePathAsAValueIsRefusedAndTheErrorSaysWhatToWrite(next: String) async throws {
        for target: RequestTarget in ["\(next)", "\(next)/posters"] {
            let error = await #expect(throws: TransportError.self) { try await url(target) }
            #expect(error?.code == .unsupportedURL)
            #expect(error?.message.contains("write .init(text: …)") == true)
        }
        #expect(stub.requests.isEmpty)
        #expect(try await url("/\(next)").hasPrefix("https://h/v1/"))
        #expect(try await url("\("films")/\(next)").hasPrefix("https://h/v1/films/"))
        #expect(try await url("?q=\(next)").hasPrefix("https://h/v1?q="))
    }

    @Test(arguments: ["%2e%2E", "%2e", ".%2E", "%2E."])
    func encodedDotSegmentIsRefused(segment: String) async throws {
        await #expect(throws: TransportError.self) { try await url(RequestTarget(text: "/a/\(segment)/b")) }
    }

    @Test func numbersIdentifiersAndEnumsCanBePutIn() async throws {
        enum Order: String, URLValue { case newest = "new est" }
        let id = UUID()
        #expect(try await url("/\(42)/\(true)/\(1.5)/\(id)") == "https://h/v1/42/true/1.5/\(id.uuidString)")
        #expect(try await url("/\(Order.newest)/\("abc".prefix(2))") == "https://h/v1/new%20est/ab")
    }

    @Test func rawTextIsAPieceOfAURL() async throws {
        let path = "a/b?c=d"
        #expect(try await url("/x/\(raw: path)&e=\("f&g")") == "https://h/v1/x/a/b?c=d&e=f%26g")
    }
}
