import Foundation
import InterceptorsCore
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

#if canImport(InterceptorsURLSession)
import InterceptorsURLSession
#endif

@Suite(.againstHanging) struct RequestConversionsTests {
    private func foundationRequest() throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "https://h/x?y=z")))
    }

    @Test func textBecomesARequest() throws {
        let request = try HTTPRequest(method: .put, string: "https://h/a b?q=ü#f")
        #expect(request.method == .put)
        #expect(request.url.absoluteString == "https://h/a%20b?q=%C3%BC")
        let error = #expect(throws: TransportError.self) { try HTTPRequest(string: "/relative") }
        #expect(error?.code == .unsupportedURL)
    }

    @Test func foundationRequestKeepsWhatItSays() throws {
        var foundation = try foundationRequest()
        foundation.httpMethod = "PATCH"
        foundation.setValue("1", forHTTPHeaderField: "X-B")
        foundation.setValue("2", forHTTPHeaderField: "X-A")
        foundation.httpBody = Data([0, 255])
        foundation.timeoutInterval = 2.5
        let request = try HTTPRequest(foundation)
        #expect(request.method == .patch)
        #expect(request.url.absoluteString == "https://h/x?y=z")
        #expect(request.headers == ["X-A": "2", "X-B": "1"])
        #expect(request.body.data == Data([0, 255]))
        #expect(request.context.timeouts == Timeouts(idle: .seconds(2.5)))
    }

    @Test func plainFoundationRequestLeavesTheTimeoutsToTheTransport() throws {
        let request = try HTTPRequest(try foundationRequest())
        #expect(request.method == .get)
        #expect(request.headers.isEmpty)
        #expect(request.body.isEmpty)
        #expect(request.context.isEmpty)
    }

    @Test(arguments: [0, -1, .infinity, .greatestFiniteMagnitude, .nan, 1e300])
    func timeoutThatIsNoneBecomesNoLimit(timeout: Double) throws {
        var foundation = try foundationRequest()
        foundation.timeoutInterval = timeout
        #expect(try HTTPRequest(foundation).context.timeouts == Timeouts(idle: nil))
    }

    @Test func inputStreamIsRefused() throws {
        var foundation = try foundationRequest()
        foundation.httpBodyStream = InputStream(data: Data("x".utf8))
        let error = #expect(throws: TransportError.self) { try HTTPRequest(foundation) }
        #expect(error?.code == .unsupported)
    }

    @Test func methodThatIsNoTokenIsRefused() throws {
        var foundation = try foundationRequest()
        foundation.httpMethod = "GET /evil HTTP/1.1\r\n"
        let error = #expect(throws: TransportError.self) { try HTTPRequest(foundation) }
        #expect(error?.code == .invalidRequest)
    }

    @Test func fieldWithLineBreakIsHeldButNotSent() throws {
        var foundation = try foundationRequest()
        foundation.allHTTPHeaderFields = ["X-A": "b\r\nX-Evil: 1"]
        let request = try HTTPRequest(foundation)
        #expect(throws: TransportError.self) { try request.validate() }
    }

    @Test func requestBecomesFoundations() throws {
        let url = try #require(URL(string: "https://h/x"))
        var request = HTTPRequest(method: "PURGE", url: url, body: "content")
        request.headers.append("X-List", "a")
        request.headers.append("x-list", "b")
        request.headers.append("Cookie", "c=1")
        request.headers.append("Cookie", "d=2")
        request.context.timeouts = Timeouts(idle: .milliseconds(1500))
        let foundation = try URLRequest(request)
        #expect(foundation.url == url)
        #expect(foundation.httpMethod == "PURGE")
        #expect(foundation.httpBody == Data("content".utf8))
        #expect(foundation.value(forHTTPHeaderField: "X-List") == "a, b")
        #expect(foundation.value(forHTTPHeaderField: "Cookie") == "c=1; d=2")
        #expect(foundation.timeoutInterval == 1.5)
    }

    @Test func thereAndBackChangesNothing() throws {
        var request = try HTTPRequest(method: .post, string: "https://h:81/x%2Fy?z=%20")
        request.headers["Accept"] = "text/plain"
        request.body = "content"
        request.context.timeouts = Timeouts(idle: .seconds(7))
        let back = try HTTPRequest(try URLRequest(request))
        #expect(back.method == request.method)
        #expect(back.url == request.url)
        #expect(back.headers == request.headers)
        #expect(back.body.data == request.body.data)
        #expect(back.context.timeouts == request.context.timeouts)
    }

    @Test func noIdleLimitBecomesAWeek() throws {
        var request = try HTTPRequest(string: "https://h")
        #expect(try URLRequest(request).timeoutInterval == 60)
        request.context.timeouts = Timeouts(idle: nil)
        #expect(try URLRequest(request).timeoutInterval == 604_800)
    }

    @Test func streamsAndFilesAreRefused() throws {
        var request = try HTTPRequest(method: .post, string: "https://h")
        let stream = AsyncStream<Data> { $0.finish() }
        request.body = .oneShot(stream)
        let error = #expect(throws: TransportError.self) { try URLRequest(request) }
        #expect(error?.code == .unsupported)
        #expect(request.body.isReadable)
    }

    @Test func requestUnfitToBeSentIsRefused() throws {
        var request = try HTTPRequest(string: "https://h")
        request.headers["X-A"] = "b\r\nX-Evil: 1"
        #expect(throws: TransportError.self) { try URLRequest(request) }
    }

    @Test(arguments: ["https://h:0/", "https://h:65536/"])
    func textWithAnImpossiblePortBecomesNoRequest(text: String) throws {
        let error = #expect(throws: TransportError.self) { try HTTPRequest(string: text) }
        #expect(error?.code == .unsupportedURL)
        #expect(try HTTPRequest(string: "https://h:65535/").url.port == 65_535)
    }
}
