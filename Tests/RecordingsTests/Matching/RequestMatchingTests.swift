import Foundation
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct RequestMatchingTests {
    private typealias Request = RecordedExchange.Request

    private func key(_ matching: RequestMatching, _ request: RecordedExchange.Request) -> RequestKey {
        matching.key(of: request, .standard)
    }

    private func get(_ url: String) -> RecordedExchange.Request { .init(method: .get, url: url) }

    private func post(_ body: String, _ type: String) -> RecordedExchange.Request {
        .init(method: .post, url: "https://a.example/", headers: [.contentType: type], body: Data(body.utf8))
    }

    @Test(arguments: [
        ("https://a.example/x?a=1&b=2", "https://a.example/x?b=2&a=1"), ("https://a.example", "https://a.example/"),
        ("HTTPS://A.Example:443/", "https://a.example/"), ("http://a.example:80/?", "http://a.example/"),
        ("https://a.example/?q=a+b", "https://a.example/?q=a%20b"), ("https://a.example/?q", "https://a.example/?q="),
        ("https://a.example/%7Ea/%C3%A9", "https://a.example/~a/é"), ("https://a.example/#a", "https://a.example/"),
        ("https://a.example/?a=1&&b=2&", "https://a.example/?a=1&b=2"),
        ("https://u:p@a.example/", "https://a.example/"),
        ("https://a.example/?token=1", "https://a.example/?token=2"), ("http://[::1]:80/", "http://[::1]/"),
        ("https://a.example/?token=%3Credacted%3E", "https://a.example/?token=x"),
    ])
    func urlsAreComparedByTheirParts(_ one: String, _ other: String) {
        #expect(key(.standard, get(one)) == key(.standard, get(other)))
    }

    @Test(arguments: [
        ("https://a.example/x", "https://a.example/X"), ("https://a.example/", "http://a.example/"),
        ("https://a.example:444/", "https://a.example/"), ("https://a.example/a/", "https://a.example/a"),
        ("https://a.example/a%2Fb", "https://a.example/a/b"), ("https://a.example/a%252Fb", "https://a.example/a%2Fb"),
        ("https://a.example/?a=1&a=1", "https://a.example/?a=1"), ("https://a.example/?a=1", "https://a.example/?A=1"),
        ("https://a.example/?a=1&b=2", "https://a.example/?a=2&b=1"),
        ("https://a.example/?q=%2B", "https://a.example/?q=+"),
        ("https://a.example/?a%3Db=c", "https://a.example/?a=b%3Dc"),
        ("https://a.example/?a=b%26c", "https://a.example/?a=b&c"), ("https://a.example/?a", "https://a.example/?b"),
        ("https://a.examplex/", "https://a.example/x"), ("http://[::1]:81/", "http://[::1]/"),
    ])
    func otherURLsDiffer(_ one: String, _ other: String) {
        #expect(key(.standard, get(one)) != key(.standard, get(other)))
    }

    @Test(arguments: [
        (#"{"a":1,"b":"é"}"#, "{ \"b\":\"\\u00e9\", \"a\":1.0 }", "application/json"),
        ("[]", "[ ]", "application/problem+json"), ("[]", "[ ]", "application/x-amz-json-1.1"),
        (#"{"a":[1]}"#, #"{"a": [1]}"#, ""), ("a=1&b=2", "b=2&a=1", "application/x-www-form-urlencoded"),
        ("a=x+y", "a=x%20y", "Application/X-WWW-Form-URLencoded; charset=utf-8"),
        (#"{"password":"a","id":1}"#, #"{"id":1,"password":"b"}"#, "application/json"),
        ("user=1&otp=1234567", "otp=7654321&user=1", "application/x-www-form-urlencoded"),
        (
            "--b\r\nA: 1\r\nb:2\r\n\r\nx\r\n--b--", "pre\r\n--b  \r\nB: 2\r\na:1\r\n\r\nx\r\n--b--\r\nafter",
            "multipart/mixed; boundary=b"
        ),
        (
            "--b\r\nContent-Type: application/json\r\n\r\n{\"a\":1, \"b\":2}\r\n--b--",
            "--b\r\nContent-Type: application/json\r\n\r\n{\"b\":2,\"a\":1}\r\n--b--", "multipart/mixed; boundary=\"b\""
        ),
    ])
    func contentIsComparedByItsMeaning(_ one: String, _ other: String, _ type: String) {
        #expect(key(.standard, post(one, type)) == key(.standard, post(other, type)))
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":2}"#, "application/json"), ("[1] ", "[1]", "text/plain"),
        ("a=1&a=2", "a=1", "application/x-www-form-urlencoded"),
        ("a=1&b=2", "b=2&a=1", "text/plain"), ("{a}", "{ a}", "application/json"), ("", "{}", "application/json"),
        ("", "u", ""),
        (
            "--b\r\n\r\nx\r\n--b\r\n\r\ny\r\n--b--", "--b\r\n\r\ny\r\n--b\r\n\r\nx\r\n--b--",
            "multipart/mixed; boundary=b"
        ),
        ("--b\r\n\r\nx\r\n--b--", "--b\r\n\r\nx\n--b\r\n", "multipart/mixed; boundary=b"),
        (
            "--b\r\n\r\n\r\n--b\r\n\r\nx\r\n--b--", "--b\r\n\r\nx\r\n--b\r\n\r\n\r\n--b--",
            "multipart/mixed; boundary=b"
        ),
    ])
    func otherContentDiffers(_ one: String, _ other: String, _ type: String) {
        #expect(key(.standard, post(one, type)) != key(.standard, post(other, type)))
    }

    @Test func aMultipartFormIsComparedWithoutItsBoundary() throws {
        let requests = try ["one", "two"].map { boundary in
            let form = try #require(
                MultipartFormData([.text(name: "a", "1"), .text(name: "b", "2")], boundary: boundary)
            )
            let request = HTTPRequest(
                method: .post,
                url: try #require(URL(string: "https://a.example/")),
                body: try form.body()
            )
            var recorded = RecordedExchange.Request(request)
            recorded.headers[.contentType] = form.contentType
            return recorded
        }
        #expect(requests[0].body != requests[1].body && requests[0].body?.isEmpty == false)
        #expect(key(.standard, requests[0]) == key(.standard, requests[1]))
    }

    @Test func onlyTheChosenPartsAreCompared() {
        var one = get("https://a.example/x?page=1&q=2&token=3")
        var other = get("https://b.example/x?q=2&page=7")
        #expect(
            key([.method, .path, .query(except: "page", "token")], one)
                == key([.method, .path, .query(except: "page", "token")], other)
        )
        #expect(key([.query(only: "q")], one) == key([.query(only: "q")], other))
        #expect(key([.query(only: "q", "page")], one) != key([.query(only: "q", "page")], other))
        #expect(key([.origin], one) != key([.origin], other))
        #expect(key([], one) == key([], other))
        one.headers = [.accept: "a", "X-A": "1", "x-a": "2"]
        other.headers = ["accept": "a", "X-A": "2", "X-A": "1"]
        #expect(key([.fields([.accept])], one) == key([.fields([.accept])], other))
        #expect(key([.fields(["X-A"])], one) != key([.fields(["X-A"])], other))
        other.headers.remove(.accept)
        #expect(key([.fields([.accept])], one) != key([.fields([.accept])], other))
        one.headers[.authorization] = "Bearer 1"
        #expect(key([.fields([.authorization])], one) != key([.fields([.authorization])], other))
        other.headers[.authorization] = "Bearer 2"
        #expect(key([.fields([.authorization])], one) == key([.fields([.authorization])], other))
        one.method = .post
        #expect(key([.method], one) != key([.method], other))
        #expect(
            key([.method, .fields(["X-B"])], one) != key([.fields(["X-B"]), .method], one),
            "Sections don't run together."
        )
    }

    @Test func fieldsThatDescribeTheContentAreComparedAfterItsRedaction() {
        func request(_ password: String, _ boundary: String) -> RecordedExchange.Request {
            var request = post(#"{"password":"\#(password)"}"#, "multipart/mixed; a=1; boundary=\(boundary)")
            request.headers[.contentLength] = String(request.body?.count ?? 0)
            request.headers["Content-Digest"] = "sha-256=:\(password):"
            return request
        }
        let matching: RequestMatching = [.fields([.contentLength, .contentType, "Content-Digest"])]
        #expect(key(matching, request("a", "b")) == key(matching, request("longer", "\"c; d\"")))
        #expect(
            key(matching, request("a", "b")) == key(matching, ExchangeRedaction.standard.redacted(request("a", "b")))
        )
        var other = request("a", "b")
        other.headers[.contentType] = "multipart/mixed; a=2; boundary=b"
        #expect(key(matching, request("a", "b")) != key(matching, other))
    }

    @Test func unknownContentEqualsUnknownContentOnly() {
        var one = post("a", "text/plain")
        var other = one
        one.body = nil
        #expect(key(.standard, one) != key(.standard, other))
        other.body = nil
        #expect(key(.standard, one) == key(.standard, other))
        other.body = Data()
        #expect(key(.standard, one) != key(.standard, other))
    }

    @Test func deepAndHostileContentIsComparedByteForByte() {
        let deep = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(key(.standard, post(deep, "application/json")) == key(.standard, post(deep, "application/json")))
        #expect(key(.standard, post(deep, "application/json")) != key(.standard, post(deep + " ", "application/json")))
        var part = "x"
        for level in 0..<50 {
            part =
                "--b\(level)\r\nContent-Type: multipart/mixed; boundary=b\(level - 1)\r\n\r\n\(part)\r\n--b\(level)--"
        }
        let request = post(part, "multipart/mixed; boundary=b49")
        #expect(key(.standard, request) == key(.standard, request))
    }
}
