import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

func redirect(_ status: HTTPResponse.Status, _ location: String) -> HTTPResponse {
    HTTPResponse(status: status, headers: [.location: location])
}

/// Answers by URL. A URL without a redirect gets 200, with the URL as text.
func site(_ redirects: [String: (HTTPResponse.Status, String)]) -> Recorder {
    Recorder { request in
        var plain = request.url.absoluteString
        if let mark = plain.firstIndex(of: "#") { plain = String(plain[..<mark]) }
        guard let (status, location) = redirects[plain] else {
            return HTTPResponse(status: 200, body: HTTPBody(plain), url: request.url)
        }
        var response = redirect(status, location)
        response.url = request.url
        return response
    }
}

@Suite(.againstHanging)
struct FollowRedirectsInterceptorTests {
    private func chain(
        _ interceptor: AnyInterceptor = .followRedirects(),
        _ transport: any Transport
    ) -> InterceptorChain {
        InterceptorChain([interceptor], transport: transport)
    }

    @Test func eachHopIsFollowedAndTheResponseSaysHowItWasReached() async throws {
        let site = site(["https://h/a": (301, "/b"), "https://h/b": (302, "c?d"), "https://h/c?d": (307, "//g/e")])
        let response = try await chain(.followRedirects(), site).send(HTTPRequest(url: url("https://h/a")))
        #expect(response.status == 200)
        #expect(response.url == URL(string: "https://g/e"))
        #expect(
            site.requests.map(\.url.absoluteString) == ["https://h/a", "https://h/b", "https://h/c?d", "https://g/e"]
        )
        #expect(response.context.redirects.map(\.status) == [301, 302, 307])
        #expect(
            response.context.redirects.map(\.target.absoluteString) == ["https://h/b", "https://h/c?d", "https://g/e"]
        )
        #expect(
            response.context.redirects.map(\.url.absoluteString) == ["https://h/a", "https://h/b", "https://h/c?d"]
        )
    }

    @Test func answerWithoutRedirectHasNoHistoryAndAlwaysAURL() async throws {
        let response = try await chain(.followRedirects(), Recorder()).send(HTTPRequest(url: url("https://h/a")))
        #expect(response.context.isEmpty)
        #expect(response.url == URL(string: "https://h/a"))
    }

    @Test func missingAndEmptyLocationGiveTheResponseAsItIs() async throws {
        for fields in [HTTPFields(), [.location: ""]] as [HTTPFields] {
            let transport = Recorder { _ in HTTPResponse(status: 302, headers: fields, body: "moved") }
            let response = try await chain(.followRedirects(), transport).send(HTTPRequest(url: url("https://h/a")))
            #expect(response.status == 302)
            #expect(response.body.data == Data("moved".utf8))
            #expect(transport.requests.count == 1)
        }
    }

    @Test func unparsableLocationIsAnErrorThatNamesTheRequest() async throws {
        let site = site(["https://h/a?token=hunter2": (302, "https://")])
        let error = await #expect(throws: RedirectError.self) {
            try await chain(.followRedirects(), site).send(HTTPRequest(url: url("https://h/a?token=hunter2")))
        }
        #expect(error?.code == .invalidLocation)
        #expect(error?.description.contains("GET https://h/a?token=<redacted>") == true)
    }

    @Test func limitEndsALoopWithAnErrorThatListsTheHopsRedacted() async throws {
        let site = site(["https://h/a?token=hunter2": (302, "/b"), "https://h/b": (303, "/a?token=hunter2")])
        let error = await #expect(throws: RedirectError.self) {
            try await chain(.followRedirects(limit: 3), site).send(HTTPRequest(url: url("https://h/a?token=hunter2")))
        }
        #expect(error?.code == .tooManyRedirects)
        #expect(error?.redirects.count == 4)
        #expect(site.requests.count == 4)
        let text = try #require(error?.description)
        #expect(text.contains("303 https://h/b -> https://h/a?token=<redacted>"))
        var dumped = ""
        dump(error, to: &dumped)
        for shown in [text, String(reflecting: error), dumped] { #expect(!shown.contains("hunter2")) }
    }

    @Test func asManyRedirectsAsTheLimitAreFollowed() async throws {
        let transport = Recorder { request in
            let number = Int(request.url.lastPathComponent) ?? 0
            return number == 20 ? HTTPResponse(status: 200) : redirect(302, "\(number + 1)")
        }
        let response = try await chain(.followRedirects(), transport).send(HTTPRequest(url: url("https://h/0")))
        #expect(response.context.redirects.count == 20)
        let error = await #expect(throws: RedirectError.self) {
            try await chain(.followRedirects(limit: 19), transport).send(HTTPRequest(url: url("https://h/0")))
        }
        #expect(error?.code == .tooManyRedirects)
        let none = await #expect(throws: RedirectError.self) {
            try await chain(.followRedirects(limit: -1), transport).send(HTTPRequest(url: url("https://h/0")))
        }
        #expect(none?.redirects.count == 1)
    }

    @Test func httpsNeverGoesToHTTPUnlessAsked() async throws {
        let site = site(["https://h/a": (302, "http://h/b")])
        let error = await #expect(throws: RedirectError.self) {
            try await chain(.followRedirects(), site).send(HTTPRequest(url: url("https://h/a")))
        }
        #expect(error?.code == .insecureRedirect)
        #expect(site.requests.count == 1)
        let allowed = chain(.followRedirects(allowsDowngrade: true), site)
        var request = HTTPRequest(url: try url("https://h/a"), headers: [.authorization: "Bearer hunter2"])
        request.headers[.accept] = "text/html"
        #expect(try await allowed.send(request).url == URL(string: "http://h/b"))
        #expect(site.requests.last?.headers == [.accept: "text/html"])
    }

    @Test func otherSchemesAreAnErrorThatAPolicyCanPrevent() async throws {
        let site = site(["https://h/a": (302, "myapp://callback?code=hunter2")])
        let error = await #expect(throws: RedirectError.self) {
            try await chain(.followRedirects(), site).send(HTTPRequest(url: url("https://h/a")))
        }
        #expect(error?.code == .unsupportedScheme)
        #expect(error?.description.contains("hunter2") == false)
        let stopping = chain(.followRedirects { request, _ in request.url.scheme == "myapp" ? nil : request }, site)
        let response = try await stopping.send(HTTPRequest(url: url("https://h/a")))
        #expect(response.headers[.location] == "myapp://callback?code=hunter2")
    }

    @Test func fieldsDroppedForAnotherOriginDoNotComeBack() async throws {
        let site = site(["https://a/1": (302, "https://b/2"), "https://b/2": (302, "https://a/3")])
        let request = HTTPRequest(
            url: try url("https://a/1"),
            headers: [.authorization: "Bearer hunter2", "X-A": "1"]
        )
        _ = try await chain(.followRedirects(), site).send(request)
        #expect(site.requests.map { $0.headers.contains(.authorization) } == [true, false, false])
        #expect(site.requests.allSatisfy { $0.headers["X-A"] == "1" })
    }

    @Test func permanentAndTemporaryRedirectsSendTheWholeBodyAgain() async throws {
        let bodies = Shared<[Data]>([])
        for status in [307, 308] as [HTTPResponse.Status] {
            bodies.value = []
            let transport = Recorder { request in
                let body = try await request.body.collect(upTo: 100)
                bodies.change { $0.append(body) }
                return request.url.path == "/a" ? redirect(status, "/b") : HTTPResponse(status: 200)
            }
            let body = HTTPBody.restartable { Chunks(["o", "nce"]) }
            let request = HTTPRequest(method: .post, url: try url("https://h/a"), body: body)
            #expect(try await chain(.followRedirects(), transport).send(request).status == 200)
            #expect(bodies.value == [Data("once".utf8), Data("once".utf8)])
            #expect(transport.requests.map(\.method) == [.post, .post])
        }
    }

    @Test func oneShotBodyFailsClearlyBeforeAnythingIsSent() async throws {
        let transport = Recorder { request in
            _ = try await request.body.collect(upTo: 100)
            return redirect(307, "/b")
        }
        let request = HTTPRequest(method: .post, url: try url("https://h/a"), body: .oneShot(Chunks(["once"])))
        let error = await #expect(throws: TransportError.self) {
            try await chain(.followRedirects(), transport).send(request)
        }
        #expect(error?.code == .bodyNotReplayable)
        #expect(error?.message.contains("307") == true)
        #expect(transport.requests.count == 1)
    }

    @Test func oneShotBodyIsNoObstacleWhereTheContentGoes() async throws {
        let transport = Recorder { request in
            _ = try await request.body.collect(upTo: 100)
            return request.method == .post ? redirect(303, "/b") : HTTPResponse(status: 200)
        }
        let request = HTTPRequest(method: .post, url: try url("https://h/a"), body: .oneShot(Chunks(["once"])))
        #expect(try await chain(.followRedirects(), transport).send(request).status == 200)
        #expect(transport.requests.last?.body.isEmpty == true)
    }

    @Test func contextOfTheRequestGoesWithEachHop() async throws {
        let site = site(["https://h/a": (303, "https://g/b")])
        var request = HTTPRequest(method: .post, url: try url("https://h/a"))
        request.context.timeouts = Timeouts(total: .seconds(3))
        request.context.clientOrigin = Origin(try url("https://h"))
        _ = try await chain(.followRedirects(), site).send(request)
        #expect(site.requests.map(\.context.timeouts?.total) == [.seconds(3), .seconds(3)])
        #expect(site.requests.map(\.context.clientOrigin?.host) == ["h", "h"])
    }

    @Test func discardedAreTheBodiesOfRedirectsAloneAndAlsoWhenTheCallFails() async throws {
        let discarded = Shared<[String]>([])
        let transport = Recorder { request in
            let path = request.url.path
            let body = HTTPBody.oneShot(Chunks(["x"]), onDiscard: { discarded.change { $0.append(path) } })
            let fields: HTTPFields =
                path == "/c" ? [:] : [.location: path == "/a" ? "/b" : path == "/x" ? "https://" : "/c"]
            return HTTPResponse(status: path == "/c" ? 200 : 302, headers: fields, body: body)
        }
        let response = try await chain(.followRedirects(), transport).send(HTTPRequest(url: url("https://h/a")))
        #expect(discarded.value == ["/a", "/b"])
        #expect(response.body.isReadable)
        await #expect(throws: RedirectError.self) {
            try await chain(.followRedirects(), transport).send(HTTPRequest(url: url("https://h/x")))
        }
        #expect(discarded.value == ["/a", "/b", "/x"])
        await #expect(throws: Refused.self) {
            try await chain(.followRedirects { _, _ in throw Refused() }, transport)
                .send(HTTPRequest(url: url("https://h/a")))
        }
        #expect(discarded.value == ["/a", "/b", "/x", "/a"])
    }

    @Test func policySeesEachHopAndCanChangeOrStopIt() async throws {
        let site = site(["https://h/a": (302, "/b"), "https://h/b": (302, "/c"), "https://h/c": (302, "/d")])
        let seen = Shared<[String]>([])
        let policy: @Sendable (HTTPRequest, HTTPResponse) async throws -> HTTPRequest? = { request, response in
            let count = response.context.redirects.count
            let url = response.url?.absoluteString ?? ""
            seen.change { $0.append("\(count) \(response.status.code) \(url) -> \(request.url)") }
            if request.url.path == "/d" { return nil }
            var request = request
            request.headers["X-Hop"] = "\(count)"
            return request
        }
        let response = try await chain(.followRedirects(policy: policy), site).send(
            HTTPRequest(url: url("https://h/a"))
        )
        #expect(response.status == 302)
        #expect(response.url?.path == "/c")
        #expect(response.context.redirects.count == 2)
        #expect(site.requests.map { $0.headers["X-Hop"] } == [nil, "0", "1"])
        #expect(
            seen.value == [
                "0 302 https://h/a -> https://h/b", "1 302 https://h/b -> https://h/c",
                "2 302 https://h/c -> https://h/d",
            ]
        )
    }

    @Test func policyCannotLeadFromHTTPSToHTTPUnlessThatIsAllowed() async throws {
        let site = site(["https://h/a": (302, "/b")])
        let target = try url("http://h/b")
        let policy: @Sendable (HTTPRequest, HTTPResponse) async throws -> HTTPRequest? = { request, _ in
            var request = request
            request.url = target
            return request
        }
        let error = await #expect(throws: RedirectError.self) {
            try await chain(.followRedirects(policy: policy), site).send(HTTPRequest(url: url("https://h/a")))
        }
        #expect(error?.code == .insecureRedirect)
    }

    @Test func policyThatLeadsToYetAnotherOriginTakesNoCredentialsThere() async throws {
        let site = site(["https://h/a": (302, "/b")])
        let target = try url("https://g/b")
        let policy: @Sendable (HTTPRequest, HTTPResponse) async throws -> HTTPRequest? = { request, _ in
            #expect(request.headers[.authorization] == "of h")
            var request = request
            request.url = target
            request.headers["X-Api-Key"] = "of g"
            return request
        }
        let fields: HTTPFields = [.authorization: "of h", .cookie: "of=h", "X-Api-Key": "of h", .accept: "text/html"]
        _ = try await chain(.followRedirects(policy: policy), site).send(
            HTTPRequest(url: url("https://h/a"), headers: fields)
        )
        #expect(site.requests.map(\.url.absoluteString) == ["https://h/a", "https://g/b"])
        #expect(site.requests.last?.headers == ["X-Api-Key": "of g", .accept: "text/html"])
    }

    @Test func cancellationBetweenHopsSendsNothingMore() async throws {
        let transport = Recorder { _ in
            withUnsafeCurrentTask { $0?.cancel() }
            return redirect(302, "/b")
        }
        await #expect(throws: CancellationError.self) {
            try await chain(.followRedirects(), transport).send(HTTPRequest(url: url("https://h/a")))
        }
        #expect(transport.requests.count == 1)
    }

    @Test func relativeLocationIsResolvedAgainstTheURLAsChangedFurtherInside() async throws {
        let site = site(["https://inner/x/a": (302, "b")])
        let rewriting: AnyInterceptor = .intercept { request, next in
            var request = request
            if request.url.host() == "h" { request.url = try url("https://inner/x/a") }
            return try await next(request)
        }
        let chain = InterceptorChain([.followRedirects(), rewriting], transport: site)
        #expect(try await chain.send(HTTPRequest(url: url("https://h/a"))).url == URL(string: "https://inner/x/b"))
    }
}

struct Refused: Error {}
