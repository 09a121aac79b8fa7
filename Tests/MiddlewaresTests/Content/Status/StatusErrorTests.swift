import Foundation
import Interceptors
import InterceptorsTestSupport
import Testing

@Suite(.againstHanging) struct StatusErrorTests {
    private func error(
        _ response: HTTPResponse,
        method: HTTPRequest.Method = .get,
        url text: String = "https://example.com/a?q=1",
        bodyLimit: Int = 64
    ) async throws -> StatusError {
        let chain = InterceptorChain([.validateStatus(bodyLimit: bodyLimit)], transport: Recorder { _ in response })
        let request = HTTPRequest(method: method, url: try url(text))
        return try #require(await #expect(throws: StatusError.self) { try await chain.send(request) })
    }

    @Test func carriesTheResponseWithItsBodyAndNamesTheRequest() async throws {
        let received = HTTPResponse(status: 404, headers: ["X-Id": "7"], body: #"{"reason":"gone"}"#)
        let error = try await error(received, method: .delete)
        #expect(error.status == 404)
        #expect(error.headers["X-Id"] == "7")
        #expect(try await error.response?.body.collect(upTo: 100) == Data(#"{"reason":"gone"}"#.utf8))
        #expect(error.body == Data(#"{"reason":"gone"}"#.utf8))
        #expect(error.isBodyComplete)
        #expect("\(error)".contains("404 Not Found"))
        #expect("\(error)".contains("DELETE https://example.com/a?q=1"))
        #expect("\(error)".contains(#"{"reason":"gone"}"#))
    }

    @Test(arguments: [(63, true), (64, true), (65, false)])
    func aBufferedBodyIsCutAtTheLimit(count: Int, isComplete: Bool) async throws {
        let error = try await error(HTTPResponse(status: 500, body: HTTPBody(Data(repeating: 0x61, count: count))))
        #expect(error.body.count == min(count, 64))
        #expect(error.isBodyComplete == isComplete)
    }

    @Test func aStreamedBodyIsReadUpToTheLimitAndTheRestDiscarded() async throws {
        let discards = Tally()
        let chunks = Chunks(Array(repeating: String(repeating: "a", count: 40), count: 1_000))
        let body = HTTPBody.oneShot(chunks, onDiscard: { discards.count() })
        let error = try await error(HTTPResponse(status: 500, body: body))
        #expect(error.body == Data(repeating: 0x61, count: 64))
        #expect(!error.isBodyComplete)
        #expect(chunks.reads.value == 2)
        #expect(discards.value == 1)
        #expect(try await error.response?.body.collect(upTo: 64).count == 64)
    }

    @Test func aStreamedBodyOfExactlyTheLimitIsComplete() async throws {
        let chunks = Chunks([String(repeating: "a", count: 60), "bcde"])
        let error = try await error(HTTPResponse(status: 500, body: .oneShot(chunks)))
        #expect(error.body.count == 64)
        #expect(error.isBodyComplete)
    }

    @Test func aBodyThatBreaksOffDoesNotHideTheStatus() async throws {
        let chunks = Chunks(["half"], failure: TransportError(.truncated, "Cut off."))
        let error = try await error(HTTPResponse(status: 502, body: .oneShot(chunks)))
        #expect(error.status == 502)
        #expect(error.body == Data("half".utf8))
        #expect(!error.isBodyComplete)
    }

    @Test func aBodyThatWasReadBeforeDoesNotHideTheStatus() async throws {
        let body = HTTPBody.oneShot(Chunks(["a"]))
        _ = try await body.collect(upTo: 10)
        let error = try await error(HTTPResponse(status: 500, body: body))
        #expect(error.body.isEmpty)
        #expect(!error.isBodyComplete)
    }

    @Test func aLimitOfZeroKeepsNothing() async throws {
        let error = try await error(HTTPResponse(status: 500, body: .oneShot(Chunks(["a"]))), bodyLimit: 0)
        #expect(error.body.isEmpty)
        #expect(!error.isBodyComplete)
    }

    @Test func cancellingWhileTheBodyIsReadIsACancellation() async throws {
        let (began, continuation) = AsyncStream<Void>.makeStream()
        let discards = Tally()
        let body = HTTPBody.oneShot(NoChunks(began: continuation), onDiscard: { discards.count() })
        let chain = InterceptorChain(
            [.validateStatus()],
            transport: Recorder { _ in HTTPResponse(status: 500, body: body) }
        )
        let request = HTTPRequest(url: try url("https://example.com"))
        let call = Task { try await chain.send(request) }
        for await _ in began { break }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(discards.value == 1)
    }

    @Test(arguments: [
        ("/login?next=%2F&token=hush", "https://example.com/login?next=%2F&token=<redacted>"),
        ("//other.example/x", "https://other.example/x"),
        ("http://user:hush@h.example/", "http://<redacted>@h.example/"),
        ("b", "https://example.com/b"),
    ])
    func aRedirectSaysWhatWouldFollowIt(location: String, target: String) async throws {
        let error = try await error(HTTPResponse(status: 302, headers: [.location: location]))
        #expect(error.message.contains("redirects to \(target), and nothing inside validateStatus followed it"))
        #expect(error.message.contains(".followRedirects()"))
        #expect(!"\(error)".contains("hush"))
    }

    @Test func aRedirectIsResolvedAgainstTheURLThatAnswered() async throws {
        let response = HTTPResponse(
            status: 307,
            headers: [.location: "c"],
            url: try url("https://moved.example/b/")
        )
        #expect(try await error(response).message.contains("https://moved.example/b/c"))
    }

    @Test func aProxysChallengeNamesTheSettingOfTheTransport() async throws {
        let fields: HTTPFields = [.proxyAuthenticate: #"Basic realm="proxy""#]
        let error = try await error(HTTPResponse(status: 407, headers: fields))
        #expect(error.message.contains("CurlTransport(proxy: .url("))
    }

    @Test(arguments: [[:], [.location: ""], [.location: "http://[::1"]] as [HTTPFields])
    func aRedirectToNowhereSaysSo(fields: HTTPFields) async throws {
        let error = try await error(HTTPResponse(status: 301, headers: fields))
        #expect(error.message.contains("there is nothing to follow"))
    }

    @Test func neverASecretInWhatItPrints() async throws {
        let response = HTTPResponse(
            status: 400,
            headers: [.setCookie: "sid=hush-cookie", .wwwAuthenticate: "Bearer"],
            body: #"{"error":"bad","refresh_token":"hush-body","user":{"password":"hush-deep"}}"#,
            url: try url("https://user:hush-user@example.com/?access_token=hush-query#hush-fragment")
        )
        let error = try await error(response, bodyLimit: 1_000)
        var dumped = ""
        dump(error, to: &dumped)
        var dumpedOptional = ""
        dump(Optional(error as any Error), to: &dumpedOptional)
        for text in ["\(error)", String(reflecting: error), dumped, dumpedOptional] {
            #expect(text.contains("400"))
            #expect(!text.contains("hush"), "\(text)")
        }
    }

    @Test func controlCharactersFromTheServerAreEscaped() async throws {
        let status = try #require(HTTPResponse.Status(code: 500, reasonPhrase: "No\u{1B}[2J\r\nforged"))
        let error = try await error(HTTPResponse(status: status, body: "a\u{1B}[31mb\u{7}"))
        #expect(!"\(error)".contains("\u{1B}"))
        #expect(!"\(error)".contains("\n"))
        #expect("\(error)".contains(#"No\u{1B}[2J\r\nforged"#))
    }

    @Test(arguments: ["a\nforged", "a\r\nforged", "{\n  \"a\": 1\n}", "a\u{2028}forged"])
    func theServerCannotForgeALineOfALog(body: String) async throws {
        let error = try await error(HTTPResponse(status: 500, body: HTTPBody(body)))
        #expect(!"\(error)".unicodeScalars.contains { $0 == "\n" || $0 == "\r" || $0 == "\u{2028}" })
    }

    @Test func aBinaryBodyIsOnlyDescribed() async throws {
        let error = try await error(HTTPResponse(status: 500, body: HTTPBody(Data([0xFF, 0xD8, 0x00, 0x01]))))
        #expect(error.excerpt == "<4 bytes of binary data>")
    }
}
