import Foundation
import HTTPTypes
import Interceptors
import InterceptorsHTTPTypes
import Testing

private typealias TheirRequest = HTTPTypes.HTTPRequest
private typealias OurRequest = Interceptors.HTTPRequest
private typealias TheirResponse = HTTPTypes.HTTPResponse
private typealias OurResponse = Interceptors.HTTPResponse

private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

@Suite(.timeLimit(.minutes(10))) struct RequestTests {
    @Test(
        arguments: [
            ("https://e.com", "https", "e.com", "/"),
            ("https://e.com/", "https", "e.com", "/"),
            ("http://e.com:8080/a%20b;v=1/?q=%2B&q=a+b", "http", "e.com:8080", "/a%20b;v=1/?q=%2B&q=a+b"),
            ("https://e.com?q=1", "https", "e.com", "/?q=1"),
            ("https://e.com/a#fragment", "https", "e.com", "/a"),
            ("https://[::1]:443//a//b", "https", "[::1]:443", "//a//b"),
            ("https://e.com/a@b:c?d=/e?f@", "https", "e.com", "/a@b:c?d=/e?f@"),
            ("HTTPS://E.com/%E6%BC%A2", "HTTPS", "E.com", "/%E6%BC%A2"),
        ]
    )
    func targetIsThatOfTheURL(text: String, scheme: String, authority: String, path: String) throws {
        let theirs = try TheirRequest(OurRequest(url: url(text)))
        #expect(theirs.scheme == scheme && theirs.authority == authority && theirs.path == path)
        let back = try OurRequest(theirs)
        #expect(try TheirRequest(back) == theirs)
        #expect(back.url.absoluteString == "\(scheme)://\(authority)\(path)")
    }

    @Test func relativeURLIsResolved() throws {
        let relative = try #require(URL(string: "b?c", relativeTo: url("https://e.com/a/")))
        #expect(try TheirRequest(OurRequest(url: relative.absoluteURL)).path == "/a/b?c")
    }

    @Test(arguments: ["GET", "POST", "get", "PATCH", "M-SEARCH", "QUERY", "CONNECT!", "x"])
    func methodIsKept(text: String) throws {
        let method = try #require(OurRequest.Method(rawValue: text))
        let theirs = try TheirRequest(OurRequest(method: method, url: url("https://e.com/")))
        #expect(theirs.method.rawValue == text)
        #expect(try OurRequest(theirs).method == method)
    }

    @Test func bodyAndContextAreParameters() throws {
        let theirs = try TheirRequest(OurRequest(method: .post, url: url("https://e.com/")))
        let ours = try OurRequest(theirs, body: "abc", context: .with(\.responseBody, .streamed))
        #expect(ours.body.data == Data("abc".utf8) && ours.context.responseBody == .streamed)
    }

    @Test(arguments: ["ftp://e.com/", "/a", "https:///a", "https://user:hush@e.com/", "mailto:a@e.com", "https:a"])
    func urlThatCannotBeSentIsRefusedWithoutItsSecrets(text: String) throws {
        let request = OurRequest(url: try url(text))
        let error = try #require(throws: TransportError.self) { try TheirRequest(request) }
        #expect(error.code == .unsupportedURL && !error.description.contains("hush"))
    }

    @Test func methodThatIsNoTokenIsRefused() throws {
        let request = OurRequest(method: "GET /", url: try url("https://e.com/"))
        #expect(throws: TransportError.self) { try TheirRequest(request) }
    }

    // Foundation would accept each of these after changing it.
    @Test(
        arguments: [
            (nil, "e.com", "/"), ("https", nil, "/"), ("https", "e.com", nil), ("https", "e.com", ""),
            ("https", "e.com", "*"), ("https", "e.com", "a"), ("https", "e.com", ".evil.com/"),
            ("https", "e.com", "?a"),
            ("https", "e.com", "/a#b"), ("https", "e.com", "/a b"), ("https", "e.com", "/é"),
            ("https", "e.com/a", "/b"),
            ("https", "user@e.com", "/"), ("https", "e.com?a=", "/b"), ("https", "", "/"), ("ftp", "e.com", "/"),
            ("https://evil.com/?", "e.com", "/"), ("https", "e.com:", ":80/"), ("https", "e com", "/"),
        ] as [(String?, String?, String?)]
    )
    func targetThatIsNotThatOfAURLIsRefused(scheme: String?, authority: String?, path: String?) {
        let theirs = TheirRequest(method: .get, scheme: scheme, authority: authority, path: path)
        #expect(throws: TransportError.self) { try OurRequest(theirs) }
    }

    @Test func tunnelsAreRefused() throws {
        var theirs = TheirRequest(method: .connect, scheme: "https", authority: "e.com", path: "/")
        #expect(throws: TransportError.self) { try OurRequest(theirs) }
        theirs.method = .get
        theirs.extendedConnectProtocol = "websocket"
        #expect(throws: TransportError.self) { try OurRequest(theirs) }
    }

    @Test(arguments: 0..<100 as Range<UInt64>) func requestSurvivesBothWays(seed: UInt64) throws {
        var random = SplitMix(seed)
        let fields = (0..<5).map { _ in
            Interceptors.HTTPField(unchecked: .init(stringLiteral: random.name()), random.value())
        }
        let path = (0..<3).map { _ in random.pick(["a", "%2F", "b;c", "", "~", "d'"]) }.joined(separator: "/")
        let query = random.pick(["", "?", "?a=b&c", "?a=%20+/?"])
        let target = try url("https://\(random.pick(["e.com", "[::1]", "e.com:81"]))/\(path)\(query)")
        let ours = OurRequest(method: .put, url: target, headers: Interceptors.HTTPFields(fields))
        let back = try OurRequest(TheirRequest(ours))
        #expect(back.url == ours.url && back.method == ours.method && back.headers == ours.headers)
    }
}

@Suite(.timeLimit(.minutes(10))) struct ResponseTests {
    @Test(arguments: [200, 201, 299, 304, 404, 599, 600, 999], ["", "OK", "Fine, thanks", "Ça va", "漢"])
    func statusAndReasonPhraseSurviveBothWays(code: Int, phrase: String) throws {
        let ours = try #require(OurResponse.Status(code: code, reasonPhrase: phrase))
        let theirs = try TheirResponse(OurResponse(status: ours))
        #expect(theirs.status.code == code && theirs.status.reasonPhrase == phrase)
        let back = try OurResponse(theirs)
        #expect(back.status.code == code && back.status.reasonPhrase == phrase)
    }

    @Test func statusWithoutAPhraseGetsTheRegisteredOne() throws {
        #expect(try TheirResponse(OurResponse(status: 404)).status.reasonPhrase == "Not Found")
    }

    @Test(arguments: [0, 99, 100, 103, 199]) func statusThatIsNotFinalIsRefused(code: Int) {
        #expect(throws: TransportError.self) { try OurResponse(TheirResponse(status: .init(code: code))) }
    }

    @Test func fieldsAreKeptAndTheRestAreParameters() throws {
        let ours = OurResponse(status: 200, headers: [.setCookie: "a=1", "x-A": "b", .setCookie: "c=2"])
        let theirs = try TheirResponse(ours)
        let back = try OurResponse(theirs, body: "abc", url: url("https://e.com/"))
        #expect(back.headers == ours.headers && back.headers[1].name.rawName == "x-A")
        #expect(back.body.data == Data("abc".utf8) && back.url?.host() == "e.com")
    }
}
