import Foundation
import Testing

@testable import InterceptorsAuthentication
@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct AWSCanonicalRequestTests {
    @Test func pathsAreEncodedAsTheyStandOnTheWireButForS3AsWhatTheyMean() {
        let path = "/a%20b/./c//%E1%88%B4+d"
        #expect(AWSCanonicalRequest.path(path, .standard) == "/a%2520b/c/%25E1%2588%25B4%2Bd")
        #expect(AWSCanonicalRequest.path(path, .s3) == "/a%20b/./c//%E1%88%B4%2Bd")
        #expect(AWSCanonicalRequest.path("/a%2Fb", .s3) == "/a%2Fb")
        #expect(AWSCanonicalRequest.path("/%c3%a9", .standard) == "/%25c3%25a9")
        #expect(AWSCanonicalRequest.path("/%c3%a9", .s3) == "/%C3%A9")
    }

    // AWS sorts by encoded name, and by value if names are equal.
    @Test(arguments: [
        ("", ""), ("a", "a="), ("b=2&a=1", "a=1&b=2"), ("a=2&a=1&a", "a=&a=1&a=2"), ("a=x&a=B&a=b", "a=B&a=b&a=x"),
        ("ab=0&a=9&a-=1&A=1", "A=1&a=9&a-=1&ab=0"), ("a=b=c", "a=b%3Dc"), ("a=%c3%a9&a=%7e", "a=%C3%A9&a=~"),
        ("a=%2B&a=%20", "a=%20&a=%2B"), ("&&a=1&", "a=1"),
    ])
    func queryIsSortedByNameAndThenByValue(query: String, canonical: String) {
        #expect(AWSCanonicalRequest.query(query) == canonical)
    }

    /// Proxies and transports add, change or drop some fields.
    @Test func fieldsThatAProxyMayChangeAreNotSigned() throws {
        let request = HTTPRequest(
            url: try url("https://example.com:8443/"),
            headers: [
                "Proxy-Authorization": "p", "Proxy-Foo": "p", "Sec-Fetch-Mode": "cors", "Connection": "close",
                "Via": "v",
                "User-Agent": "u", "Accept-Encoding": "gzip", "Content-Length": "0", "Expect": "100-continue",
                "X-Amzn-Trace-Id": "t", "Content-Type": "text/plain", "X-Secret": "s", "Range": "bytes=0-",
                "Proxied": "1",
            ]
        )
        let signed = AWSCanonicalRequest.headers(of: request).sorted { $0.name < $1.name }
        #expect(signed.map(\.name) == ["content-type", "host", "proxied", "range", "x-secret"])
        #expect(signed[1].value == "example.com:8443")
    }

    @Test func severalValuesOfAFieldAreJoinedInTheirOrderWithoutDoubledSpaces() throws {
        let fields: HTTPFields = ["X-A": "b   c", "x-a": "a", "X-B": "\"a   b\""]
        let request = HTTPRequest(url: try url("https://example.com/"), headers: fields)
        let signed = AWSCanonicalRequest.headers(of: request).sorted { $0.name < $1.name }
        #expect(signed.map(\.value) == ["example.com", "b c,a", "\"a b\""])
    }

    // AWS rejected other signatures of these paths, and gave these canonical paths in its answer.
    @Test(arguments: [
        ("/*/*/_search/", "/%2A/%2A/_search/"),
        ("/*,-notme/_search", "/%2A%2C-notme/_search"),
        ("/_search/%3Fa=b%20c", "/_search/%253Fa%3Db%2520c"),
    ])
    func whatStandsUnencodedOnTheWireIsEncodedOnce(wire: String, canonical: String) throws {
        let target = WireTarget(HTTPRequest(url: try url("https://search.us-east-1.es.amazonaws.com" + wire)))
        #expect(AWSCanonicalRequest.path(target.path, .standard) == canonical)
    }
}
