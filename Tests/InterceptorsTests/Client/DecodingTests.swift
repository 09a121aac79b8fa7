import Foundation
import InterceptorsCore
import InterceptorsTestSupport
import InterceptorsTesting
import Synchronization
import Testing

@Suite(.againstHanging) struct ResponseDecodingTests {
    private func get<Value: Decodable & Sendable>(
        _ answer: StubAnswer,
        as type: Value.Type = Value.self,
        streamed: Bool = false
    ) async throws -> Value {
        let stub = StubTransport()
        stub.enqueue(answer)
        var context = HTTPContext()
        if streamed { context.responseBody = .streamed }
        return try await makeClient(stub).get("/users/42?token=hunter2", context: context)
    }

    private func failure<Value: Decodable & Sendable>(
        _ answer: StubAnswer,
        as type: Value.Type
    ) async throws -> ResponseDecodingError {
        try #require(await #expect(throws: ResponseDecodingError.self) { try await get(answer, as: type) })
    }

    // MARK: Empty content

    @Test(arguments: [HTTPResponse.Status(integerLiteral: 200), 201, 204, 205])
    func emptyContentHasADefinedResult(status: HTTPResponse.Status) async throws {
        #expect(try await get(.status(status), as: User?.self) == nil)
        #expect(try await get(.status(status), as: [User]?.self) == nil)
        #expect(try await get(.status(status), as: Data.self) == Data())
        #expect(try await get(.status(status), as: Data?.self) == nil)
        #expect(try await get(.status(status), as: String.self) == "")
        #expect(try await get(.status(status), as: String?.self) == nil)
        #expect(try await get(.status(status), as: NoContent.self) == NoContent())
        #expect(try await get(.status(status), as: NoContent?.self) == NoContent())
        for failure in [
            try await failure(.status(status), as: User.self), try await failure(.status(status), as: [User].self),
            try await failure(.status(status), as: Int.self),
        ] {
            #expect(failure.code == .emptyBody)
            #expect(failure.status == status)
            #expect(failure.length == 0)
            #expect(failure.underlying == nil)
        }
    }

    @Test func typedHeadIsLikeAnyEmptyContent() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 200, headers: ["Content-Length": "100"]) }
        let client = makeClient(stub)
        #expect(try await client.call(EndpointRequest<User?>(.head, "/x")) == nil)
        let error = await #expect(throws: ResponseDecodingError.self) {
            try await client.call(EndpointRequest<User>(.head, "/x"))
        }
        #expect(error?.code == .emptyBody)
    }

    @Test func nullAndAbsentAreBothNil() async throws {
        #expect(try await get(.json("null"), as: User?.self) == nil)
        #expect(try await get(.json(#"{"id":1,"name":"A"}"#), as: User?.self) == User(id: 1, name: "A"))
    }

    @Test func dataIsTheBytesAsTheyAre() async throws {
        let bytes = Data([0, 0xFF, 0x22])
        #expect(try await get(.data(bytes)) == bytes)
        #expect(try await get(.data(bytes), as: Data?.self) == bytes)
    }

    @Test(arguments: [
        ("text/plain", Data("h\u{E9}".utf8), "h\u{E9}"),
        ("text/plain; charset=iso-8859-1", Data([0x68, 0xE9]), "h\u{E9}"),
        ("text/plain; Charset=\"ISO-8859-1\"", Data([0x68, 0xE9]), "h\u{E9}"),
        ("text/html;charset=windows-1252", Data([0x80]), "\u{20AC}"), ("application/json", Data("\"a\"".utf8), "\"a\""),
        ("text/plain; charset=utf-16le", Data([0x68, 0, 0xE9, 0]), "h\u{E9}"),
        ("text/plain; charset=utf-16", Data([0, 0x68, 0, 0xE9]), "h\u{E9}"),
        ("text/plain; charset=utf-16", Data([0xFF, 0xFE, 0x68, 0]), "h"),
        ("text/plain; charset=iso-8859-1", Data([0xEF, 0xBB, 0xBF, 0x68]), "h"),
        ("text/plain; charset=utf-16", Data([0xFE, 0xFF, 0, 0x68]), "h"),
        ("text/plain", Data([0xFF, 0xFE, 0, 0, 0x68, 0, 0, 0]), "h"),
        ("text/plain", Data([0, 0, 0xFE, 0xFF, 0, 0, 0, 0x68]), "h"),
        ("text/plain; charset=unheard-of", Data("h\u{E9}".utf8), "h\u{E9}"),
        ("text/plain", Data([0x68, 0xFF]), "h\u{FFFD}"),
    ])
    func textIsReadByItsMarkOrItsCharset(contentType: String, bytes: Data, text: String) async throws {
        #expect(try await get(.data(bytes, contentType: contentType), as: String.self) == text)
        #expect(try await get(.data(bytes, contentType: contentType), as: String?.self) == text)
        let response = HTTPResponse(status: 200, headers: [.contentType: contentType], body: HTTPBody(bytes))
        #expect(try await response.text() == text)
        let error = await #expect(throws: TransportError.self) { try await response.text(upTo: 0) }
        #expect(error?.code == .bodyTooLarge)
    }

    @Test func contentNobodyAskedForIsDiscarded() async throws {
        #expect(try await get(.status(200, body: "<html>"), as: NoContent.self) == NoContent())
        #expect(try await get(.status(200, body: "<html>"), as: NoContent?.self) == NoContent())
    }

    /// An open stream holds a connection.
    @Test func noStreamStaysOpenAfterATypedCall() async throws {
        let stub = StubTransport()
        stub.on(.get, "/v1/ok", .stream([Data("\"a".utf8), Data("b\"".utf8)]))
        stub.on(.get, "/v1/bad", .stream([Data(count: 600), Data(count: 600), Data(count: 600)], status: 500))
        let client = makeClient(stub)
        var context = HTTPContext()
        context.responseBody = .streamed
        _ = try await client.get("/ok", context: context) as NoContent
        #expect(stub.openBodies == 0)
        _ = try await client.get("/ok", context: context) as NoContent?
        #expect(stub.openBodies == 0)
        #expect(try await client.get("/ok", context: context) as Data == Data("\"ab\"".utf8))
        #expect(stub.openBodies == 0)
        await #expect(throws: ResponseDecodingError.self) { try await client.get("/ok", context: context) as Int }
        #expect(stub.openBodies == 0)
        await #expect(throws: ResponseDecodingError.self) {
            try await client.get("/bad", context: context) as NoContent
        }
        #expect(stub.openBodies == 0)
    }

    // MARK: Status

    @Test(arguments: [HTTPResponse.Status(integerLiteral: 301), 304, 400, 401, 404, 500, 503, 600, 999])
    func errorPageIsNeverTakenForAValue(status: HTTPResponse.Status) async throws {
        struct Lenient: Codable, Sendable { var error: String? }
        let answer = StubAnswer.json(#"{"error":"no such user"}"#, status: status)
        for failure in [
            try await failure(answer, as: Lenient.self), try await failure(answer, as: Data.self),
            try await failure(answer, as: NoContent.self), try await failure(answer, as: User?.self),
        ] {
            #expect(failure.code == .unacceptedStatus)
            #expect(failure.status == status)
            #expect(failure.description.contains("\(status)"))
            if status != 304 { #expect(failure.excerpt.contains("no such user")) }
        }
    }

    @Test func failedDeleteIsNoSuccess() async throws {
        let stub = StubTransport { _ in HTTPResponse(status: 500) }
        let error = await #expect(throws: ResponseDecodingError.self) { try await makeClient(stub).delete("/x") }
        #expect(error?.status == 500)
        #expect(error?.request?.method == .delete)
    }

    @Test func statusThatAnInterceptorAcceptedIsDecoded() async throws {
        let stub = StubTransport()
        stub.on(.get, "**", .json("7", status: 404))
        let client = makeClient(
            stub,
            [
                .intercept { request, next in
                    var response = try await next(request)
                    response.context.validatesStatus = false
                    return response
                }
            ]
        )
        #expect(try await client.get("/x", as: Int.self) == 7)
    }

    @Test func endlessErrorPageIsReadNoFurtherThanItsExcerpt() async throws {
        let discarded = Atomic<Int>(0)
        let stub = StubTransport()
        let client = Client(
            interceptors: [],
            transport: EndlessTransport(status: 500, length: 1 << 40) { discarded.add(1, ordering: .relaxed) }
        )
        var context = HTTPContext()
        context.responseBody = .streamed
        let error = await #expect(throws: ResponseDecodingError.self) {
            try await client.get("https://h/x", as: User.self, context: context)
        }
        #expect(error?.status == 500)
        #expect(error?.excerpt == "<at least 65536 bytes of text>")
        #expect(error?.length == 1 << 40)
        #expect(discarded.load(ordering: .relaxed) == 1)
        #expect(stub.openBodies == 0)
    }

    // MARK: Streams

    @Test func streamedResponseIsCollected() async throws {
        let chunks = [#"{"id":"#, "1,", #""name":"Ada"}"#].map { Data($0.utf8) }
        #expect(try await get(.stream(chunks), as: User.self, streamed: true) == User(id: 1))
    }

    @Test func streamBeyondTheLimitIsAnErrorThatNamesTheRequest() async throws {
        let discarded = Atomic<Int>(0)
        let client = Client(
            interceptors: [],
            transport: EndlessTransport(status: 200) { discarded.add(1, ordering: .relaxed) }
        )
        let error = await #expect(throws: TransportError.self) {
            try await client.get("https://h/x", as: Data.self)
        }
        #expect(error?.code == .bodyTooLarge)
        #expect(error?.request?.url == "https://h/x")
        #expect(discarded.load(ordering: .relaxed) == 1)
    }

    // MARK: Isolation

    @Test @MainActor func decodingLeavesTheCallersActor() async throws {
        struct Probe: Codable, Sendable {
            var wasOnMainThread: Bool
            init() { wasOnMainThread = Thread.isMainThread }
            init(from decoder: any Decoder) { self.init() }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(Thread.isMainThread)
            }
        }
        let stub = StubTransport()
        stub.on(.post, "**", .json("{}"))
        let probe: Probe = try await makeClient(stub).post("/x", body: Probe())
        #expect(!probe.wasOnMainThread)
        #expect(stub.requests.first?.body.data == Data("false".utf8))
    }
}

private struct EndlessTransport: Transport {
    let status: HTTPResponse.Status
    var length: Int64?
    let onDiscard: @Sendable () -> Void

    func send(_ request: consuming HTTPRequest) async throws -> HTTPResponse {
        let chunk = Data(repeating: UInt8(ascii: "x"), count: 1 << 20)
        // Limited to 256 MB, so that a reader without a limit fails instead of using up all memory.
        let given = Tally()
        let stream = AsyncStream<Data> { given.count() <= 256 ? chunk : nil }
        let body = HTTPBody.oneShot(stream, length: length, onDiscard: onDiscard)
        return HTTPResponse(status: status, body: body, url: request.url)
    }
}
