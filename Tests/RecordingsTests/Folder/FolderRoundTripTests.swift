import Foundation
import InterceptorsTestSupport
import InterceptorsTesting
import Testing

@testable import InterceptorsRecordings

/// Random exchanges recorded into a folder: each request gets the last response that was recorded for it.
@Suite(.againstHanging, .heavy) struct FolderRoundTripTests {
    private static let redaction = Redaction.standard.adding(names: ["frob"])
    private static let replacing: @Sendable (String) -> String = { $0.replacing("Manhattan", with: "project") }

    /// Alternatives in a request. Alternatives with the same meaning make equal requests. `N` is a secret that changes with each request.
    private typealias Part = (text: String, meaning: String)

    private static let origins: [Part] = [
        ("https://api.example.com", "home"), ("https://API.example.com:443", "home"),
        ("https://cdn.example.com:8443", "cdn"), ("http://plain.example.com", "plain"),
    ]
    private static let paths: [Part] = [
        ("/", "/"), ("/users", "users"), ("/%75sers", "users"), ("/getUser", "getUser"), ("/users/", "users/"),
        ("/a%2Fb/report.500", "report"), ("/b/x.json", "x"), ("/b/x", "x without"),
    ]
    private static let queries: [Part] = [
        ("", ""), ("", ""), ("?", "?"), ("?q=%C3%A9&p=1", "q, p"), ("?p=1&q=%c3%a9", "p, q"), ("?frob=N", "frob"),
    ]
    private static let bodies: [Part] = [
        ("", ""), ("x", "x"), (#"{"a":1,"b":[2]}"#, "JSON"), (#"{ "b": [2.0], "a": 1 }"#, "JSON"),
        (#"{"frob":"N"}"#, "frob"), ("Manhattan", "project"),
    ]

    private static let statuses: [HTTPResponse.Status] = [200, 200, 201, 204, 206, 302, 304, 404, 503]

    private struct Exchange {
        let request: HTTPRequest
        let meaning: String
        let status: HTTPResponse.Status
        let fields: HTTPFields
        let content: Data
    }

    private static func shape(_ random: inout SeededGenerator) -> (method: HTTPRequest.Method, parts: [Part]) {
        let method = random.oneOf([HTTPRequest.Method.get, .get, .head, .post, .put, "PURGE"])
        let isPlain = method == .get || method == .head
        let body = isPlain ? bodies[0] : random.oneOf(bodies)
        return (method, [random.oneOf(origins), random.oneOf(paths), random.oneOf(queries), body])
    }

    private static func exchange(
        _ number: Int,
        _ shape: (method: HTTPRequest.Method, parts: [Part]),
        _ random: inout SeededGenerator
    ) -> Exchange {
        let (method, parts) = shape
        let texts = parts.map { $0.text.replacing("N", with: "hush\(number)hush") }
        var request = HTTPRequest(method: method, url: URL(string: texts[0...2].joined())!, body: HTTPBody(texts[3]))
        request.context.responseBody = Bool.random(using: &random) ? .streamed : .buffered
        let status = random.oneOf(statuses)
        var fields: HTTPFields = [:]
        for _ in 0..<Int.random(in: 0...4, using: &random) {
            let value = random.oneOf(["", "1", "naïve \u{85}", "a, \"b\"", "#", "\(number)", "Manhattan", "a\u{2028}b"])
            fields.append(random.oneOf(["X-A", "x-a", "ETag", "Link", "frob", "Vary"]), value)
        }
        let (type, content) = content(number, &random)
        let isEmpty = method == .head || [204, 304].contains(status)
        if !isEmpty, !content.isEmpty { fields[.contentType] = type }
        return Exchange(
            request: request,
            meaning: "\(method) \(parts.dropLast().map(\.meaning))",
            status: status,
            fields: fields,
            content: isEmpty ? Data() : content
        )
    }

    private static func content(_ number: Int, _ random: inout SeededGenerator) -> (type: String, Data) {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: ("text/plain", Data())
        case 1: ("application/json", Data(#"{"number":\#(number),"a":[1.50,"Manhattan"],"frob":"hushhush"}"#.utf8))
        case 2: ("text/html; charset=utf-8", Data("<p>\(number)\r\n\u{2028}".utf8))
        case 3: ("application/problem+json", Data("{\(number)".utf8))
        case 4: ("image/png", Data((0..<300).map { _ in UInt8.random(in: .min ... .max, using: &random) }))
        default: ("text/csv", Data(repeating: 0x61, count: number))
        }
    }

    /// The exchange as the folder has it: without secrets, and without the indents of JSON.
    private static func kept(_ content: Data, _ type: String?) -> Data {
        guard type != "image/png" else { return content }
        let text = String(decoding: content, as: UTF8.self).replacing("Manhattan", with: "project")
            .replacing("\"hushhush\"", with: "\"REDACTED\"")
        return Data(type == "application/json" ? text.filter { !$0.isWhitespace }.utf8 : text.utf8)
    }

    private static func kept(_ fields: HTTPFields) -> [String] {
        fields.filter { ![.contentLength, "Content-Type"].contains($0.name) }.map { field in
            let value = field.name == "frob" ? "REDACTED" : field.value.replacing("Manhattan", with: "project")
            return "\(field.name.rawName): \(value)"
        }
    }

    @Test func everyRequestIsAnsweredAsItWasRecorded() async throws {
        let seed = DailySeed.value
        var random = SeededGenerator(seed: seed)
        for _ in 0..<FullLoad.count(3, full: 20) {
            // Some requests are equal, so that answers replace others.
            let shapes = (0..<40).map { _ in Self.shape(&random) }
            let exchanges = (0..<100).map { number in
                let shape = random.oneOf(shapes)
                return Self.exchange(number, shape, &random)
            }
            try await expectAnswers(to: exchanges, seed)
        }
    }

    /// Records exchanges, and then plays them.
    private func expectAnswers(to exchanges: [Exchange], _ seed: UInt64) async throws {
        let recorded = RecordedFolder()
        // A folder that was recorded before, in another order, leaves nothing behind.
        for exchanges in [exchanges.suffix(20).reversed(), exchanges] {
            let chain = recorded.chain(redaction: Self.redaction, replacing: Self.replacing)
            for exchange in exchanges {
                recorded.stub.enqueue(
                    .status(exchange.status, headers: exchange.fields, body: HTTPBody(exchange.content))
                )
                _ = try await chain.send(exchange.request).body.collect(upTo: 1 << 20)
            }
        }
        #expect(recorded.errors.all.isEmpty, "seed \(seed)")
        for path in recorded.everything {
            #expect(!path.contains("hush") && !path.contains("Manhattan"), "\(path), seed \(seed)")
        }
        let player = recorded.player
        for exchange in Dictionary(exchanges.map { ($0.meaning, $0) }, uniquingKeysWith: { $1 }).values {
            let response = try await player.send(exchange.request)
            let content = try await response.body.collect(upTo: 1 << 20)
            let type = exchange.fields[.contentType]
            let played = type == "application/json" ? Self.kept(content, type) : content
            let comment: Comment = "\(exchange.meaning), seed \(seed)"
            #expect(response.status == exchange.status, comment)
            #expect(response.headers[.contentType] == type, comment)
            #expect(Self.kept(response.headers) == Self.kept(exchange.fields), comment)
            #expect(played == Self.kept(exchange.content, type), comment)
        }
    }
}
