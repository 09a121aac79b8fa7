import Foundation
import InterceptorsCore
import InterceptorsTesting
import Testing

@Suite(.againstHanging) struct ResponseDecodingErrorTests {
    private struct Person: Decodable, Sendable {
        enum Role: String, Decodable { case admin }
        struct Friend: Decodable { var name: String }
        var id: Int
        var friends: [Friend]?
        var role: Role?
        var since: Date?
    }

    private func failure(
        _ body: Data,
        contentType: String? = "application/json",
        decoder: any BodyDecoder = JSONDecoder()
    ) async throws -> ResponseDecodingError {
        let stub = StubTransport()
        stub.enqueue(.data(body, contentType: contentType))
        let client = Client(baseURL: URL(string: "https://h"), interceptors: [], transport: stub, decoder: decoder)
        let error = await #expect(throws: ResponseDecodingError.self) {
            try await client.get("/people?token=hunter2", as: Person.self)
        }
        return try #require(error)
    }

    private func failure(_ text: String) async throws -> ResponseDecodingError { try await failure(Data(text.utf8)) }

    @Test func failureSaysWhereAndWhat() async throws {
        let failure = try await failure(#"{"id":1,"friends":[{"name":"A"},{"name":7}]}"#)
        #expect(failure.code == .undecodable)
        #expect(failure.status == 200)
        #expect(failure.contentType == "application/json")
        #expect(failure.codingPath.map(\.stringValue) == ["friends", "Index 1", "name"])
        #expect(failure.message.contains("Person can't be decoded at friends[1].name"))
        #expect(failure.excerpt == #"{"id":1,"friends":[{"name":"A"},{"name":7}]}"#)
        #expect(failure.length == 44)
        #expect(failure.request?.method == .get)
        #expect(failure.request?.url == "https://h/people?token=<redacted>")
        #expect(failure.underlying is DecodingError)
        for part in [
            "ResponseDecodingError.undecodable", "friends[1].name", "200 OK", "application/json", "44 bytes",
            "GET https://h/people",
        ] {
            #expect(failure.description.contains(part))
        }
        #expect(failure.localizedDescription == "The server's response can't be read.")
    }

    @Test func missingKeyIsNamed() async throws {
        #expect(try await failure(#"{"friends":[]}"#).message.contains("id"))
        #expect(try await failure(#"{"token":"hunter2"}"#).message.contains("the key id is missing"))
    }

    @Test func brokenJSONSaysWhereItBreaks() async throws {
        for (text, hint) in [
            (#"{"id": 1, oops}"#, "not valid JSON"), ("<html><body>Login</body></html>", "not valid JSON"),
            ("", "no content"), ("   ", "not valid JSON"), (#"{"id":"#, "not valid JSON"),
            ("{\"id\":1}}", "not valid JSON"),
            (#"{"id":1e999}"#, "JSON"),
        ] {
            #expect(try await failure(text).message.contains(hint), "\(text)")
        }
        #expect(try await failure(#"{"id": 1, oops}"#).message.contains("10"))
        #expect(try await failure(Data("<html>".utf8), contentType: "text/html").description.contains("text/html"))
        #expect(try await failure(Data("<html>".utf8), contentType: nil).description.contains("no Content-Type"))
    }

    @Test func numberThatDoesNotFitIsNotCalledBadJSON() async throws {
        let failure = try await failure(#"{"id":1.5}"#)
        #expect(!failure.message.contains("not valid JSON"))
    }

    @Test(arguments: ["[", #"{"a":"#])
    func jsonNestedTenThousandDeepIsAnErrorNotACrash(opening: String) async throws {
        let closing = opening == "[" ? "]" : "}"
        let text = String(repeating: opening, count: 10_000) + "1" + String(repeating: closing, count: 10_000)
        let failure = try await failure(text)
        #expect(failure.code == .undecodable)
        #expect(failure.description.utf8.count < 3000)
        let open = try await self.failure(String(repeating: opening, count: 10_000))
        #expect(open.code == .undecodable)
    }

    @Test func recursiveTypeAgainstDeepJSONIsAnErrorNotACrash() async throws {
        struct Tree: Decodable, Sendable { var children: [Tree] }
        let text =
            String(repeating: #"{"children":["#, count: 10_000) + String(repeating: "]}", count: 10_000)
        let stub = StubTransport()
        stub.enqueue(.json(text))
        await #expect(throws: ResponseDecodingError.self) { try await makeClient(stub).get("/x", as: Tree.self) }
    }

    @Test func invalidUTF8IsDescribedNotShown() async throws {
        var body = Data(#"{"id":1,"friends":[{"name":""#.utf8)
        body += [0xFF, 0xFE]
        body += Data(#""}]}"#.utf8)
        let failure = try await failure(body)
        #expect(failure.code == .undecodable)
        #expect(failure.excerpt == "<\(body.count) bytes of application/json>")
    }

    @Test func excerptAndMessageAreBounded() async throws {
        let long = String(repeating: "é", count: 1 << 20)
        let body = #"{"id":1,"role":"\#(long)"}"#
        let failure = try await failure(body)
        #expect(failure.excerpt.utf8.count < 1100)
        #expect(failure.description.utf8.count < 3000)
        #expect(failure.length == body.utf8.count)
    }

    @Test(arguments: [
        #"{"id":1,"role":"x","password":"hunter2"}"#,
        #"{"id":1,"friends":[{"secret":"hunter2"}]}"#,
        #"{"password":hunter2}"#,
        #"{"password":"hunter2"#,
        #"{"pass\u0077ord":"hunter2"}"#,
    ])
    func failureShowsNoSecret(body: String) async throws {
        // `QuotingDecoder` quotes its input in its error, as many decoders do.
        for decoder in [JSONDecoder(), QuotingDecoder()] as [any BodyDecoder] {
            let failure = try await failure(Data(body.utf8), decoder: decoder)
            var dumped = ""
            dump(failure, to: &dumped)
            for text in [
                "\(failure)", String(reflecting: failure), failure.localizedDescription, failure.message, dumped,
            ] {
                #expect(!text.contains("hunter2"), "\(text)")
            }
        }
    }

    @Test func serverCannotForgeALineOfALog() async throws {
        let stub = StubTransport { request in
            let status = HTTPResponse.Status(code: 200, reasonPhrase: "OK\nFORGED\u{1B}[2J")
            let fields: HTTPFields = [.contentType: "text/plain\nFORGED"]
            return HTTPResponse(
                status: try #require(status),
                headers: fields,
                body: HTTPBody("{\"a\\nFORGED\":\n\"FORGED\u{202E}\"}"),
                url: request.url
            )
        }
        let error = await #expect(throws: ResponseDecodingError.self) {
            try await makeClient(stub).get("/x", as: [String: Int].self)
        }
        let text = try #require(error).description
        #expect(!text.contains("\n"))
        #expect(!text.unicodeScalars.contains("\u{1B}") && !text.unicodeScalars.contains("\u{202E}"))
    }

    @Test func decodersWordsAreRepeatedWhereNothingIsSecret() async throws {
        let failure = try await failure(Data(#"{"id":"seven"}"#.utf8), decoder: QuotingDecoder())
        #expect(failure.message.contains(#"can't read {"id":"seven"}"#))
    }

    @Test func keysOfADictionaryOfSecretsAreNotPrinted() async throws {
        let stub = StubTransport()
        stub.enqueue(.json(#"{"tokens":{"hunter2":"x"}}"#))
        let error = await #expect(throws: ResponseDecodingError.self) {
            try await makeClient(stub).get("/x", as: [String: [String: Int]].self)
        }
        let failure = try #require(error)
        #expect(failure.message.contains("at tokens"))
        #expect(!failure.description.contains("hunter2"))
    }
}

private struct QuotingDecoder: BodyDecoder {
    let mediaType = "text/plain"

    func decode<Value: Decodable>(_ type: Value.Type, from body: Data) throws -> Value {
        let text = "can't read \(String(decoding: body, as: UTF8.self))"
        throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: text))
    }
}
