import Foundation
import InterceptorsTestSupport
import Testing

@testable import InterceptorsTransport

/// Hides a secret under a sensitive name in random JSON, cuts the text anywhere, and searches the result for the
/// secret.
@Suite(.againstHanging) struct RedactionPropertyTests {
    private static let names = [
        "password", "Authorization", "api_key", "access_token", "clientSecret", "Set-Cookie", "user.pin", "otp", "jwt",
        "x-csrf-token", "session",
    ]

    @Test(arguments: 0..<16)
    func noSecretOfJSONIsEverShown(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let secret = generator.secret()
            let body = Data(generator.document(hiding: secret).utf8)
            expectNothing(of: secret, in: body, limit: body.count, isShown: true)
            for _ in 0..<10 {
                expectNothing(of: secret, in: body, limit: Int.random(in: 0...body.count, using: &generator))
            }
        }
    }

    @Test(arguments: 0..<10)
    func noSecretOfAFormOrAURLIsEverShown(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed &+ 1000)
        let form = "application/x-www-form-urlencoded"
        for _ in 0..<50 {
            let secret = generator.secret()
            var pair = generator.name(Self.names) + "=" + SeededGenerator.encoded(secret)
            for _ in 0..<Int.random(in: 0...2, using: &generator) {
                pair = "next=" + SeededGenerator.encoded("https://a.example/?x=1&" + pair)
            }
            let query = "a=1&" + pair + "&b=2"
            expectNothing(
                of: secret,
                in: Data(query.utf8),
                limit: Int.random(in: 0...query.utf8.count, using: &generator),
                type: form
            )
            expectNothing(of: secret, in: Data(query.utf8), limit: .max, type: form)
            let user = SeededGenerator.encoded(secret)
            let url = try #require(URL(string: "https://\(user):\(user)@a.example/x?\(query)#\(user)"))
            #expect(!Redaction.standard.string(for: url).contains(secret.prefix(4)))
        }
    }

    @Test(arguments: 0..<20)
    func noTextCrashesIt(seed: UInt64) {
        var generator = SeededGenerator(seed: seed &+ 2000)
        let pieces = [
            "\"", "\\", "{", "}", "[", "]", ":", "=", "&", ";", "<", ">", "/", "//", "%", "%41", "%22", "\\u0022",
            "\\u", "\n",
            "\r\n", " ", "token", "Bearer ", "eyJhbGciOiJ", "é", "😀", "'", "(", ")", "--", "name", "@", "#", "?", "1",
            "null",
            "\u{0}", "\u{FEFF}", "<token", "</token>", "code", ",", "|", "<redacted>",
        ]
        for _ in 0..<300 {
            let count = Int.random(in: 0...40, using: &generator)
            let text = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let body = Data(text.utf8)
            _ = Redaction.standard.text(text)
            _ = Redaction.standard.excerpt(of: body, limit: Int.random(in: 0...(body.count + 1), using: &generator))
            _ = Redaction.standard.value(of: HTTPField(unchecked: .location, text))
            _ = URL(string: text).map { Redaction.standard.string(for: $0) }
        }
    }

    private func expectNothing(
        of secret: String,
        in body: Data,
        limit: Int,
        type: String? = nil,
        isShown: Bool = false,
        location: SourceLocation = #_sourceLocation
    ) {
        let excerpt = Redaction.standard.excerpt(of: body, type: type, limit: limit)
        if isShown {
            #expect(!excerpt.contains("bytes of"), "\(String(decoding: body, as: UTF8.self))", sourceLocation: location)
        }
        // The secret's letters appear nowhere else in a document, so any four characters of it in a row are a leak.
        let isLeaked = (0...(secret.count - 4)).contains { excerpt.contains(secret.dropFirst($0).prefix(4)) }
        #expect(
            !isLeaked,
            "\(String(decoding: body, as: UTF8.self)) cut at \(limit): \(excerpt)",
            sourceLocation: location
        )
    }
}

extension SeededGenerator {
    /// Letters that appear nowhere else in a document, mixed with characters that could confuse a scanner.
    fileprivate mutating func secret() -> String {
        let letters = Array("QXZJKVW")
        let confusing = ["\"", "\\", "{", "}", "[", "]", ",", ":", " ", "\n", "&", "=", "<", "'", "é", "/", "%22"]
        var secret = ""
        for _ in 0..<Int.random(in: 1...4, using: &self) {
            for _ in 0..<5 { secret.append(letters.randomElement(using: &self) ?? "Q") }
            if Bool.random(using: &self) { secret += confusing.randomElement(using: &self) ?? "" }
        }
        return secret + "QQZZ"
    }

    fileprivate mutating func name(_ names: [String]) -> String { names.randomElement(using: &self) ?? "token" }

    fileprivate mutating func document(hiding secret: String) -> String {
        let names = ["password", "Authorization", "api_key", "access_token", "clientSecret", "user.pin", "otp", "jwt"]
        var hidden: String
        switch Int.random(in: 0..<4, using: &self) {
        case 0: hidden = "[" + quoted(secret) + ", {\"a\": " + quoted(secret) + "}]"
        case 1: hidden = "{\"a\": [" + quoted(secret) + "], \"b\": 1}"
        default: hidden = quoted(secret)
        }
        var json = "{" + quoted(name(names)) + space() + ":" + space() + hidden + space() + "}"
        for _ in 0..<Int.random(in: 0...5, using: &self) {
            switch Int.random(in: 0..<5, using: &self) {
            case 0: json = "[" + filler() + "," + space() + json + "," + filler() + "]"
            case 1: json = "{" + quoted("note") + ":" + filler() + "," + quoted("inner") + ":" + json + "}"
            case 2: json = "{" + quoted("body") + ":" + quoted(json) + ",\"id\":7}"
            case 3: json = "[" + json + "," + filler() + space() + "]"
            default: json = "{" + quoted("a\\\"b") + ":" + filler() + "," + quoted("c") + space() + ":" + json + "}"
            }
        }
        return json
    }

    fileprivate mutating func filler() -> String {
        switch Int.random(in: 0..<6, using: &self) {
        case 0: "null"
        case 1: "12.5e3"
        case 2: quoted("12:30, see https://a.example/?page=2")
        case 3: quoted("a \"b\" \\ c: {d}")
        case 4: "[]"
        default: quoted("")
        }
    }

    fileprivate mutating func space() -> String { ["", "", " ", "\n  ", "\t"].randomElement(using: &self) ?? "" }

    /// A JSON string, with required and superfluous escapes.
    fileprivate mutating func quoted(_ text: String) -> String {
        let escapesMuch = Int.random(in: 0..<4, using: &self) == 0
        var quoted = "\""
        for unit in text.utf16 {
            let needsEscape = unit == 0x22 || unit == 0x5C || unit < 0x20
            if needsEscape && unit >= 0x20 && Bool.random(using: &self) {
                quoted += "\\" + String(UnicodeScalar(UInt8(unit)))
            } else if needsEscape || unit > 0x7E || escapesMuch && Int.random(in: 0..<3, using: &self) == 0 {
                quoted +=
                    "\\u" + String(repeating: "0", count: 4 - String(unit, radix: 16).count) + String(unit, radix: 16)
            } else {
                quoted += String(UnicodeScalar(UInt8(unit)))
            }
        }
        return quoted + "\""
    }

    fileprivate static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }
}
