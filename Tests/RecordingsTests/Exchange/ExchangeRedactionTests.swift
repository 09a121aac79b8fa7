import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct ExchangeRedactionTests {
    private let redaction = ExchangeRedaction.standard

    @Test(arguments: [
        ("sid=hush; Path=/; HttpOnly", "sid=REDACTED; Path=/; HttpOnly"),
        (
            "a=b=hush;Expires=Wed, 21 Oct 2026 07:28:00 GMT;Secure",
            "a=REDACTED;Expires=Wed, 21 Oct 2026 07:28:00 GMT;Secure"
        ),
        ("sid=hush; Own=hush; SameSite=Lax", "sid=REDACTED; SameSite=Lax"),
        ("hush", "REDACTED"), ("=hush", "=REDACTED"), ("", "REDACTED"),
    ])
    func aCookieKeepsItsNameAndItsAttributes(_ value: String, _ expected: String) {
        #expect(redaction.value(of: HTTPField(unchecked: .setCookie, value)) == expected)
        #expect(redaction.value(of: HTTPField(unchecked: .setCookie, expected)) == expected)
    }

    @Test func trailersLoseTheirSecretsAndDigestsOfOtherContent() {
        func trailers(_ content: String) -> HTTPFields? {
            let exchange = RecordedExchange(
                startedAt: .now,
                request: .init(method: .get, url: "https://a.example/"),
                response: .init(
                    status: 200,
                    chunks: [.init(Data(content.utf8))],
                    trailers: ["Repr-Digest": "sha-256=:AA==:", "X-Api-Key": "hush", "X-Rows": "2"]
                )
            )
            return redaction.redacted(exchange).response?.trailers
        }
        #expect(trailers("a") == ["Repr-Digest": "sha-256=:AA==:", "X-Api-Key": "REDACTED", "X-Rows": "2"])
        #expect(trailers(#"{"token":"hush"}"#) == ["X-Api-Key": "REDACTED", "X-Rows": "2"])
    }

    @Test func aStreamKeepsItsChunks() {
        let text = [
            "data: {\"n\":1}\n\n", "data: {\"token\":\"hu", "sh\",\"n\":2}\n\n", "data: {\"token\":\"hush\"}\n\n",
            "data: 3\n\n",
        ]
        let exchange = RecordedExchange(
            startedAt: .now,
            request: .init(method: .get, url: "https://a.example/"),
            response: .init(
                status: 200,
                headers: [.contentType: "text/event-stream"],
                chunks: text.enumerated().map { .init(Data($1.utf8), after: .seconds($0)) },
                isStream: true
            )
        )
        let chunks = redaction.redacted(exchange).response?.chunks ?? []
        #expect(
            chunks.map { String(decoding: $0.bytes, as: UTF8.self) } == [
                text[0], "data: {\"token\":\"REDACT", "ED\",\"n\":2}\n\n", "data: {\"token\":\"REDACTED\"}\n\n",
                text[4],
            ]
        )
        #expect(chunks.map(\.pause) == (0..<5).map { .seconds($0) })
    }

    @Test func theChunksOfALineAreCountedFromItsEnd() {
        let text = ["{\"n\":0", ",\"token\":12", "34,\"a\"", ":[0,10],\"token\":[5,\"x,", "y\"],\"b\":", "0}"]
        let expected = [
            "{\"n\":0,\"", "token\":0,\"a", "\":[0,1", "0],\"token\":[0,\"REDACTE", "D\"],\"b\":", "0}",
        ]
        let chunks = text.map { StubAnswer.Chunk(Data($0.utf8)) }
        let split = ChunkSplit.chunks(
            like: chunks,
            of: Data(text.joined().utf8),
            Data(expected.joined().utf8)
        )
        #expect(split.map { String(decoding: $0.bytes, as: UTF8.self) } == expected)
        #expect(redaction.text(text.joined()) == expected.joined())
    }

    @Test func theHookSeesEachText() throws {
        let redaction = ExchangeRedaction { $0.replacing("ada", with: "<user>") }
        let exchange = RecordedExchange(
            startedAt: .now,
            request: .init(
                method: .put,
                url: "https://a.example/ada?q=ada",
                headers: ["X-A": "ada"],
                body: Data("ada".utf8)
            ),
            response: .init(status: 200, headers: [.eTag: "ada"], chunks: [.init(Data("[\"ada\"]".utf8))]),
            failure: .init(code: "truncated", message: "ada")
        )
        let redacted = redaction.redacted(exchange)
        #expect(!String(decoding: HARArchive.encode([redacted]), as: UTF8.self).contains("ada"))
        let matching: RequestMatching = [.method, .path, .query, .body, .fields(["X-A"])]
        #expect(matching.key(of: exchange.request, redaction) == matching.key(of: redacted.request, redaction))
    }

    @Test func withoutRedactionNothingIsChanged() {
        let seed = DailySeed.value
        var source = RandomExchanges(seed: seed)
        for _ in 0..<200 {
            let exchange = source.next()
            #expect(ExchangeRedaction(nil).redacted(exchange) == exchange, "seed \(seed)")
        }
    }

    @Test func redactingTwiceChangesNothing() {
        let seed = DailySeed.value
        var source = RandomExchanges(seed: seed)
        let matching: RequestMatching = [
            .method, .origin, .path, .query, .body, .fields([.setCookie, .accept, .contentType]),
        ]
        for _ in 0..<FullLoad.count(300, full: 2_000) {
            let exchange = source.next()
            let once = redaction.redacted(exchange)
            #expect(redaction.redacted(once) == once, "seed \(seed): \(exchange)")
            let keys = [exchange, once].map { matching.key(of: $0.request, redaction) }
            #expect(keys[0] == keys[1], "seed \(seed): \(exchange.request)")
        }
    }

    @Test(arguments: [
        #"{"a":1,"password":"hus"#, #"{"a":"https://deploy:hush"#, #"{"access_token":{"a":"hus"#, #"{"a":"ghp_hush"#,
    ])
    func aContentThatBrokeOffLosesASecretThatIsCut(_ text: String) {
        var exchange = RecordedExchange(
            startedAt: .now,
            request: RecordedExchange.Request(method: .get, url: "https://example.com/a")
        )
        exchange.response = RecordedExchange.Response(
            status: 200,
            headers: [.contentType: "application/json"],
            chunks: [StubAnswer.Chunk(Data(text.utf8))],
            isStream: true
        )
        exchange.failure = .discarded
        let redacted = redaction.redacted(exchange)
        let content = String(decoding: redacted.response?.content ?? Data(), as: UTF8.self)
        #expect(!content.contains("hus"), "\(content)")
        #expect(redaction.redacted(redacted) == redacted)
    }

    @Test(arguments: ["", "#x#", "<redacted>", "hush"]) func thePlaceholderIsAlwaysTheSame(_ other: String) {
        let own = Redaction(sensitiveParts: ["password"], sensitiveNames: [], placeholder: other)
        let redaction = ExchangeRedaction(own)
        for (text, expected) in [
            (#"{"password":"hush"}"#, #"{"password":"REDACTED"}"#), ("?password=hush", "?password=REDACTED"),
        ] {
            #expect(redaction.text(text) == expected)
            #expect(redaction.text(expected) == expected)
        }
        #expect(redaction.url("https://a.example/?password=hush&b=1") == "https://a.example/?password=REDACTED&b=1")
    }

    @Test(arguments: [
        ("?password=REDACTEDhush", "?password=REDACTED"),
        (#"{"password":"REDACTEDhush"}"#, #"{"password":"REDACTED"}"#),
        ("?token=REDACTED+/hush&a=REDACTED", "?token=REDACTED&a=REDACTED"),
        ("REDACTED is a word, and so is <REDACTED>.", "REDACTED is a word, and so is <REDACTED>."),
    ])
    func aSecretThatBeginsLikeThePlaceholderIsReplaced(_ text: String, _ expected: String) {
        #expect(redaction.text(text) == expected)
        #expect(redaction.text(expected) == expected)
    }

    /// A server that gives a token for a code, as a redirect and as JSON, and what a client sends then.
    @Test func aSessionRecordedWithoutItsSecretsPlays() throws {
        let json: HTTPFields = [.contentType: "application/json"]
        func recorded(_ request: RecordedExchange.Request, _ response: RecordedExchange.Response) -> RecordedExchange {
            redaction.redacted(RecordedExchange(startedAt: .now, request: request, response: response))
        }
        let start = RecordedExchange.Request(method: .get, url: "https://a.example/login?state=7")
        let callback = "https://a.example/callback?code=c0de1&state=7"
        let redirect = recorded(start, .init(status: 302, headers: [.location: callback]))
        let login = RecordedExchange.Request(method: .get, url: callback)
        let token = recorded(
            login,
            .init(status: 200, headers: json, chunks: [.init(Data(#"{"access_token":"t0k3n"}"#.utf8))])
        )
        let tokens = RecordedExchange.Request(
            method: .post,
            url: "https://a.example/me",
            headers: [.authorization: "Bearer t0k3n"],
            body: Data("access_token=t0k3n&page=1".utf8)
        )
        let me = recorded(tokens, .init(status: 200, headers: json, chunks: [.init(Data(#"{"id":1}"#.utf8))]))
        let matching: RequestMatching = [.method, .origin, .path, .query, .body, .fields([.authorization])]

        // The client plays: it follows the recorded location, and sends the recorded token.
        let location = try #require(redirect.response?.headers[.location])
        #expect(location == "https://a.example/callback?code=REDACTED&state=7")
        let followed = HTTPRequest(url: try #require(URL(string: location)))
        #expect(matching.key(of: .init(followed), redaction) == matching.key(of: token.request, redaction))
        let answer = try JSONDecoder().decode([String: String].self, from: try #require(token.response?.content))
        let access = try #require(answer["access_token"])
        var next = HTTPRequest(method: .post, url: try #require(URL(string: "https://a.example/me")))
        next.headers[.authorization] = "Bearer \(access)"
        next.body = HTTPBody("access_token=\(access)&page=1")
        #expect(matching.key(of: .init(next), redaction) == matching.key(of: me.request, redaction))
        // A client with a real token, too.
        #expect(matching.key(of: tokens, redaction) == matching.key(of: me.request, redaction))
    }
}
