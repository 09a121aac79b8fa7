import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct HARArchiveTests {
    private static func exchanges() throws -> [RecordedExchange] {
        let start = Date(timeIntervalSince1970: 1_761_031_680.125)
        let login = RecordedExchange(
            startedAt: start,
            wait: .microseconds(12_345),
            request: .init(
                method: .post,
                url: "https://api.example.com/login?next=%2Fhome",
                headers: [.contentType: "application/json", .cookie: "a=REDACTED"],
                body: Data(#"{"user":"ada"}"#.utf8)
            ),
            response: .init(
                status: 303,
                headers: [
                    .location: "/home?code=REDACTED", .setCookie: "sid=REDACTED; Path=/", .setCookie: "b=2",
                ]
            )
        )
        let image = RecordedExchange(
            startedAt: start,
            request: .init(method: .put, url: "https://api.example.com/image", body: Data([0xFF, 0xD8, 0, 1])),
            response: .init(status: 200, chunks: [StubAnswer.Chunk(Data([0x89, 0x50]))])
        )
        let stream = RecordedExchange(
            startedAt: start,
            request: .init(method: .get, url: "https://api.example.com/events", body: nil, omission: "Too long."),
            response: .init(
                status: 200,
                headers: [.contentType: "text/event-stream"],
                chunks: [
                    .init(Data("data: å".utf8.dropLast())),
                    .init(Data("å".utf8.dropFirst()), after: .milliseconds(1_500)),
                    .init(Data(), after: .microseconds(1)), .init(Data("\n\n".utf8)),
                ],
                isStream: true
            ),
            failure: .init(code: "truncated", message: "The response ended too soon.")
        )
        let failure = RecordedExchange(
            startedAt: start,
            wait: .seconds(3),
            request: .init(method: .get, url: "https://api.example.com/"),
            failure: .init(code: "connectionLost", message: "The connection ended.")
        )
        let encoded = RecordedExchange(
            startedAt: start,
            request: .init(method: .get, url: "https://api.example.com/z"),
            response: .init(
                status: 200,
                headers: [.contentEncoding: "compress", .contentLength: "2", .connection: "close"],
                chunks: [.init(Data("zz".utf8))]
            )
        )
        var omitted = encoded
        omitted.response?.chunks = []
        omitted.response?.omission = "The content can't be read."
        return [login, image, stream, failure, encoded, omitted]
    }

    @Test func exchangesAreReadAsTheyWereWritten() throws {
        let exchanges = try Self.exchanges()
        let archive = HARArchive.encode(exchanges)
        let read = try HARArchive.decode(archive)
        for (exchange, other) in zip(exchanges, read) { #expect(exchange == other) }
        #expect(read.count == exchanges.count)
        #expect(HARArchive.encode(read) == archive)
    }

    @Test func anArchiveIsWrittenToTheLetter() throws {
        let text = String(decoding: HARArchive.encode([try Self.exchanges()[0]]), as: UTF8.self)
        #expect(
            text == """
                {
                  "log": {
                    "version": "1.2",
                    "creator": {"name": "Interceptors Recordings", "version": "1"},
                    "entries": [
                      {
                        "startedDateTime": "2025-10-21T07:28:00.125Z",
                        "time": 12.345,
                        "request": {
                          "method": "POST",
                          "url": "https://api.example.com/login?next=%2Fhome",
                          "headers": [
                            {"name": "Content-Type", "value": "application/json"},
                            {"name": "Cookie", "value": "a=REDACTED"}
                          ],
                          "postData": {"mimeType": "application/json", "text": "{\\"user\\":\\"ada\\"}"},
                          "queryString": [
                            {"name": "next", "value": "/home"}
                          ],
                          "cookies": [],
                          "httpVersion": "",
                          "headersSize": -1,
                          "bodySize": 14
                        },
                        "response": {
                          "status": 303,
                          "statusText": "See Other",
                          "headers": [
                            {"name": "Location", "value": "/home?code=REDACTED"},
                            {"name": "Set-Cookie", "value": "sid=REDACTED; Path=/"},
                            {"name": "Set-Cookie", "value": "b=2"}
                          ],
                          "content": {"size": 0, "mimeType": ""},
                          "redirectURL": "/home?code=REDACTED",
                          "cookies": [],
                          "httpVersion": "",
                          "headersSize": -1,
                          "bodySize": -1
                        },
                        "cache": {},
                        "timings": {"send": 0, "wait": 12.345, "receive": 0}
                      }
                    ]
                  }
                }

                """
        )
    }

    private static let get = RecordedExchange.Request(method: .get, url: "https://api.example.com/")

    @Test func aServersOwnReasonPhraseIsNotWritten() throws {
        let status = try #require(HTTPResponse.Status(code: 200, reasonPhrase: "hush token=hush"))
        let exchange = RecordedExchange(startedAt: .now, request: Self.get, response: .init(status: status))
        for archive in [exchange, ExchangeRedaction.standard.redacted(exchange)].map({ HARArchive.encode([$0]) }) {
            #expect(!String(decoding: archive, as: UTF8.self).contains("hush"))
        }
        #expect(ExchangeRedaction.standard.redacted(exchange).response?.status.reasonPhrase == "OK")
    }

    @Test func pausesOfAnyLengthAreWritten() throws {
        let chunks = [
            StubAnswer.Chunk(Data("a".utf8), after: .seconds(Int64.max)), .init(Data(), after: .seconds(Int64.max)),
        ]
        let exchange = RecordedExchange(
            startedAt: Date(timeIntervalSince1970: 0),
            wait: .seconds(Int64.max),
            request: Self.get,
            response: .init(status: 200, chunks: chunks, isStream: true)
        )
        #expect(try HARArchive.decode(HARArchive.encode([exchange])).first?.response?.content == Data("a".utf8))
    }

    @Test(arguments: [
        ("X-A", "1\r\nX-B: 2"), ("X-A", "1\nX-B: 2"), ("X-A", "\u{0}"), ("X A", "1"), ("X-A:", "1"), ("", "1"),
    ])
    func aFieldThatCouldPassForTwoIsRefused(_ name: String, _ value: String) throws {
        var exchange = RecordedExchange(startedAt: .now, request: Self.get)
        exchange.request.headers = [.init(stringLiteral: name): value, "X-C": "3"]
        let written = String(decoding: HARArchive.encode([exchange]), as: UTF8.self)
        #expect(try HARArchive.decode(Data(written.utf8))[0].request.headers == ["X-C": "3"])
        guard !name.isEmpty else { return }
        func text(_ string: String) throws -> String {
            String(decoding: try JSONEncoder().encode(string), as: UTF8.self)
        }
        let edited = written.replacing(
            #"{"name": "X-C", "value": "3"}"#,
            with: #"{"name": \#(try text(name)), "value": \#(try text(value))}"#
        )
        #expect(edited != written)
        let error = #expect(throws: TransportError.self) { try HARArchive.decode(Data(edited.utf8)) }
        #expect(error?.message.contains("headers[0]") == true && error?.message.contains("X-B") == false)
        // In another program's archive, a line break separates fields of one name, and other such fields are left out.
        let foreign = edited.replacing(HARArchive.creator, with: "WebInspector")
        let fields = try HARArchive.decode(Data(foreign.utf8))[0].request.headers
        #expect(fields.allSatisfy { $0.isValid }, "\(fields)")
        #expect(fields["X-B"] == nil)
    }

    #if os(Linux) || os(macOS)
    @Test(.enabled("\(JournalOutput.noHARTools)", JournalOutput.mustCheckHAR))
    func theArchiveFollowsTheSchemaAndHaralyzerReadsIt() async throws {
        let result = try await JournalOutput.check(har: HARArchive.encode(Self.exchanges()))
        #expect(result.status == 0, "\(result)")
    }
    #endif
}
