import Foundation
import Testing

@testable import InterceptorsSyntax

@Suite(.againstHanging) struct JSONIndentationTests {
    @Test(arguments: [
        ("{}", "{}"),
        (" [ ] ", "[]"),
        (#"{"a":1}"#, "{\n  \"a\": 1\n}"),
        ("[1,[2,{}]]", "[\n  1,\n  [\n    2,\n    {}\n  ]\n]"),
        (#"{"z":1,"a":2,"z":3}"#, "{\n  \"z\": 1,\n  \"a\": 2,\n  \"z\": 3\n}"),
        (
            #"{"n":1.500e+10,"m":12345678901234567890.10}"#,
            "{\n  \"n\": 1.500e+10,\n  \"m\": 12345678901234567890.10\n}"
        ),
        (#"["{\"a\":[1,2]}","\\","\u00e9 \/"]"#, "[\n  \"{\\\"a\\\":[1,2]}\",\n  \"\\\\\",\n  \"\\u00e9 \\/\"\n]"),
        ("{\n\t\"a\" :\r\n true }", "{\n  \"a\": true\n}"),
        ("{\"a\":1}\n{\"a\":2}\n", "{\n  \"a\": 1\n}\n{\n  \"a\": 2\n}"),
        ("[\"ü😀\"]", "[\n  \"ü😀\"\n]"),
    ])
    func indentsAndChangesNothingElse(json: String, expected: String) {
        #expect(JSONIndentation.indented(json) == expected)
        #expect(JSONIndentation.indented(expected) == expected)
    }

    @Test(arguments: [
        "", " ", "1", "\"a\"", "true", "{", "[", "}", "]", "{]", "[}", "[1,]", "[,1]", "{,}", "{\"a\":}", "{\"a\"",
        "{\"a", "{\"a\\", "[1 2]",
        "{\"a\" \"b\"}", "[1:2]", "{:1}", "[\"a\"\"b\"]", "<html>", "{\"a\":1}}", "[[]", "{\"a\":\"\\\"}",
    ])
    func whatIsNoJSONIsLeftAlone(text: String) {
        #expect(JSONIndentation.indented(text) == nil)
    }

    @Test func nestingAsDeepAsTheLimitIsIndentedAndDeeperIsLeftAlone() {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
        }
        #expect(JSONIndentation.indented(nested(64)) != nil)
        #expect(JSONIndentation.indented(nested(65)) == nil)
        #expect(JSONIndentation.indented(nested(10_000)) == nil)
        #expect(JSONIndentation.indented(String(repeating: "[", count: 1_000_000)) == nil)
        #expect(JSONIndentation.indented(String(repeating: #"{"a":"#, count: 10_000)) == nil)
    }

    @Test func indentsNeverMakeATextManyTimesAsLong() {
        let deep = String(repeating: "[", count: 60)
        let numbers = Array(repeating: "0", count: 8_000).joined(separator: ",")
        #expect(JSONIndentation.indented(deep + numbers + String(repeating: "]", count: 60)) == nil)
    }

    @Test func whatItIndentsMeansTheSame() throws {
        let json = #"{"a":[1,2.5,{"b":null,"c":[true,false,[]]},"x\ny"],"d":{},"é":"😀"}"#
        let indented = try #require(JSONIndentation.indented(json))
        let before = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? NSDictionary
        let after = try JSONSerialization.jsonObject(with: Data(indented.utf8)) as? NSDictionary
        #expect(before != nil)
        #expect(before == after)
    }
}
