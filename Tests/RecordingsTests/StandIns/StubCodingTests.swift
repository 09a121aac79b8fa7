import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

/// The parts of an answer that can be compared.
struct AnswerFacts: Equatable {
    let status: Int
    let fields: HTTPFields
    let content: String
    let delay: Duration
    let trailers: HTTPFields?
    let interims: [String]

    init(_ answer: StubAnswer) {
        trailers = answer.trailers
        interims = answer.interims.map { "\($0.status) \($0.headers)" }
        status = answer.status.code
        fields = answer.headers
        delay = answer.delay
        content =
            switch answer.content {
            case .body(let body):
                body.file.map { "file \($0.path)" } ?? "body \(body.data?.base64EncodedString() ?? "stream")"
            case .file(let url): "file \(url.path)"
            case .chunks(let chunks, let error):
                "chunks \(chunks.map { "\($0.bytes.base64EncodedString()) after \($0.pause)" }), \(Self.text(error))"
            case .failure(let error): "failure \(Self.text(error))"
            case .never: "never"
            case .closure, .choice: "closure"
            }
    }

    private static func text(_ error: (any Error)?) -> String {
        guard let error = error as? any HTTPError else { return "\(String(describing: error))" }
        return "\(error.code): \(error.message)"
    }
}

func decodedStub(_ json: String) throws -> Stub {
    try #require(LaunchStubs(json: Data("[\(json)]".utf8)).stubs.first)
}

/// An answer as JSON.
func encoded(_ answer: StubAnswer) throws -> Data { try LaunchStubs(stubs: [.on(nil, "/x", answer)]).json() }

func decodedAnswer(_ json: Data) throws -> StubAnswer { try #require(LaunchStubs(json: json).stubs.first).answer }

@Suite(.againstHanging) struct StubCodingTests {
    static let answers: [StubAnswer] = [
        .status(200), .status(204), .status(404, headers: ["X-B": "2", "X-A": "1"], body: HTTPBody("gone")),
        .json(#"{"id":42,"name":"Ada"}"#), .json(#"{"name":"Ada","id":42}"#), .json("{broken"), .json(""),
        .json("[]", status: 201),
        .json("1.0"), .json("null"), .json("18446744073709551615"), .json("1e300"), .json(#""\/""#),
        .json(encoding: ["a/b": [1.5, 2]]),
        .json("{}", headers: [.contentType: "application/problem+json"]),
        .json("{}", headers: [.setCookie: "a=1", "set-cookie": "b=2"]),
        .text("Grüße 👋🏽 \u{0}\u{7F}\u{2028}\r\n"), .text(""), .text("\u{FEFF}mark"), .text("e\u{301} é"),
        .data(Data([0xFF, 0x00, 0xC3])), .data(Data("a".utf8), contentType: "image/png"), .data(Data()),
        .file(URL(filePath: "/answers/a b.json")), .file(URL(filePath: "/answers/a.bin")),
        .file(URL(filePath: "/answers/ä.png"), contentType: "image/avif", status: 206),
        .stream([Data("a".utf8), Data([0xC3]), Data([0xA4])], every: .milliseconds(300)),
        .stream([]), .stream([Data()], thenFailing: TransportError(.truncated, "Cut.")),
        .failure(TransportError(.offline, "There is no network.")), .neverAnswer, .neverAnswer.delayed(by: .seconds(3)),
        .status(503, headers: [.retryAfter: "2"]).delayed(by: .nanoseconds(1_500_000_001)),
    ]

    @Test(arguments: answers) func answerIsEqualAfterCoding(answer: StubAnswer) throws {
        let data = try encoded(answer)
        let decoded = try decodedAnswer(data)
        #expect(AnswerFacts(decoded) == AnswerFacts(answer), "\(String(decoding: data, as: UTF8.self))")
    }

    @Test func stubIsEqualAfterCoding() throws {
        let patterns = ["/users/*", "/a b", "GET /x", "* /x", "*", "**", "https://a.example/ä?b=*", " /x", "/\u{0}"]
        for method in [nil, HTTPRequest.Method.get, "PURGE"] {
            for pattern in patterns {
                let stub = Stub.on(method, pattern, .status(204), times: method == nil ? nil : 3)
                let decoded = try #require(LaunchStubs(json: LaunchStubs(stubs: [stub]).json()).stubs.first)
                #expect(decoded.method == method && decoded.pattern == pattern && decoded.times == stub.times)
                #expect(AnswerFacts(decoded.answer) == AnswerFacts(stub.answer))
            }
        }
    }

    @Test func handwrittenStubIsRead() throws {
        let cases: [(String, HTTPRequest.Method?, String, StubAnswer)] = [
            (
                #"{"on":"GET /users/*","json":{"name":"Ada","id":42}}"#, .get, "/users/*",
                .json(#"{"name":"Ada","id":42}"#)
            ),
            (#"{"on":"/x"}"#, nil, "/x", .status(200)),
            (
                #"{"on":"* /x","status":503,"headers":[["Retry-After","2"],["Set-Cookie","a=1"],["Set-Cookie","b=2"]]}"#,
                nil, "/x",
                .status(503, headers: [.retryAfter: "2", .setCookie: "a=1", "Set-Cookie": "b=2"])
            ),
            (#"{"on":"POST /x","text":"hi","delay":0.25}"#, .post, "/x", .text("hi").delayed(by: .milliseconds(250))),
            (
                #"{"on":"/x","text":"<a/>","headers":[["Content-Type","text/xml"]]}"#, nil, "/x",
                .status(200, headers: [.contentType: "text/xml"], body: "<a/>")
            ),
            (#"{"on":"/x","base64":"/wA="}"#, nil, "/x", .data(Data([0xFF, 0]))),
            (
                #"{"on":"/x","chunks":[{"text":"a"},{"text":"b","after":1},{"after":2}],"failure":{"code":"truncated"}}"#,
                nil, "/x",
                StubAnswer(
                    200,
                    [:],
                    .chunks(
                        [
                            .init(Data("a".utf8)), .init(Data("b".utf8), after: .seconds(1)),
                            .init(Data(), after: .seconds(2)),
                        ],
                        thenFailing: TransportError(.truncated, "A stub answers with this failure.")
                    )
                )
            ),
            (
                #"{"on":"/x","failure":{"code":"soldOut"}}"#, nil, "/x",
                .failure(TransportError(HTTPErrorCode(rawValue: "soldOut"), "A stub answers with this failure."))
            ),
            (#"{"on":"/x","json":null,"never":false,"text":null,"times":null}"#, nil, "/x", .json("null")),
            (#"{"on":"/x","never":true}"#, nil, "/x", .neverAnswer),
            (#"{"on":"/x","file":"/answers/a.json"}"#, nil, "/x", .file(URL(filePath: "/answers/a.json"))),
        ]
        for (json, method, pattern, answer) in cases {
            let stub = try decodedStub(json)
            #expect(stub.method == method && stub.pattern == pattern, "\(json)")
            #expect(AnswerFacts(stub.answer) == AnswerFacts(answer), "\(json)")
        }
    }

    @Test(arguments: [
        (#"{"json":{}}"#, "[0] has no member \"on\""),
        (#"{"on":"GET ","json":{}}"#, "[0].on is not a pattern, such as GET /users/*."),
        (
            #"{"on":"/x","josn":{}}"#,
            #"[0] has an unknown member "josn". The known ones: on, times, status, headers, delay, json, text,"#
        ),
        (#"{"on":"/x","status":99}"#, "[0].status is not a status from 100 to 999."),
        (#"{"on":"/x","status":"200"}"#, "[0].status is not a number."),
        (#"{"on":"/x","json":1,"text":"a"}"#, "[0] has more than one content: json, text."),
        (#"{"on":"/x","text":"a","failure":{"code":"offline"}}"#, "[0] has more than one content: text, failure."),
        (#"{"on":"/x","delay":-1}"#, "[0].delay is not a number of seconds from 0 to 10⁹."),
        (#"{"on":"/x","delay":1e300}"#, "[0].delay is not a number of seconds from 0 to 10⁹."),
        (#"{"on":"/x","times":0}"#, "[0].times is not a number of requests from 1 on."),
        (#"{"on":"/x","base64":"?"}"#, "[0].base64 is not base64."),
        (#"{"on":"/x","file":"a.json"}"#, "[0].file is not a path that begins with a slash."),
        (#"{"on":"/x","file":"/a\u0000b"}"#, "[0].file is not a path that begins with a slash."),
        (#"{"on":"/x","headers":[["a b","c"]]}"#, "[0].headers[0] is not the name and the value of a field"),
        (#"{"on":"/x","headers":[["A","b\r\nC: d"]]}"#, "[0].headers[0] is not the name and the value of a field"),
        (#"{"on":"/x","headers":[["A"]]}"#, "[0].headers[0] is not the name and the value of a field"),
        (#"{"on":"/x","chunks":[{},{"after":-1}]}"#, "[0].chunks[1].after is not a number of seconds"),
        (#"{"on":"/x","chunks":[{"text":"a","base64":""}]}"#, "[0].chunks[0] has more than one content: text, base64."),
        (#"{"on":"/x","failure":{"cod":"offline"}}"#, #"[0].failure has an unknown member "cod"."#),
        (#"{"on":"/x","failure":7}"#, "[0].failure is not an object."),
    ])
    func faultIsNamedWithItsPlace(json: String, text: String) throws {
        let error = try #require(throws: TransportError.self) { try decodedStub(json) }
        #expect(error.code == .invalidLaunchStubs)
        #expect(error.message.hasPrefix("The list of stubs can't be read: \(text)"), "\(error.message)")
    }

    @Test func answerThatIsNoValueIsNotEncoded() {
        let cases: [(StubAnswer, String)] = [
            (.answer { _ in HTTPResponse(status: 200) }, "its answer is a closure. Only values travel."),
            (.choosing { _ in .status(200) }, "its answer is a closure. Only values travel."),
            (
                .status(200, body: .oneShot(AsyncStream<Data> { $0.finish() })),
                "its body is a stream. Use .stream([…])."
            ),
            (
                .status(200, body: .restartable { AsyncStream<Data> { $0.finish() } }),
                "its body is a stream. Use .stream([…])."
            ),
            (.failure(CancellationError()), "only the code and the message of an HTTPError travel."),
            (.file(url("https://a.example/x")), "the URL isn't one of a file."),
            (.status(200).delayed(by: .seconds(Int64.max)), "delay is not a number of seconds from 0 to 10⁹."),
            (.status(200, headers: ["a b": "c"]), "headers[0] is not the name and the value of a field"),
            (.stream([], trailers: ["X-A": "1"]), "interim responses and trailers have no form as JSON."),
            (.text("hints").preceded(byInterim: 100), "interim responses and trailers have no form as JSON."),
        ]
        for (answer, text) in cases {
            let error = #expect(throws: TransportError.self) { try encoded(answer) }
            #expect(
                error?.code == .invalidLaunchStubs && error?.message.contains(text) == true,
                "\(error?.message ?? "")"
            )
        }
        #expect(throws: TransportError.self) {
            try LaunchStubs(stubs: [.on(.get, "/x", .status(200), times: 0)]).json()
        }
        #expect(throws: TransportError.self) { try LaunchStubs(stubs: [.on(.get, "", .status(200))]).json() }
    }

    @Test func fileOfABodyTravelsAsItsPath() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write(Data("abc".utf8), to: "a.txt")
        let decoded = try decodedAnswer(encoded(.status(200, body: HTTPBody(file: file))))
        #expect(AnswerFacts(decoded).content == "file \(file.path)")
    }

    @Test func descriptionOfAStubShowsNoSecret() {
        let stub = Stub.on(.get, "/users?token=hush", .text("hush"))
        #expect("\(stub)" == "GET /users?token=<redacted>: 200 OK, 4 bytes")
    }

    @Test func stubTransportTakesStubs() async throws {
        let transport = StubTransport([.on(.get, "/a", .status(503), times: 1), .on(.get, "/*", .text("b"))])
        transport.add([.on(.get, "/c", .text("c"))])
        let client = Client(baseURL: url("https://a.example"), interceptors: [], transport: transport)
        #expect(try await client.send(HTTPRequest(url: url("/a"))).status == 503)
        #expect(try await client.get("/a") == "b")
        #expect(try await client.get("/c") == "c")
        try transport.verify()
    }

    @Test func locationOfAStubIsThatOfItsLine() async throws {
        let transport = StubTransport([.on(.get, "/a", .status(200))] + [try decodedStub(#"{"on":"/b"}"#)])
        let error = #expect(throws: StubVerificationError.self) { try transport.verify() }
        #expect(error?.problems.first?.contains("RecordingsTests/StubCodingTests.swift:") == true)
        #expect(error?.problems.last?.hasSuffix("(JSON stub:1)") == true)
    }
}

func url(_ text: String) -> URL { URL(string: text) ?? URL(filePath: "/") }
