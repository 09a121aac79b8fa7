import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsRecordings

/// No secret is in what a recording writes, wherever it was.
@Suite(.againstHanging) struct ExchangeSecretsTests {
    private static let secret = PlantedSecret.value

    /// An exchange with a planted secret in the request and, in every way it can be there, in the response.
    private static func exchange(_ planted: PlantedSecret, chunkSize: Int?) -> RecordedExchange {
        var fields = HTTPFields()
        if let (name, value) = planted.field { fields.append(HTTPField(unchecked: .init(stringLiteral: name), value)) }
        let body = Data((planted.body ?? "").utf8)
        var responseFields = fields
        responseFields[.location] = planted.url
        responseFields.append(.setCookie, "sid=\(secret); Path=/; X=\(secret)")
        responseFields[.contentLength] = String(body.count)
        var chunks = body.isEmpty ? [] : [StubAnswer.Chunk(body)]
        if let chunkSize {
            chunks = stride(from: 0, to: body.count, by: chunkSize).map {
                StubAnswer.Chunk(Data(body.dropFirst($0).prefix(chunkSize)), after: .milliseconds($0))
            }
        }
        return RecordedExchange(
            startedAt: Date(timeIntervalSince1970: 1_772_359_200),
            request: .init(method: .post, url: planted.url, headers: fields, body: body),
            response: .init(status: 200, headers: responseFields, chunks: chunks, isStream: chunkSize != nil),
            failure: .init(code: "truncated", message: "It failed for \(planted.url) token=\(secret)")
        )
    }

    private func written(_ exchange: RecordedExchange) -> String {
        String(decoding: HARArchive.encode([ExchangeRedaction.standard.redacted(exchange)]), as: UTF8.self)
    }

    @Test(arguments: [nil, 1, 3, 7, 1_000]) func noPlantedSecretIsWritten(chunkSize: Int?) throws {
        #expect(PlantedSecret.credentials.count >= 120)
        for planted in PlantedSecret.credentials {
            let exchange = Self.exchange(planted, chunkSize: chunkSize)
            let text = written(exchange)
            #expect(!text.contains(Self.secret), "\(text)")
            let read = try HARArchive.decode(Data(text.utf8))
            #expect(read[0].response?.chunks.count == exchange.response?.chunks.count)
            let content = try #require(read[0].response?.content)
            #expect(read[0].response?.headers[.contentLength] == String(content.count))
            #expect(read[0].request.body?.range(of: Data(Self.secret.utf8)) == nil)
            #expect(content.range(of: Data(Self.secret.utf8)) == nil)
        }
    }

    @Test func everyRequestFindsTheAnswerThatWasRecordedWithItsSecret() {
        for planted in PlantedSecret.credentials {
            let request = Self.exchange(planted, chunkSize: nil).request
            let recorded = ExchangeRedaction.standard.redacted(request)
            let parts: RequestMatching = [
                .method, .origin, .path, .query, .body,
                .fields(planted.field.map { [.init(stringLiteral: $0.name)] } ?? []),
            ]
            let key = parts.key(of: request, .standard)
            #expect(key == parts.key(of: recorded, .standard), "\(recorded)")
            #expect(String(decoding: key, as: UTF8.self).contains(Self.secret) == false)
        }
    }

    /// JSON in the other encodings of Unicode.
    private static let hidden: [(Data, String)] = {
        let json = #"{"id":7,"password":"\#(secret)"}"#
        let encodings: [(String.Encoding, String)] = [
            (.utf16BigEndian, "utf-16be"), (.utf16LittleEndian, "utf-16le"), (.utf32BigEndian, "utf-32be"),
            (.utf32LittleEndian, "utf-32le"),
        ]
        return encodings.flatMap { encoding, name in
            let bytes = json.data(using: encoding) ?? Data()
            let marked = "\u{FEFF}\(json)".data(using: encoding) ?? Data()
            return [(bytes, "application/json; charset=\(name)"), (marked, "application/json"), (marked, "")]
        } + [
            (Data(json.utf8), "application/json; charset=utf-16"), (Data(json.utf8), ""),
            (Data([0xEF, 0xBB, 0xBF] + Array(json.utf8)), ""),
            (Data([0xE9] + Array("=1&password=\(secret)".utf8)), "application/x-www-form-urlencoded"),
        ]
    }()

    private func isHidden(_ content: Data) -> Bool {
        let narrow = Data(content.filter { $0 != 0 })
        return narrow.range(of: Data(Self.secret.utf8)) == nil
    }

    @Test(arguments: hidden) func noEncodingOfTextHidesASecret(_ content: Data, _ type: String) throws {
        let fields: HTTPFields = type.isEmpty ? [:] : [.contentType: type]
        guard case .changed(let redacted) = ExchangeRedaction.standard.content(content, fields) else {
            Issue.record("Nothing was found.")
            return
        }
        #expect(isHidden(redacted), "\(Array(redacted))")
        guard case .unchanged = ExchangeRedaction.standard.content(redacted, fields) else {
            Issue.record("A second redaction changes the first.")
            return
        }
    }

    @Test func contentUnderACodingIsDecodedOrLeftOut() throws {
        let gzip = try #require(
            Data(base64Encoded: "H4sIAAAAAAACA6tWKkgsLi7PL0pRslIqNk4uMi4JM8kpTVXSUcoECpnXAgAo5MnXIQAAAA==")
        )
        let exchange = RecordedExchange(
            startedAt: .now,
            request: .init(
                method: .post,
                url: "https://a.example/",
                headers: [.contentEncoding: "gzip"],
                body: gzip
            ),
            response: .init(
                status: 200,
                headers: [
                    .contentEncoding: "gzip", .contentLength: String(gzip.count), "Content-Digest": "sha-256=:x:",
                ],
                chunks: [.init(gzip)]
            )
        )
        let redacted = ExchangeRedaction.standard.redacted(exchange)
        let json = Data(#"{"password":"REDACTED","id":7}"#.utf8)
        #expect(redacted.request.body == json)
        #expect(redacted.request.headers.isEmpty)
        #expect(redacted.response?.content == json)
        #expect(redacted.response?.headers == [.contentLength: String(json.count)])
        let matching = RequestMatching.standard
        #expect(matching.key(of: exchange.request, .standard) == matching.key(of: redacted.request, .standard))
    }

    @Test(arguments: ["compress", "gzip", "gzip, unknown"]) func contentThatCannotBeReadIsLeftOut(coding: String) throws
    {
        let content = Data("password=\(Self.secret)".utf8)
        let exchange = RecordedExchange(
            startedAt: Date(timeIntervalSince1970: 0),
            request: .init(
                method: .post,
                url: "https://a.example/",
                headers: [.contentEncoding: coding],
                body: content
            ),
            response: .init(status: 200, headers: [.contentEncoding: coding], chunks: [.init(content)])
        )
        let redacted = ExchangeRedaction.standard.redacted(exchange)
        #expect(redacted.request.body == nil && redacted.request.omission != nil)
        #expect(redacted.response?.chunks == [] && redacted.response?.omission != nil)
        let archive = HARArchive.encode([redacted])
        #expect(try HARArchive.decode(archive) == [redacted])
        #expect(String(decoding: archive, as: UTF8.self).contains("may hold secrets"))
        let matching = RequestMatching.standard
        #expect(matching.key(of: exchange.request, .standard) == matching.key(of: redacted.request, .standard))
    }

    @Test func multipartContentIsRedactedByParts() throws {
        let image = Data([0x89, 0x50, 0, 0xFF]) + Data("pin=1234567".utf8)
        func form(_ boundary: String) -> Data {
            var data = Data(
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\(Self.secret)\r\n".utf8
            )
            data += Data(
                "--\(boundary)\r\nContent-Disposition: form-data; name=\"photo\"\r\nContent-Type: image/png\r\n\r\n"
                    .utf8
            )
            data += image
            data += Data(
                "\r\n--\(boundary)\r\nContent-Disposition: form-data; name=\"otp\"; filename=\"a\"\r\n\r\n".utf8
            )
            return data + Data([0xFF, 0xFE, 0x33, 0]) + Data("\r\n--\(boundary)--\r\n".utf8)
        }
        func request(_ boundary: String) -> RecordedExchange.Request {
            let type = "multipart/form-data; boundary=\(boundary)"
            return .init(
                method: .post,
                url: "https://a.example/",
                headers: [.contentType: type],
                body: form(boundary)
            )
        }
        let redacted = ExchangeRedaction.standard.redacted(request("x1"))
        let body = try #require(redacted.body)
        #expect(body.range(of: Data(Self.secret.utf8)) == nil)
        #expect(body.range(of: Data([0xFF, 0xFE, 0x33, 0])) == nil)
        #expect(body.range(of: image) != nil, "An image is no text.")
        let matching = RequestMatching.standard
        #expect(matching.key(of: redacted, .standard) == matching.key(of: request("another boundary"), .standard))
    }

    private static let multipart: HTTPFields = [.contentType: "multipart/form-data; boundary=X"]
    private static let password = "Content-Disposition: form-data; name=\"password\"\r\n\r\n\(secret)"

    @Test(arguments: [
        "\r\n--X\r\n\(password)\r\n--X--", "A preamble.\r\n--X\r\n\(password)\r\n--X--\r\nAn epilogue.",
        "\r\n--X\r\n\(password)", "\r\n--X\r\n\(password)\r\n--X\r\n\r\nb\r\n--",
        "--X\r\nContent-Type: multipart/mixed; boundary=Y\r\n\r\nA preamble.\r\n--Y\r\n\(password)\r\n--Y--\r\n--X--",
    ])
    func aPartIsHiddenForItsName(_ content: String) throws {
        guard case .changed(let redacted) = ExchangeRedaction.standard.content(Data(content.utf8), Self.multipart)
        else {
            Issue.record("Nothing was found.")
            return
        }
        #expect(isHidden(redacted), "\(String(decoding: redacted, as: UTF8.self))")
        guard case .unchanged = ExchangeRedaction.standard.content(redacted, Self.multipart) else {
            Issue.record("A second redaction changes the first.")
            return
        }
    }

    @Test func partsAreReadToALimitedDepth() throws {
        var part = Data([0xFF, 0xFE, 0])
        for level in (0..<50).reversed() {
            let head = "--b\(level)\r\nContent-Type: multipart/mixed; boundary=b\(level + 1)\r\n\r\n"
            part = Data(head.utf8) + part + Data("\r\n--b\(level)--".utf8)
        }
        let fields: HTTPFields = [.contentType: "multipart/mixed; boundary=b0"]
        guard case .changed(let redacted) = ExchangeRedaction.standard.content(part, fields) else {
            Issue.record("Content that wasn't read is kept.")
            return
        }
        #expect(redacted.count < 800 && redacted.range(of: Data("boundary=b4".utf8)) != nil)
    }

    /// A URL's user in binary content is chance.
    @Test func binaryContentIsKept() {
        let content = Data([0xFF, 0x00, 0x2F, 0x2F, 0x41, 0x40, 0xFF])
        for type in ["application/octet-stream", "application/x-protobuf", "application/zip", ""] {
            guard case .unchanged = ExchangeRedaction.standard.content(content, [.contentType: type]) else {
                Issue.record("Content of the type \(type) was changed.")
                continue
            }
        }
    }

    @Test func imagesAreKept() {
        let content = Data("\u{89}PNG password=x".utf8) + [0xFF, 0]
        guard case .unchanged = ExchangeRedaction.standard.content(content, [.contentType: "image/png"]) else {
            Issue.record("The image was changed.")
            return
        }
    }
}
