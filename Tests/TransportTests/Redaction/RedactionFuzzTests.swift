import Foundation
import InterceptorsTestSupport
import InterceptorsTransport
import Testing

/// Random messages that contain known secrets. Each run uses the same messages.
@Suite(.againstHanging) struct RedactionFuzzTests {
    private func secret(_ source: inout SeededGenerator) -> String {
        source.oneOf([
            #""hush""#, #""hush\"hush""#, #""hush\\""#, #""hush, hush: hush}""#, #"["hush",{"a":"hush"}]"#,
            #"{"a":["hush","}"],"b":"hush"}"#, #""é hush\u00e9\n hush""#, #""<b>hush</b>""#,
        ])
    }

    private func json(_ source: inout SeededGenerator, depth: Int) -> String {
        let space = source.oneOf(["", " ", "\n\t"])
        guard depth > 0 else {
            return source.oneOf([
                #""a""#, #""a: \"b\" = c""#, "1.50", "-3e10", "null", "true", #""\\""#, "[]", "{}", #""{\"a\":1}""#,
            ])
        }
        let count = Int.random(in: 0..<4, using: &source)
        if Int.random(in: 0..<3, using: &source) == 0 {
            let items = (0..<count).map { _ in json(&source, depth: depth - 1) }
            return "[" + space + items.joined(separator: space + ",") + space + "]"
        }
        let members = (0...count).map { _ in
            let isSecret = Int.random(in: 0..<3, using: &source) == 0
            let name =
                isSecret ? source.oneOf(["password", "access_token", "pass\\u0077ord", "API-Key", "x.secret"]) : "name"
            return "\"\(name)\"\(space):\(space)" + (isSecret ? secret(&source) : json(&source, depth: depth - 1))
        }
        return "{" + members.joined(separator: space + ",") + "}"
    }

    @Test(arguments: 0..<8)
    func noSecretOfAJSONBodyIsShownWhereverItIsCut(seed: Int) throws {
        var source = SeededGenerator(seed: UInt64(seed))
        for _ in 0..<40 {
            let body = Data(json(&source, depth: 4).utf8)
            let whole = Redaction.standard.excerpt(of: body, limit: .max)
            #expect(!whole.contains("hush") && !whole.contains("bytes of"), "\(whole)")
            #expect(
                (try? JSONSerialization.jsonObject(with: Data(whole.utf8), options: .fragmentsAllowed)) != nil,
                "\(whole)"
            )
            for _ in 0..<10 {
                let cut = Redaction.standard.excerpt(
                    of: body,
                    limit: Int.random(in: 0..<body.count + 1, using: &source)
                )
                #expect(!cut.contains("hush"), "\(cut)")
            }
        }
    }

    @Test(arguments: 0..<8)
    func noSecretOfAQueryAFormOrALineIsShown(seed: Int) {
        var source = SeededGenerator(seed: UInt64(seed) &+ 1_000)
        for _ in 0..<200 {
            let separator = source.oneOf(["&", ";"])
            let pairs = (0...Int.random(in: 0..<5, using: &source)).map { _ in
                source.oneOf([
                    "a=1", "b", "=", "c=%20x", "token=hush", "user%5Bpassword%5D=hush", "%70assword=hush%26hush",
                    "u=x%3Fapi_key%3Dhush",
                    "next=https://ada:hush@h/", "auth=hush+hush", "é=ü", "",
                ])
            }
            let query = pairs.joined(separator: separator)
            let form = Redaction.standard.excerpt(of: Data(query.utf8), type: "application/x-www-form-urlencoded")
            #expect(!form.contains("hush") && !form.contains("bytes of"), "\(query): \(form)")
            let line =
                "failed at https://h.example/a?\(query) (\(source.oneOf(["timeout", "Cookie: hush=hush", "token: hush"])))"
            #expect(!Redaction.standard.text(line).contains("hush"), "\(line): \(Redaction.standard.text(line))")
        }
    }

    @Test(arguments: 0..<8)
    func noTextMakesItCrash(seed: Int) {
        var source = SeededGenerator(seed: UInt64(seed) &+ 2_000)
        let pieces = [
            "token", "password", "=", ":", "\"", "'", "\\", "<", ">", "/", "//", "@", "%", "%3D", "%22", "{", "}", "[",
            "]", "(", ")", " ", "\n",
            "\r\n", "--", "Bearer ", "eyJ", ".", "code", "-1", "é", "\u{0}", "<token>", "</token>", "name=", ";", "&",
            ",", "#", "?",
        ]
        for _ in 0..<500 {
            let text = (0..<Int.random(in: 0..<30, using: &source)).map { _ in source.oneOf(pieces) }.joined()
            let redacted = Redaction.standard.text(text)
            _ = Redaction.standard.excerpt(of: Data(text.utf8), limit: Int.random(in: 0..<40, using: &source))
            _ = Redaction.standard.value(of: HTTPField(unchecked: source.oneOf([.location, .link, "X"]), text))
            #expect(redacted.utf8.count <= text.utf8.count * 12)
        }
    }
}
