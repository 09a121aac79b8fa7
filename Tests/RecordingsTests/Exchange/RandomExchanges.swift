import Foundation
import InterceptorsTestSupport

@testable import InterceptorsRecordings

/// Exchanges of all shapes. What can't be recorded isn't made: times below a millisecond, fields with line breaks.
struct RandomExchanges {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func next() -> RecordedExchange {
        var exchange = RecordedExchange(
            startedAt: Date(
                timeIntervalSince1970: Double(Int.random(in: 0...4_000_000_000_000, using: &random)) / 1_000
            ),
            wait: duration(),
            request: .init(
                method: random.oneOf([.get, .post, .put, .delete, .head, .patch, "PURGE", "m-search"]),
                url: url(),
                headers: fields(),
                body: chance(10) ? nil : content()
            )
        )
        if exchange.request.body == nil, chance(50) { exchange.request.omission = text() + "." }
        if !chance(10) { exchange.response = response() }
        if exchange.response == nil || chance(10) {
            exchange.failure = .init(code: random.oneOf(codes), message: text())
        }
        return exchange
    }

    private let codes = ["truncated", "connectionLost", "timedOut", "own code", ""]

    private mutating func response() -> RecordedExchange.Response {
        let code =
            chance(30) ? Int.random(in: 200...599, using: &random) : random.oneOf([200, 201, 204, 304, 301, 404])
        var response = RecordedExchange.Response(status: .init(code: code) ?? 200, headers: fields())
        if chance(5) {
            response.omission = text()
        } else if chance(30) {
            response.isStream = true
            let count = random.oneOf([0, 1, 2, 5, 20])
            response.chunks = (0..<count).map { _ in StubAnswer.Chunk(content(), after: duration()) }
        } else {
            let content = content()
            if !content.isEmpty { response.chunks = [StubAnswer.Chunk(content)] }
        }
        if chance(50) { response.trailers = chance(50) ? fields() : [:] }
        if chance(90) { response.headers.remove(.contentEncoding) }
        // The reader corrects any other length.
        if response.headers.contains(.contentLength) {
            response.headers[.contentLength] = String(response.content.count)
        }
        return response
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }

    private mutating func duration() -> Duration {
        chance(30) ? .zero : .microseconds(Int64.random(in: 0...10_000_000_000, using: &random))
    }

    private mutating func url() -> String {
        let hosts = [
            "https://a.example", "http://[::1]:8080", "HTTPS://User:pw@B.example:443", "https://REDACTED@a.example",
        ]
        let paths = ["", "/", "/a%2Fb/c", "/ä", "/a;b=REDACTED"]
        let queries = ["", "?", "?a=1&a=2&b", "?token=REDACTED", "?\u{0301}=+%20"]
        return random.oneOf(hosts) + random.oneOf(paths) + random.oneOf(queries)
    }

    private mutating func fields() -> HTTPFields {
        HTTPFields(
            (0..<Int.random(in: 0...8, using: &random)).map { _ in
                let names = [
                    "Accept", "accept", "Set-Cookie", "Cookie", "Content-Type", "Content-Length", "Content-Encoding",
                    "X-\(Int.random(in: 0...9, using: &random))", "Authorization", "X-Api-Key", "Location",
                    "Date", "Connection", "Transfer-Encoding",
                ]
                let values = [
                    text(), "", "application/json", "text/html; charset=iso-8859-1", "a=1; Path=/; Expires=x", "17",
                    "gzip",
                    "\u{1}\u{7F}", "\"\\/",
                ]
                return HTTPField(unchecked: .init(stringLiteral: random.oneOf(names)), random.oneOf(values))
            }
        )
    }

    private mutating func content() -> Data {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: Data()
        case 1: Data(text().utf8)
        case 2: Data(#"{"a":[1,2,{"b":"\#(text())"}],"\#(random.oneOf(["token", "c"]))":[3,"\#(text())"]}"#.utf8)
        case 3:
            Data(
                (0..<Int.random(in: 1...200, using: &random)).map { _ in UInt8.random(in: .min ... .max, using: &random)
                }
            )
        case 4: Data("\u{FEFF}é\u{2028}\u{0}\r\n".utf8)
        default: Data(repeating: 0, count: Int.random(in: 1...9, using: &random))
        }
    }

    private mutating func text() -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "Z", "é", "\u{301}", "\"", "\\", "/", "<", "\t", "😀", "\u{FFFD}", "=", "%", "\u{85}",
        ]
        return String(
            String.UnicodeScalarView((0..<Int.random(in: 1...9, using: &random)).map { _ in random.oneOf(scalars) })
        )
    }
}
