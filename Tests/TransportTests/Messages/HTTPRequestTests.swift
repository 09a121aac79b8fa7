import Foundation
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct HTTPRequestTests {
    private func request(_ url: String) throws -> HTTPRequest { HTTPRequest(url: try #require(URL(string: url))) }

    private func code(_ request: HTTPRequest) -> HTTPErrorCode? {
        do {
            try request.validate()
            return nil
        } catch {
            return (error as? TransportError)?.code ?? .transportFailed
        }
    }

    @Test func requestThatMustNotBeSentIsRefusedWithItsReason() throws {
        var request = HTTPRequest(url: try #require(URL(string: "https://example.com/?token=hush")))
        request.context.sendingForbidden = "The program is offline."
        let error = #expect(throws: TransportError.self) { try request.validate() }
        #expect(error?.code == .sendingForbidden)
        #expect(error?.message == "The program is offline. Nothing was sent.")
        #expect(!"\(try #require(error))".contains("hush"))
        request.context.sendingForbidden = nil
        try request.validate()
    }

    @Test func byDefaultItIsAnEmptyGet() throws {
        let request = try request("https://a.example/")
        #expect(request.method == .get)
        #expect(request.headers.isEmpty && request.body.isEmpty && request.context.isEmpty)
        #expect(code(request) == nil)
    }

    @Test(arguments: [
        "https://a.example", "HTTP://A.EXAMPLE/", "http://127.0.0.1:1/", "http://[::1]:8080/x?y#z", "http://[::1]",
        "https://a.example:65535/", "https://a.example:/", "https://xn--bcher-kva.example/",
        "https://a.example/a:b@c:99999/", "https://a.example?x=:99999",
    ])
    func anAbsoluteHTTPURLIsAccepted(url: String) throws {
        #expect(code(try request(url)) == nil)
    }

    @Test(arguments: [
        "/relative", "a.example/x", "ftp://a.example/", "file:///etc/passwd", "data:,x", "https:", "https:///x",
        "https://",
        "http:a.example", "ws://a.example/", "javascript:alert(1)", "https://a.example:0/", "https://a.example:65536/",
        "https://a.example:99999999999999999999/", "https://u:p@a.example:99999999999999999999/",
        "http://[::1]:99999999999999999999/", "//a.example/", "https://u:p@a.example/x", "https://u@a.example/",
        "https://:p@a.example/",
    ])
    func anyOtherURLIsRefused(url: String) throws {
        let request = try request(url)
        #expect(code(request) == .unsupportedURL)
    }

    @Test func aRelativeURLWithABaseIsAbsolute() throws {
        let url = try #require(URL(string: "x/y", relativeTo: URL(string: "https://a.example/v1/")))
        #expect(code(HTTPRequest(url: url)) == nil)
    }

    @Test(arguments: ["", "GET ", "G ET", "GET\r\n", "G/T", "GÉT", "GET\u{0}", "(", "a:b"])
    func aMethodThatIsNoTokenIsRefused(method: String) throws {
        #expect(HTTPRequest.Method(rawValue: method) == nil)
        var request = try request("https://a.example/")
        request.method = HTTPRequest.Method(stringLiteral: method)
        #expect(code(request) == .invalidRequest)
    }

    @Test func aMethodIsComparedExactly() {
        #expect(HTTPRequest.Method(rawValue: "GET") == .get)
        #expect(HTTPRequest.Method(rawValue: "get") != .get)
        #expect(HTTPRequest.Method(rawValue: "M-SEARCH")?.description == "M-SEARCH")
    }

    @Test func safetyAndIdempotencyFollowTheRegistry() {
        let safe: [HTTPRequest.Method] = [.get, .head, .options, .trace, .query]
        #expect(safe.allSatisfy { $0.isSafe && $0.isIdempotent })
        #expect(!HTTPRequest.Method.put.isSafe && HTTPRequest.Method.put.isIdempotent)
        #expect(!HTTPRequest.Method.delete.isSafe && HTTPRequest.Method.delete.isIdempotent)
        for method in [.post, .patch, .connect, "LOCK"] as [HTTPRequest.Method] { #expect(!method.isIdempotent) }
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\u{0}", "\u{7F}", "\u{1}"])
    func aControlCharacterInAValueIsRefusedBeforeAnythingIsSent(value: String) throws {
        var request = try request("https://a.example/")
        request.headers["X-A"] = value
        #expect(code(request) == .invalidRequest)
        request.headers = ["X-A": "fine"]
        request.headers.append("X-B", value)
        #expect(code(request) == .invalidRequest)
        request.headers["X-B"] = "a\tb"
        #expect(code(request) == nil)
    }

    @Test(arguments: ["", "X A", "X-A:", "X\r\nA", "X\u{0}", "Ü", "(x)"])
    func aNameThatIsNoTokenIsRefusedBeforeAnythingIsSent(name: String) throws {
        var request = try request("https://a.example/")
        request.headers[HTTPField.Name(stringLiteral: name)] = "x"
        #expect(code(request) == .invalidRequest)
    }

    @Test func theErrorNamesTheFieldButNotItsValue() throws {
        var request = try request("https://a.example/?token=hush")
        request.headers["X-A"] = "hush"
        request.headers["X-B"] = "hush\r\nhush"
        let error = #expect(throws: TransportError.self) { try request.validate() }
        #expect(error?.message.contains("X-B") == true)
        #expect(error?.description.contains("hush") == false)
        #expect(error?.description.contains("\r") == false)
    }

    @Test func framingIsTheTransportsToSet() throws {
        var request = try request("https://a.example/")
        request.headers = [.transferEncoding: "chunked"]
        #expect(code(request) == .invalidRequest)
        request.headers = ["transfer-encoding": "identity"]
        #expect(code(request) == .invalidRequest)
    }

    @Test func aContentLengthMustBeThatOfTheBody() throws {
        var request = try request("https://a.example/")
        request.body = "abc"
        request.headers = [.contentLength: "3"]
        #expect(code(request) == nil)
        for value in ["2", "4", "", "03", "+3", "3.0", "3, 3", "-3", "0x3", "99999999999999999999"] {
            request.headers = [.contentLength: value]
            #expect(code(request) == .invalidRequest)
        }
        request.headers = [.contentLength: "3", "content-length": "3"]
        #expect(code(request) == .invalidRequest)
        request.headers = [.contentLength: "3"]
        request.body = .oneShot(AsyncStream { $0.finish() })
        #expect(code(request) == .invalidRequest)
        request.body = .oneShot(AsyncStream { $0.finish() }, length: 3)
        #expect(code(request) == nil)
        request.body = .empty
        request.headers = [.contentLength: "0"]
        #expect(code(request) == nil)
    }

    @Test func aMutationOfOneRequestNeverLeaksIntoAnother() throws {
        var original = try request("https://a.example/")
        original.headers[.accept] = "a"
        original.context.timeouts = Timeouts(total: .seconds(1))
        var copy = original
        copy.method = .post
        copy.headers[.accept] = "b"
        copy.headers.append(.authorization, "x")
        copy.body = "body"
        copy.context.timeouts = nil
        copy.context.responseBody = .streamed
        #expect(original.method == .get)
        #expect(original.headers == [.accept: "a"])
        #expect(original.body.isEmpty)
        #expect(original.context.timeouts?.total == .seconds(1))
        #expect(original.context.responseBody == .buffered)
    }
}
