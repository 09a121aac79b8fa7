import Dispatch
import Foundation
import Interceptors
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct UnwrapEnvelopeInterceptorTests {
    let envelope = #"{"code":200,"object":{"id":42},"message":"OK"}"#

    /// Sends a GET, or another method, through the interceptor to a server that gives this response.
    func send(
        _ response: HTTPResponse,
        through interceptor: any Interceptor,
        method: HTTPRequest.Method = .get
    ) async throws -> HTTPResponse {
        let request = HTTPRequest(method: method, url: try url("https://api.example.com/users?token=tok123"))
        return try await InterceptorChain([interceptor], transport: Recorder { _ in response }).send(request)
    }

    func payload(
        of body: String,
        _ interceptor: any Interceptor = .unwrapEnvelope(payload: "object")
    ) async throws -> String {
        let response = try await send(HTTPResponse(status: 200, body: HTTPBody(body)), through: interceptor)
        return String(decoding: try #require(response.body.data), as: UTF8.self)
    }

    func error(
        of body: String,
        _ interceptor: any Interceptor = .unwrapEnvelope(payload: "object"),
        status: HTTPResponse.Status = 200
    ) async throws -> EnvelopeError {
        try await #require(throws: EnvelopeError.self) {
            try await send(HTTPResponse(status: status, body: HTTPBody(body)), through: interceptor)
        }
    }

    // MARK: Payloads

    @Test func openedEnvelopeIsKeptIfAskedFor() async throws {
        let body = #"{"code":200,"object":[1],"paging":{"total":17},"message":"OK"}"#
        func kept(_ interceptor: AnyInterceptor) async throws -> Envelope? {
            let response = try await send(HTTPResponse(status: 200, body: HTTPBody(body)), through: interceptor)
            #expect(response.body.data == Data("[1]".utf8))
            return response.context.envelope
        }
        #expect(try await kept(.unwrapEnvelope(payload: "object")) == nil)
        let envelope = try #require(try await kept(.unwrapEnvelope(payload: "object", keepsEnvelope: true)))
        #expect(envelope.text(at: "paging.total") == "17")
        #expect(envelope.message == "OK")
        #expect(envelope.code == 200)
    }

    /// The body's memory may be a mapped file that can't be written to.
    @Test func memoryThatIsNotTheBodysOwnStaysAsItIs() async throws {
        let content = String(repeating: "abcdefgh", count: 40_000)
        let bytes = Array(#"{"code":200,"message":"x","object":"\#(content)"}"#.utf8)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 16)
        defer { memory.deallocate() }
        memory.copyBytes(from: bytes)
        let start = UInt(bitPattern: memory.baseAddress)
        // Only the response holds the bytes, so an implementation that changes unshared memory in place would change
        // these.
        let transport = Recorder { _ in
            let start = try #require(UnsafeMutableRawPointer(bitPattern: start))
            return HTTPResponse(
                status: 200,
                body: HTTPBody(Data(bytesNoCopy: start, count: bytes.count, deallocator: .none))
            )
        }
        let chain = InterceptorChain([.unwrapEnvelope(payload: "object")], transport: transport)
        for _ in 0..<2 {
            let response = try await chain.send(HTTPRequest(url: try url("https://api.example.com/")))
            #expect(response.body.data == Data("\"\(content)\"".utf8))
            #expect(memory.elementsEqual(bytes))
        }
    }

    @Test func thePayloadIsWhatTheServerWroteByteForByte() async throws {
        #expect(try await payload(of: envelope) == #"{"id":42}"#)
        #expect(try await payload(of: #"{"object": [ 1.0 , "\u00e9" ] , "code":204}"#) == #"[ 1.0 , "\u00e9" ]"#)
        #expect(try await payload(of: #"{"object":"text","code":"200"}"#) == #""text""#)
        #expect(try await payload(of: "\u{FEFF} {\"c\\u006fde\":2e2,\"object\":7}\r\n") == "7")
    }

    @Test func aPayloadIsFoundAtItsPath() async throws {
        let body = #"{"meta":{"status":0,"text":"fine"},"data":{"result":{"id":1}}}"#
        let interceptor = AnyInterceptor.unwrapEnvelope(
            payload: "data.result",
            code: "meta.status",
            message: "meta.text",
            success: .codes(0)
        )
        #expect(try await payload(of: body, interceptor) == #"{"id":1}"#)
    }

    @Test func aNullPayloadStaysNull() async throws {
        #expect(try await payload(of: #"{"code":200,"object":null}"#) == "null")
    }

    @Test func aPayloadMissingOnSuccessIsAnEmptyBody() async throws {
        #expect(try await payload(of: #"{"code":200,"message":"Deleted"}"#) == "")
        #expect(try await payload(of: #"{"code":200,"data":[]}"#, .unwrapEnvelope(payload: "data.result")) == "")
    }

    @Test func anEmptyPathKeepsTheWholeBody() async throws {
        #expect(try await payload(of: envelope, .unwrapEnvelope(payload: "")) == envelope)
        #expect(try await error(of: #"{"code":9}"#, .unwrapEnvelope(payload: "")).serverCode == 9)
    }

    @Test(arguments: [10, 1_000, 100_000], [0, 100_000])
    func thePayloadsIndicesBeginAtZero(payloadSize: Int, paddingSize: Int) async throws {
        let padding = String(repeating: "p", count: paddingSize)
        let text = String(repeating: "x", count: payloadSize)
        let whole = Data("__{\"padding\":\"\(padding)\",\"code\":200,\"object\":\"\(text)\",\"more\":[1]}".utf8)
        // The body is a slice, as an inner interceptor may have left it.
        let response = HTTPResponse(status: 200, body: HTTPBody(whole[2...]))
        let unwrapped = try await send(response, through: .unwrapEnvelope(payload: "object"))
        let bytes = try #require(unwrapped.body.data)
        #expect(bytes.startIndex == 0)
        #expect(bytes[0] == UInt8(ascii: "\""))
        #expect(bytes == Data("\"\(text)\"".utf8))
        #expect(unwrapped.body.length == Int64(payloadSize + 2))
        #expect(response.body.data == whole[2...], "The response that came is not changed by it.")
    }

    @Test func contentLengthIsSetRightAndDigestsGo() async throws {
        let fields: HTTPFields = [
            "content-length": "46", "Content-Digest": "sha-256=:x:", "Repr-Digest": "sha-256=:x:", "Digest": "x",
            "Content-MD5": "x", .eTag: "\"1\"",
            .contentType: "application/json; charset=utf-8", .setCookie: "a=1", .setCookie: "b=2",
        ]
        let response = HTTPResponse(status: 200, headers: fields, body: HTTPBody(envelope))
        let unwrapped = try await send(response, through: .unwrapEnvelope(payload: "object"))
        #expect(unwrapped.headers[values: .contentLength] == ["9"])
        #expect(unwrapped.headers.map(\.name) == [.contentLength, .eTag, .contentType, .setCookie, .setCookie])
        let without = try await send(
            HTTPResponse(status: 200, body: HTTPBody(envelope)),
            through: .unwrapEnvelope(payload: "object")
        )
        #expect(without.headers.isEmpty)
    }

    // MARK: Failures

    @Test func anEnvelopeOfFailureIsAnErrorThatTellsAll() async throws {
        let body = #"{"code":1005,"message":"No such \u0075ser","object":null}"#
        let error = try await error(of: body)
        #expect(error.code == .envelopeFailure)
        #expect(error.serverCode == 1005 && error.serverCode?.number == 1005 && error.serverCode?.text == "1005")
        #expect(error.serverMessage == "No such user")
        #expect(error.body == Data(body.utf8))
        #expect(error.status == 200 && error.request?.method == .get)
        #expect(error.request?.url == "https://api.example.com/users?token=<redacted>")
    }

    @Test func theErrorNamesTheURLThatAnswered() async throws {
        let response = HTTPResponse(status: 200, body: #"{"code":1}"#, url: try url("https://b.example.com/moved"))
        let error = try await #require(throws: EnvelopeError.self) {
            try await send(response, through: .unwrapEnvelope(payload: "object"))
        }
        #expect(error.request?.url == "https://b.example.com/moved")
    }

    @Test(arguments: [
        (#""message":null"#, nil), (#""message":7"#, "7"), (#""message":"""#, ""), (#""text":"x""#, nil),
        (#""message":{"en":"No"}"#, #"{"en":"No"}"#), (#""message":"a\qb""#, #"a\qb"#),
        (#""message":"\ud800 \ud83d\ude00""#, "\u{FFFD} 😀"),
    ])
    func aMessageOfAnyKindHasADefinedText(member: String, message: String?) async throws {
        #expect(try await error(of: "{\"code\":1,\(member)}").serverMessage == message)
    }

    @Test func aMessageThatIsNotUTF8IsRepaired() async throws {
        let body = Data(#"{"code":1,"message":"a"#.utf8) + [0xFF] + Data("\"}".utf8)
        let error = try await #require(throws: EnvelopeError.self) {
            try await send(
                HTTPResponse(status: 200, body: HTTPBody(body)),
                through: .unwrapEnvelope(payload: "object")
            )
        }
        #expect(error.serverMessage == "a\u{FFFD}")
    }

    // MARK: What decides

    @Test(arguments: [
        ("200", true), ("299", true), ("300", false), ("199", false), ("-200", false), ("200.0", true), ("2e2", true),
        ("200.5", false), ("1e400", false), ("123456789012345678901234567890", false), (#""200""#, true),
        (#""0200""#, true), (#""OK""#, false), (#""""#, false), (#"" 200""#, false), ("true", false),
    ])
    func codesOfEveryKindAreJudged(code: String, isSuccess: Bool) async throws {
        let body = "{\"object\":1,\"code\":\(code)}"
        if isSuccess {
            #expect(try await payload(of: body) == "1")
        } else {
            #expect(try await error(of: body).code == .envelopeFailure)
        }
    }

    @Test(arguments: ["null", "{}", "[200]", #"{"code":200}"#])
    func whatHasNoCodeIsNoEnvelope(code: String) async throws {
        let body = "{\"object\":1,\"code\":\(code)}"
        #expect(try await error(of: body).code == .notAnEnvelope)
        #expect(try await payload(of: body, .unwrapEnvelope(payload: "object", passesOthers: true)) == body)
    }

    @Test func aPayloadWithoutACodeIsNoEnvelope() async throws {
        let error = try await error(of: #"{"object":{"id":42}}"#)
        #expect(error.code == .notAnEnvelope)
        #expect(error.message.contains("at code"))
    }

    @Test func ofCodesWithTheSameNameTheLastCounts() async throws {
        #expect(try await payload(of: #"{"code":500,"object":1,"code":200,"object":2}"#) == "2")
        #expect(try await error(of: #"{"code":200,"object":1,"code":500}"#).serverCode == 500)
    }

    @Test func codesMayBeListed() async throws {
        let interceptor = AnyInterceptor.unwrapEnvelope(payload: "object", success: .codes(0, "ok"))
        #expect(try await payload(of: #"{"code":0,"object":1}"#, interceptor) == "1")
        #expect(try await payload(of: #"{"code":"0","object":1}"#, interceptor) == "1")
        #expect(try await payload(of: #"{"code":"ok","object":1}"#, interceptor) == "1")
        #expect(try await error(of: #"{"code":"OK","object":1}"#, interceptor).serverCode == "OK")
    }

    @Test(arguments: [
        ("true", true), ("false", false), ("1", true), ("0", false), (#""True""#, true), (#""1""#, true),
        (#""no""#, false), ("2", false), (#""""#, false),
    ])
    func aFlagDecides(flag: String, isSuccess: Bool) async throws {
        let interceptor = AnyInterceptor.unwrapEnvelope(payload: "object", success: .flag("meta.success"))
        let body = "{\"meta\":{\"success\":\(flag)},\"object\":1,\"code\":77}"
        if isSuccess {
            #expect(try await payload(of: body, interceptor) == "1")
        } else {
            #expect(try await error(of: body, interceptor).serverCode == 77)
        }
    }

    @Test func withoutItsFlagItIsNoEnvelope() async throws {
        let interceptor = AnyInterceptor.unwrapEnvelope(payload: "object", success: .flag("success"))
        #expect(try await error(of: envelope, interceptor).code == .notAnEnvelope)
        #expect(try await error(of: #"{"success":null}"#, interceptor).code == .notAnEnvelope)
    }

    @Test func aClosureSeesTheEnvelopeAndDecides() async throws {
        let interceptor = AnyInterceptor.unwrapEnvelope(
            payload: "object",
            success: .custom { envelope in
                #expect(envelope.code == "x" && envelope.message == "m" && envelope.status == 200)
                #expect(envelope.payload == Data("[1]".utf8) && envelope.payload?.startIndex == 0)
                #expect(envelope.text(at: "object") == nil && envelope.text(at: "missing.one") == nil)
                return envelope.text(at: "state.name") == "done"
            }
        )
        let body = #"{"code":"x","object":[1],"message":"m","state":{"name":"done"}}"#
        #expect(try await payload(of: body, interceptor) == "[1]")
        let refused = body.replacing("done", with: "open")
        #expect(try await error(of: refused, interceptor).serverCode == "x")
    }

    @Test func whatAClosureThrowsReachesTheCaller() async throws {
        let interceptor = AnyInterceptor.unwrapEnvelope(
            payload: "object",
            success: .custom { _ in throw URLError(.userAuthenticationRequired) }
        )
        await #expect(throws: URLError.self) { try await payload(of: envelope, interceptor) }
    }

    // MARK: What is no envelope

    static let strangers: [(String, HTTPErrorCode)] = [
        ("<html>502</html>", .notAnEnvelope), ("[1,2]", .notAnEnvelope), ("42", .notAnEnvelope),
        ("\"x\"", .notAnEnvelope),
        ("{}", .notAnEnvelope), ("  ", .notAnEnvelope), ("\u{FEFF}", .notAnEnvelope),
        (#"{"code":200,"object":1"#, .malformed), (#"{"code":200,"object":1}}"#, .malformed),
        (#"{"code":200,"object":[1}"#, .malformed), (#"{"code":200,"object":"x}"#, .malformed),
        (#"{"code":200,,"object":1}"#, .malformed), (#"{"code":200,"object":1,}"#, .malformed),
        (#"{"code":200}{"code":200}"#, .malformed), (#"{"code":0200,"object":1}"#, .malformed),
        ("{\"object\":" + String(repeating: "[", count: 10_000), .malformed),
    ]

    @Test(arguments: strangers)
    func whatIsNoEnvelopeFailsOrPassesAsConfigured(body: String, reason: HTTPErrorCode) async throws {
        let error = try await error(of: body)
        #expect(error.code == reason)
        #expect(error.body == Data(body.utf8) && error.serverCode == nil)
        #expect(try await payload(of: body, .unwrapEnvelope(payload: "object", passesOthers: true)) == body)
    }

    @Test func jsonNested10000DeepIsUnwrapped() async throws {
        let nested = String(repeating: "[", count: 10_000) + String(repeating: "]", count: 10_000)
        #expect(try await payload(of: "{\"code\":200,\"object\":\(nested)}") == nested)
    }

    @Test func anEnvelopeCutAtAnyByteFailsOrPassesWhole() async throws {
        let body = #"{"message":"caf\u00e9 \"x\"","object":{"a":[{"b":"]}"}]},"code":200}"#
        for count in 1..<body.utf8.count {
            let cut = String(decoding: body.utf8.prefix(count), as: UTF8.self)
            #expect(try await error(of: cut).code == .malformed)
            #expect(try await payload(of: cut, .unwrapEnvelope(payload: "object", passesOthers: true)) == cut)
        }
    }

    // MARK: What passes untouched

    @Test(arguments: [204, 205, 206, 304])
    func statusesWithoutAWholeBodyPass(code: Int) async throws {
        let response = HTTPResponse(status: try #require(.init(code: code)), body: #"{"code":1}"#)
        let passed = try await send(response, through: .unwrapEnvelope(payload: "object") { _ in true })
        #expect(passed.body.data == Data(#"{"code":1}"#.utf8))
    }

    @Test func headAndEmptyBodiesPass() async throws {
        let fields: HTTPFields = [.contentLength: "46", .contentType: "application/json"]
        let head = HTTPResponse(status: 200, headers: fields)
        let passed = try await send(head, through: .unwrapEnvelope(payload: "object"), method: .head)
        #expect(passed.headers == fields)
        #expect(try await payload(of: "") == "")
    }

    @Test(arguments: [301, 302, 307, 401, 407])
    func whatOthersHandleIsNotTurnedIntoAnErrorBeforeThem(code: Int) async throws {
        let status = try #require(HTTPResponse.Status(code: code))
        let response = HTTPResponse(status: status, body: #"{"code":401}"#)
        let passed = try await send(response, through: .unwrapEnvelope(payload: "object"))
        #expect(passed.status == status && passed.body.length == 12)
        let error = try await error(
            of: #"{"code":401}"#,
            .unwrapEnvelope(payload: "object") { _ in true },
            status: status
        )
        #expect(error.status == status && error.serverCode == 401)
    }

    @Test func anEnvelopeOfFailureWithAStatusOfFailureIsAnErrorWithBoth() async throws {
        let error = try await error(of: #"{"code":50012,"message":"Down"}"#, status: 503)
        #expect(error.status == 503 && error.serverCode == 50012 && error.serverMessage == "Down")
    }

    @Test(arguments: ["<html>", "{}", "{\"code\":", #"{"code":200,"object":1}"#])
    func anythingElseWithAStatusOfFailurePassesToWhoJudgesTheStatus(body: String) async throws {
        let response = HTTPResponse(status: 502, body: HTTPBody(body))
        let passed = try await send(response, through: .unwrapEnvelope(payload: "object"))
        #expect(passed.status == 502 && passed.body.data == Data(body.utf8))
    }

    // MARK: In a chain

    @Test func aClientDecodesPayloadsAndThrowsFailures() async throws {
        let stub = StubTransport()
        stub.enqueue(
            .json(#"{"code":200,"object":{"id":42},"message":"OK"}"#),
            .json(#"{"code":1005,"message":"No such user"}"#)
        )
        let api = Client(
            baseURL: try url("https://api.example.com"),
            interceptors: [.unwrapEnvelope(payload: "object"), .validateStatus()],
            transport: stub
        )
        #expect(try await api.get("/users/42", as: [String: Int].self) == ["id": 42])
        let error = try await #require(throws: EnvelopeError.self) { try await api.get("/users/7", as: Int.self) }
        #expect(error.serverCode == 1005 && error.serverMessage == "No such user")
    }

    @Test func keptEnvelopeHasNoCookies() async throws {
        let response = try await send(
            HTTPResponse(status: 200, headers: [.setCookie: "sid=A", .eTag: "\"a\""], body: HTTPBody(envelope)),
            through: .unwrapEnvelope(payload: "object", keepsEnvelope: true)
        )
        #expect(response.headers[.setCookie] == "sid=A")
        #expect(response.context.envelope?.headers.contains(.setCookie) == false)
        #expect(response.context.envelope?.headers[.eTag] == "\"a\"")
    }
}
