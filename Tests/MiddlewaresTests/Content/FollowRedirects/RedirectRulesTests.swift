import Foundation
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct RedirectRulesTests {
    private let rules = RedirectRules(redaction: .standard)
    private let here = URL(string: "https://a.example/users/1?q=1#top")!

    private func destination(
        _ status: HTTPResponse.Status,
        _ locations: String...
    ) -> RedirectRules.Destination {
        var fields = HTTPFields()
        for location in locations { fields.append(.location, location) }
        return RedirectRules.destination(of: HTTPResponse(status: status, headers: fields), from: here)
    }

    @Test(arguments: [200, 201, 300, 304, 305, 306, 309, 404] as [HTTPResponse.Status])
    func otherStatusesAreNoRedirects(status: HTTPResponse.Status) {
        #expect(destination(status, "/x") == .none)
    }

    @Test(arguments: [(303, nil), (301, nil), (307, false)] as [(HTTPResponse.Status, Bool?)])
    func whatWasSaidOfAMethodEndsWithIt(status: HTTPResponse.Status, expected: Bool?) {
        var post = HTTPRequest(method: .post, url: here)
        post.context.isIdempotent = false
        #expect(rules.request(after: post, status: status, to: here).context.isIdempotent == expected)
        var get = HTTPRequest(url: here)
        get.context.isIdempotent = false
        #expect(rules.request(after: get, status: status, to: here).context.isIdempotent == false)
    }

    @Test func missingOrEmptyLocationIsNothingToFollow() {
        #expect(destination(302) == .none)
        #expect(destination(302, "") == .none)
        #expect(destination(302, "  ") == .none)
    }

    @Test func relativeLocationIsResolvedAgainstTheURLThatAnswered() throws {
        #expect(destination(302, "../x?y") == .url(try url("https://a.example/x?y#top")))
        #expect(destination(302, "//b.example/") == .url(try url("https://b.example/#top")))
        #expect(destination(302, "?p=2") == .url(try url("https://a.example/users/1?p=2#top")))
    }

    @Test func fragmentIsInheritedUnlessTheLocationHasOne() throws {
        #expect(destination(301, "/x") == .url(try url("https://a.example/x#top")))
        #expect(destination(301, "/x#end") == .url(try url("https://a.example/x#end")))
    }

    @Test(arguments: [
        "https://", "https:///x", "https:x", "http://a\\b/", "https://h:99999/", "https://h:port/", "https://h:0/",
        "/a\u{1}b", "//",
    ])
    func unparsableLocationIsInvalid(location: String) {
        #expect(destination(302, location) == .invalid)
    }

    @Test func severalLocationsAreInvalidUnlessTheyAreTheSame() throws {
        #expect(destination(302, "/x", "/y") == .invalid)
        #expect(destination(302, "", "/y") == .invalid)
        #expect(destination(302, "/x", "/x") == .url(try url("https://a.example/x#top")))
    }

    @Test(arguments: [
        (301, "GET", "GET", true), (302, "GET", "GET", true), (303, "GET", "GET", false), (307, "GET", "GET", true),
        (308, "GET", "GET", true), (301, "HEAD", "HEAD", true), (302, "HEAD", "HEAD", true),
        (303, "HEAD", "HEAD", false), (307, "HEAD", "HEAD", true), (308, "HEAD", "HEAD", true),
        (301, "POST", "GET", false), (302, "POST", "GET", false), (303, "POST", "GET", false),
        (307, "POST", "POST", true), (308, "POST", "POST", true), (301, "PUT", "PUT", true), (302, "PUT", "PUT", true),
        (303, "PUT", "GET", false), (307, "DELETE", "DELETE", true), (302, "PATCH", "PATCH", true),
        (303, "DELETE", "GET", false), (303, "QUERY", "GET", false), (308, "PATCH", "PATCH", true),
    ])
    func methodAndContentFollowTheStatus(status: Int, method: String, expected: String, keepsBody: Bool) throws {
        let request = HTTPRequest(
            method: try #require(HTTPRequest.Method(rawValue: method)),
            url: here,
            headers: [.contentType: "text/plain", .accept: "text/html"],
            body: "content"
        )
        let status = try #require(HTTPResponse.Status(code: status))
        let next = rules.request(after: request, status: status, to: try url("https://a.example/x"))
        #expect(next.method.rawValue == expected)
        #expect(next.body.data == (keepsBody ? Data("content".utf8) : Data()))
        #expect(next.headers.contains(.contentType) == keepsBody)
        #expect(next.headers[.accept] == "text/html")
    }

    @Test func everyContentFieldGoesWithTheContent() throws {
        let names: [HTTPField.Name] = [
            "content-type", .contentLength, .contentEncoding, .contentLanguage, .contentLocation, "Content-MD5",
            "Content-Digest", "Repr-Digest", "Digest", .contentDisposition, .contentRange, .transferEncoding, .trailer,
            .expect, .lastModified,
        ]
        let request = HTTPRequest(
            method: .post,
            url: here,
            headers: HTTPFields(names.map { HTTPField(unchecked: $0, "x") })
        )
        #expect(rules.request(after: request, status: 303, to: here).headers.isEmpty)
        #expect(rules.request(after: request, status: 307, to: here).headers.count == names.count)
    }

    private let secrets: HTTPFields = [
        .authorization: "Bearer hunter2", .cookie: "sid=hunter2", "proxy-authorization": "Basic hunter2",
        "X-Api-Key": "hunter2", "X-Auth-Token": "hunter2",
    ]

    @Test(arguments: [
        "https://b.example/users/1", "http://a.example/users/1", "https://a.example:8443/users/1",
        "https://sub.a.example/", "https://a.example.evil.com/",
    ])
    func crossOriginDropsAuthorizationCookieProxyAuthorizationAndWhatIsSensitive(target: String) throws {
        var request = HTTPRequest(url: here, headers: secrets)
        request.headers[.host] = "a.example"
        request.headers[.accept] = "text/html"
        let next = rules.request(after: request, status: 302, to: try url(target))
        #expect(next.headers == [.accept: "text/html"])
    }

    @Test(arguments: ["https://a.example/x", "https://A.EXAMPLE:443/", "https://a.example/users/1"])
    func sameOriginKeepsThem(target: String) throws {
        let request = HTTPRequest(url: here, headers: secrets)
        #expect(rules.request(after: request, status: 302, to: try url(target)).headers == secrets)
    }

    @Test(arguments: ["https://a.example:8443/users/1", "http://a.example/users/1", "http://a.example:443/users/1"])
    func aPolicyThatChangesThePortOrTheSchemeAloneLosesThem(target: String) throws {
        let proposed = HTTPRequest(url: here, headers: secrets)
        var changed = proposed
        changed.url = try url(target)
        changed.headers[.accept] = "text/html"
        #expect(rules.request(changed, insteadOf: proposed).headers == [.accept: "text/html"])
        changed.url = try url("https://A.example:443/elsewhere")
        #expect(rules.request(changed, insteadOf: proposed).headers == changed.headers)
    }

    @Test func refererNeverLeavesHTTPS() throws {
        let request = HTTPRequest(url: here, headers: [.referer: "https://a.example/secret"])
        #expect(rules.request(after: request, status: 302, to: try url("http://b.example/")).headers.isEmpty)
        #expect(rules.request(after: request, status: 302, to: try url("https://b.example/")).headers.count == 1)
    }

    @Test func redactionSaysWhichFieldsMore() throws {
        let rules = RedirectRules(redaction: .standard.adding(names: ["X-Device"]))
        let request = HTTPRequest(url: here, headers: ["X-Device": "1", "X-Client": "ios"])
        let next = rules.request(after: request, status: 302, to: try url("https://b.example/"))
        #expect(next.headers == ["X-Client": "ios"])
    }
}
