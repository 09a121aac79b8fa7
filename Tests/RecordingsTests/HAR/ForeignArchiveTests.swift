import Foundation
import InterceptorsInsight
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

@Suite(.againstHanging) struct ForeignArchiveTests {
    private func decode(_ archive: String) throws -> [RecordedExchange] {
        try HARArchive.decode(Data(archive.utf8))
    }

    private func text(_ exchange: RecordedExchange) -> String? {
        exchange.response.map { String(decoding: $0.content, as: UTF8.self) }
    }

    @Test func chromesContentIsDecodedAndItsFieldsAgree() throws {
        let exchanges = try decode(ForeignArchives.chrome)
        #expect(exchanges.count == 3)
        let user = exchanges[0]
        #expect(
            user.request.headers == ["accept": "application/json", "accept-encoding": "gzip, deflate, br, zstd"]
        )
        #expect(text(user) == #"{"id":42,"name":"Åda"}"#)
        let fields: HTTPFields = [
            "content-length": "23", "content-type": "application/json", "set-cookie": "a=1; Path=/",
            "set-cookie": "b=2",
        ]
        #expect(user.response?.headers == fields)
        #expect(user.wait == .microseconds(43_800))
        #expect(user.startedAt == Date(timeIntervalSince1970: 1_772_359_200.123))
        #expect(user.failure == nil)
    }

    @Test func chromesImagesFormsAndFailuresAreRead() throws {
        let exchanges = try decode(ForeignArchives.chrome)
        #expect(exchanges[1].response?.content == Data([0x89, 0x50, 0x4E, 0x47]))
        #expect(exchanges[1].response?.headers == [.contentType: "image/png"])
        #expect(exchanges[2].request.body == Data("a=1&note=b%20c".utf8))
        #expect(exchanges[2].response == nil)
        #expect(exchanges[2].failure == .init(code: "transportFailed", message: "net::ERR_CONNECTION_REFUSED"))
    }

    @Test func firefoxsTextHasTheCharsetOfItsType() throws {
        let exchanges = try decode(ForeignArchives.firefox)
        #expect(exchanges.count == 3)
        #expect(exchanges[0].response?.content == Data([0x63, 0x61, 0x66, 0xE9]))
        #expect(exchanges[0].response?.headers[.contentLength] == "4")
        #expect(exchanges[0].response?.headers[.contentEncoding] == nil)
        #expect(exchanges[0].wait == .milliseconds(33))
        #expect(exchanges[0].startedAt == Date(timeIntervalSince1970: 1_772_362_800.5))
        #expect(exchanges[1].startedAt == Date(timeIntervalSince1970: 1_772_362_801))
    }

    @Test func contentThatFirefoxLeftOutIsNoEmptyContent() async throws {
        let exchanges = try decode(ForeignArchives.firefox)
        #expect(exchanges[1].response?.omission != nil)
        #expect(exchanges[1].request.body == Data("{}".utf8))
        guard case .failure(let error as TransportError) = exchanges[1].answer(now: .now).content else {
            Issue.record("The content is played as if it were empty.")
            return
        }
        #expect(error.code == .notRecorded)
        #expect(exchanges[2].failure?.code == "transportFailed")
    }

    @Test(arguments: [#""size": 9, "#, #""size": 0, "#, ""])
    func contentsInFilesBesidePlaywrightsArchiveAreLeftOut(size: String) throws {
        let archive = ForeignArchives.playwright.replacing(#""size": 9, "#, with: size)
        let exchanges = try decode(archive)
        #expect(exchanges.count == 2)
        #expect(exchanges[0].response?.omission?.contains("embed") == true)
        #expect(exchanges[0].response?.headers == ["content-type": "application/json"])
        #expect(exchanges[0].request.body == Data())
        #expect(exchanges[1].request.body == nil && exchanges[1].request.omission?.contains("embed") == true)
        #expect(exchanges[1].failure == .init(code: "transportFailed", message: "net::ERR_TIMED_OUT"))
    }

    @Test func replaysArchiveIsRead() throws {
        let exchanges = try decode(ForeignArchives.replay)
        #expect(exchanges.count == 1)
        #expect(exchanges[0].request.url == "https://api.example.com/repos")
        #expect(text(exchanges[0]) == "[]")
        #expect(exchanges[0].wait == .milliseconds(120))
    }

    @Test func aJournalsArchiveIsRead() async throws {
        let journal = Journal()
        let stub = StubTransport()
        stub.on(.get, "/long", .data(Data(repeating: 0x61, count: 100_000), contentType: "text/plain"))
        stub.on(.get, "/lost", .failure(TransportError(.connectionLost, "It ended.")))
        stub.on(.get, "/users", .json("[1]", headers: [.contentType: "application/json"]))
        let chain = InterceptorChain([], transport: stub, observer: journal)
        _ = try await chain.send(HTTPRequest(string: "https://a.example/users?token=hush"))
        _ = try await chain.send(HTTPRequest(string: "https://a.example/long"))
        await #expect(throws: TransportError.self) {
            try await chain.send(HTTPRequest(string: "https://a.example/lost"))
        }
        let exchanges = try HARArchive.decode(journal.har())
        #expect(exchanges.count == 3)
        #expect(exchanges[0].request.url == "https://a.example/users?token=<redacted>")
        #expect(text(exchanges[0]) == "[1]")
        #expect(exchanges[1].response?.omission != nil)
        #expect(exchanges[2].failure?.code == "connectionLost")
    }

    @Test(arguments: [
        (#"{"log":{}}"#, "log has no member \"entries\""),
        ("{\"log\":\n {\"entries\":[}}", "line 2, column 14"),
        (#"{"log":{"entries":{}}}"#, "log.entries is not an array"),
        (#"{"log":{"entries":[7]}}"#, "log.entries[0] is not an object"),
        ("[]", "it is not an object"),
        ("", "line 1, column 1"),
    ])
    func anErrorNamesTheMember(_ archive: String, _ part: String) throws {
        let error = #expect(throws: TransportError.self) { try decode(archive) }
        #expect(error?.message.contains(part) == true, "\(String(describing: error))")
        #expect(error?.code == .unreadableFile)
    }

    @Test(arguments: [
        (#""method": "GET""#, #""method": "G T""#, "log.entries[0].request.method is not a method"),
        (#""status": 200"#, #""status": 20"#, "log.entries[0].response is not a response with a status"),
        (#""status": 200"#, #""status": "200""#, "log.entries[0].response.status is not a number"),
        ("2026-03-01T10:00:00.123Z", "1 March", "log.entries[0].startedDateTime is not a time"),
        ("iVBORw==", "iVBOR!", "log.entries[1].response.content.text is not base64"),
        (#""encoding": "base64""#, #""encoding": "hex""#, "log.entries[1].response.content.encoding is not base64"),
        (#""name": "accept","#, #""name": 7,"#, "log.entries[0].request.headers[4].name is not a string"),
    ])
    func anErrorNamesTheEntryAndNoValue(_ part: String, _ wrong: String, _ message: String) throws {
        let archive = ForeignArchives.chrome.replacing(part, with: wrong, maxReplacements: 1)
        let error = #expect(throws: TransportError.self) { try decode(archive) }
        #expect(error?.message.contains(message) == true, "\(String(describing: error))")
    }

    @Test(arguments: [true, false]) func theLengthOfAnEditedContentIsCorrected(isOwn: Bool) throws {
        func exchange(_ status: HTTPResponse.Status, _ method: HTTPRequest.Method = .get) -> RecordedExchange {
            RecordedExchange(
                startedAt: .init(timeIntervalSince1970: 0),
                request: .init(method: method, url: "https://a.example/"),
                response: .init(
                    status: status,
                    headers: [.contentLength: "4", .transferEncoding: "chunked"],
                    chunks: method == .head ? [] : [.init(Data("abcd".utf8))]
                )
            )
        }
        var cut = exchange(200)
        cut.failure = .init(code: "truncated", message: "It ended.")
        let written = HARArchive.encode([exchange(200), exchange(302), exchange(200, .head), cut])
        var edited = String(decoding: written, as: UTF8.self).replacing(#""text": "abcd""#, with: #""text": "ab""#)
        if !isOwn { edited = edited.replacing(HARArchive.creator, with: "WebInspector") }
        let fields = try decode(edited).map { $0.response?.headers ?? [:] }
        #expect(fields.map { $0[.contentLength] } == ["2", "2", "4", "4"])
        #expect(fields.map { $0.contains(.transferEncoding) } == Array(repeating: isOwn, count: 4))
    }

    @Test func aPersonMayEditTheContentOfAStream() throws {
        let chunks = [StubAnswer.Chunk(Data("ab".utf8)), .init(Data("cd".utf8), after: .seconds(1))]
        let exchange = RecordedExchange(
            startedAt: .init(timeIntervalSince1970: 0),
            request: .init(method: .get, url: "https://a.example/"),
            response: .init(status: 200, chunks: chunks, isStream: true)
        )
        let archive = String(decoding: HARArchive.encode([exchange]), as: UTF8.self)
        for (text, expected) in [("abcdef", ["ab", "cdef"]), ("abc", ["ab", "c"]), ("a", ["a", ""])] {
            let edited = archive.replacing(#""text": "abcd""#, with: #""text": "\#(text)""#)
            let read = try decode(edited)
            #expect(read[0].response?.chunks.map { String(decoding: $0.bytes, as: UTF8.self) } == expected)
            #expect(read[0].response?.chunks.map(\.pause) == [.zero, .seconds(1)])
        }
    }
}
