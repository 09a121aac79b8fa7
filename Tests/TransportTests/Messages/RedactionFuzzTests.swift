import Foundation
import Testing
import Transport

/// Random messages that contain known secrets. Each run uses the same messages.
@Suite(.againstHanging) struct RedactionFuzzTests {
    private struct Source {
        var state: UInt64

        mutating func below(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(bound))
        }

        mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }
    }

    private func secret(_ source: inout Source) -> String {
        source.pick([
            #""hush""#, #""hush\"hush""#, #""hush\\""#, #""hush, hush: hush}""#, #"["hush",{"a":"hush"}]"#,
            #"{"a":["hush","}"],"b":"hush"}"#, #""é hush\u00e9\n hush""#, #""<b>hush</b>""#,
        ])
    }

    private func json(_ source: inout Source, depth: Int) -> String {
        let space = source.pick(["", " ", "\n\t"])
        guard depth > 0 else {
            return source.pick([
                #""a""#, #""a: \"b\" = c""#, "1.50", "-3e10", "null", "true", #""\\""#, "[]", "{}", #""{\"a\":1}""#,
            ])
        }
        let count = source.below(4)
        if source.below(3) == 0 {
            let items = (0..<count).map { _ in json(&source, depth: depth - 1) }
            return "[" + space + items.joined(separator: space + ",") + space + "]"
        }
        let members = (0...count).map { _ in
            let isSecret = source.below(3) == 0
            let name =
                isSecret ? source.pick(["password", "access_token", "pass\\u0077ord", "API-Key", "x.secret"]) : "name"
            return "\"\(name)\"\(space):\(space)" + (isSecret ? secret(&source) : json(&source, depth: depth - 1))
        }
        return "{" + members.joined(separator: space + ",") + "}"
    }

    @Test(arguments: 0..<8)
    func noSecretOfAJSONBodyIsShownWhereverItIsCut(seed: Int) throws {
        var source = Source(state: UInt64(seed))
        for _ in 0..<40 {
            let body = Data(json(&source, depth: 4).utf8)
            let whole = Redaction.standard.excerpt(of: body, limit: .max)
            #expect(!whole.contains("hush"), "\(whole)")
            #expect(
                (try? JSONSerialization.jsonObject(with: Data(whole.utf8), options: .fragmentsAllowed)) != nil,
                "\(whole)"
            )
            for _ in 0..<10 {
                let cut = Redaction.standard.excerpt(of: body, limit: source.below(body.count + 1))
                #expect(!cut.contains("hush"), "\(cut)")
            }
        }
    }

    @Test(arguments: 0..<8)
    func noSecretOfAQueryAFormOrALineIsShown(seed: Int) {
        var source = Source(state: UInt64(seed) &+ 1_000)
        for _ in 0..<200 {
            let separator = source.pick(["&", ";"])
            let pairs = (0...source.below(5)).map { _ in
                source.pick([
                    "a=1", "b", "=", "c=%20x", "token=hush", "user%5Bpassword%5D=hush", "%70assword=hush%26hush",
                    "u=x%3Fapi_key%3Dhush",
                    "next=https://ada:hush@h/", "auth=hush+hush", "é=ü", "",
                ])
            }
            let query = pairs.joined(separator: separator)
            #expect(!Redaction.standard.excerpt(of: Data(query.utf8)).contains("hush"), "\(query)")
            let line =
                "failed at https://h.example/a?\(query) (\(source.pick(["timeout", "Cookie: hush=hush", "token: hush"])))"
            #expect(!Redaction.standard.text(line).contains("hush"), "\(line): \(Redaction.standard.text(line))")
        }
    }

    @Test(arguments: 0..<8)
    func noTextMakesItCrash(seed: Int) {
        var source = Source(state: UInt64(seed) &+ 2_000)
        let pieces = [
            "token", "password", "=", ":", "\"", "'", "\\", "<", ">", "/", "//", "@", "%", "%3D", "%22", "{", "}", "[",
            "]", "(", ")", " ", "\n",
            "\r\n", "--", "Bearer ", "eyJ", ".", "code", "-1", "é", "\u{0}", "<token>", "</token>", "name=", ";", "&",
            ",", "#", "?",
        ]
        for _ in 0..<500 {
            let text = (0..<source.below(30)).map { _ in source.pick(pieces) }.joined()
            let redacted = Redaction.standard.text(text)
            _ = Redaction.standard.excerpt(of: Data(text.utf8), limit: source.below(40))
            _ = Redaction.standard.value(of: HTTPField(unchecked: source.pick([.location, .link, "X"]), text))
            #expect(redacted.utf8.count <= text.utf8.count * 12)
        }
    }
}
