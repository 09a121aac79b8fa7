import Foundation
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct OriginTests {
    private func origin(_ url: String) throws -> Origin? { Origin(try #require(URL(string: url))) }

    @Test(arguments: [
        ("https://a.example", "https://A.EXAMPLE:443/x?y"), ("http://a.example/", "HTTP://a.example:80"),
        ("http://[::1]/", "http://[::1]:80/x"), ("https://b\u{FC}cher.example", "https://xn--bcher-kva.example/"),
        ("https://u:p@a.example/", "https://a.example/"), ("https://a.example:/", "https://a.example/"),
    ])
    func schemeHostAndPortMakeAnOrigin(first: String, second: String) throws {
        let origin = try #require(try origin(first))
        #expect(try self.origin(second) == origin)
    }

    @Test(arguments: [
        ("https://a.example", "http://a.example"), ("https://a.example", "https://a.example:8443"),
        ("https://a.example", "https://b.example"), ("https://a.example", "https://a.example.evil.org"),
        ("https://a.example", "https://sub.a.example"), ("https://a.example", "https://a.example@evil.org"),
        ("https://a.example", "https://a.example%40evil.org"), ("https://a.example", "https://evil.org/a.example"),
        ("https://a.example", "https://evil.org?@a.example"), ("https://a.example", "https://evil.org#@a.example"),
        ("http://a.example:443", "https://a.example"),
    ])
    func anythingElseMakesAnother(first: String, second: String) throws {
        let origin = try #require(try origin(first))
        #expect(try self.origin(second) != origin)
    }

    @Test(arguments: ["/x", "ftp://a.example", "file:///x", "https:", "https:///x", "data:,x", "a.example"])
    func whatIsNoHTTPURLHasNone(url: String) throws {
        #expect(try origin(url) == nil)
    }

    @Test func theDescriptionIsAURL() throws {
        #expect(try origin("HTTPS://A.Example/x")?.description == "https://a.example:443")
        #expect(try origin("http://[::1]/")?.description == "http://[::1]:80")
    }
}
