import Foundation
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

@Suite(.againstHanging) struct MessageCodingTests {
    private func coded<Value: Codable>(_ value: Value) throws -> Value {
        try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
    }

    @Test func fieldsKeepTheirOrderDuplicatesAndSpelling() throws {
        var fields = HTTPFields()
        for (name, value): (HTTPField.Name, String) in [
            ("x-lower", "1"), ("Set-Cookie", "a=1"), ("X-UPPER", ""), ("set-cookie", "b=\"2\", c"),
            ("X-Text", "grüße\t1"),
        ] { fields.append(name, value) }
        let again = try coded(fields)
        #expect(again == fields)
        #expect(again.map(\.name.rawName) == fields.map(\.name.rawName))
        #expect(try coded(HTTPFields()) == HTTPFields())
    }

    @Test func fieldsAreReadableJSON() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .withoutEscapingSlashes
        let text = String(
            decoding: try encoder.encode([.accept: "text/html", "X-A": "1"] as HTTPFields),
            as: UTF8.self
        )
        #expect(text == #"[["Accept","text/html"],["X-A","1"]]"#)
    }

    @Test(arguments: [
        #"[["A B","1"]]"#, #"[["","1"]]"#, #"[["A:","1"]]"#, #"[["A","1\r\nB: 2"]]"#, #"[["A","\u0000"]]"#, #"[["A"]]"#,
        #"[["A","1","2"]]"#, #"[["A",1]]"#, #"["A: 1"]"#, #"{"A":"1"}"#, #"[["A\n","1"]]"#,
    ])
    func fieldThatMustNotBeSentIsNotDecoded(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(HTTPFields.self, from: Data(json.utf8)) }
    }

    @Test(arguments: [["A B": "1"], ["A": "1\r\nB: 2"]] as [HTTPFields])
    func fieldThatMustNotBeSentIsNotEncoded(fields: HTTPFields) {
        #expect(throws: EncodingError.self) { try JSONEncoder().encode(fields) }
    }

    @Test func requestComesBackWithoutItsContext() async throws {
        var request = HTTPRequest(
            method: .post,
            url: try #require(URL(string: "https://h.example/a%2Fb?q=%C3%BC&q=2")),
            headers: [.authorization: "Bearer secret", "x-b": "2"],
            body: HTTPBody(Data([0, 255, 10]))
        )
        request.context.timeouts = Timeouts(total: .seconds(1))
        let again = try coded(request)
        #expect(again.method == .post)
        #expect(again.url == request.url)
        #expect(again.headers == request.headers)
        #expect(again.body.data == Data([0, 255, 10]))
        #expect(again.context.isEmpty)
        let empty = try coded(HTTPRequest(url: request.url))
        #expect(empty.method == .get && empty.body.isEmpty && empty.headers.isEmpty)
    }

    @Test func contentThatIsNotInMemoryIsNotEncoded() throws {
        let folder = try TemporaryFolder()
        let file = try HTTPBody(file: folder.write(Data("x".utf8)))
        let stream = HTTPBody.oneShot(AsyncStream<Data> { $0.finish() })
        for body in [file, stream, .restartable { AsyncStream<Data> { $0.finish() } }] {
            let request = HTTPRequest(method: .put, url: folder.url, body: body)
            #expect(throws: EncodingError.self) { try JSONEncoder().encode(request) }
        }
    }

    @Test(arguments: [
        #"{"method":"GE T","url":"https://h.example","headers":[]}"#,
        #"{"method":"GET\r\n","url":"https://h.example","headers":[]}"#,
        #"{"method":"","url":"https://h.example","headers":[]}"#,
        #"{"method":"GET","url":"https://h.example","headers":[["A","\n"]]}"#,
        #"{"method":"GET","url":"https://h.example","headers":[],"body":"no base64!"}"#,
        #"{"method":"GET","headers":[]}"#,
    ])
    func requestThatMustNotBeSentIsNotDecoded(json: String) {
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(HTTPRequest.self, from: Data(json.utf8)) }
    }
}
