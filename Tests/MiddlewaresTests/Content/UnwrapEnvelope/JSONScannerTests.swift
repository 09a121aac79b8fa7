import Foundation
import Testing

@testable import InterceptorsMiddlewares

@Suite(.againstHanging) struct JSONScannerTests {
    /// The text found at a path, or `nil`.
    private func value(at path: String, in text: String) throws -> String? {
        let data = Data(text.utf8)
        let place = try JSONScanner.find([JSONScanner.path(path)], in: data) { $0[0] }
        return place.map { String(decoding: data.bytes(at: $0), as: UTF8.self) }
    }

    private func failure(of text: String) throws -> JSONScanner.Failure {
        try #require(throws: JSONScanner.Failure.self) { try value(at: "payload", in: text) }
    }

    @Test(arguments: [
        #"{"a":1}"#, #"{"a":-0.5e+10,"b":2}"#, #"{"a":true}"#, #"{"a":null}"#, #"{"a":"x"}"#, #"{"a":{}}"#,
        #"{"a":[]}"#, #"{ "z" : [ 1 , { "a" : 9 } ] , "a" : { "b" : [ "]}" ] } }"#, #"{"a":"\\\"\u0022"}"#,
    ])
    func aValueIsFoundAsItWasWritten(text: String) throws {
        let found = try #require(try value(at: "a", in: text))
        let expected = try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: NSObject])["a"]
        let decoded = try JSONSerialization.jsonObject(with: Data(found.utf8), options: .fragmentsAllowed)
        #expect(expected == decoded as? NSObject)
        #expect(found.first?.isWhitespace == false && found.last?.isWhitespace == false)
    }

    @Test func nestedPathsAreFoundInOnePassWithTheirParents() throws {
        let data = Data(#"{"data":{"x":[{"result":0}],"result":{"id":1}},"code":7}"#.utf8)
        let paths: [String] = ["data.result.id", "data", "data.result", "code", "data.missing", "code.below"]
        let places = try JSONScanner.find(paths.map(JSONScanner.path), in: data) { Array($0) }
        let texts = places.map { $0.map { String(decoding: data.bytes(at: $0), as: UTF8.self) } }
        let whole = #"{"x":[{"result":0}],"result":{"id":1}}"#
        #expect(texts == ["1", whole, #"{"id":1}"#, "7", nil, nil])
    }

    @Test func aNameWithADotIsNotAPath() throws {
        #expect(try value(at: "a.b", in: #"{"a.b":1}"#) == nil)
        #expect(try value(at: "a.b", in: #"{"a.b":1,"a":{"b":2}}"#) == "2")
    }

    @Test func anEmptyPathLeadsToTheWholeTextWithoutWhatSurroundsIt() throws {
        #expect(try value(at: "", in: "\u{FEFF} {\"a\" : 1}\r\n\t ") == "{\"a\" : 1}")
    }

    @Test func namesMayBeEmpty() throws {
        #expect(try value(at: "a.", in: #"{"a":{"":3}}"#) == "3")
        #expect(try value(at: "a..b", in: #"{"a":{"":{"b":4}}}"#) == "4")
    }

    @Test func arraysHaveNoMembers() throws {
        #expect(try value(at: "a.0", in: #"{"a":[1,2]}"#) == nil)
        #expect(try value(at: "a.0", in: #"{"a":{"0":5}}"#) == "5")
    }

    @Test func escapedNamesAreTheSameNames() throws {
        #expect(try value(at: "code", in: #"{"c\u006fde":1}"#) == "1")
        #expect(try value(at: "a\"\\/\u{8}\u{C}\n\r\t", in: #"{"a\"\\\/\b\f\n\r\t":2}"#) == "2")
        #expect(try value(at: "😀", in: #"{"\ud83d\uDE00":3}"#) == "3")
        #expect(try value(at: "code", in: #"{"c\u006Fd\u0065x":1,"\q":2,"\u00g0":3}"#) == nil)
    }

    @Test func namesAreComparedByTheirBytes() throws {
        #expect(try value(at: "\u{E9}", in: "{\"e\u{301}\":1}") == nil)
        #expect(try value(at: "\u{E9}", in: "{\"\u{E9}\":1}") == "1")
        #expect(try value(at: "Code", in: #"{"code":1}"#) == nil)
    }

    @Test func ofMembersWithTheSameNameTheLastCounts() throws {
        #expect(try value(at: "a", in: #"{"a":1,"a":2}"#) == "2")
        #expect(try value(at: "a", in: #"{"a":1,"\u0061":2,"b":0}"#) == "2")
        #expect(try value(at: "a.b", in: #"{"a":{"b":1},"a":{"b":2}}"#) == "2")
        #expect(try value(at: "a.b", in: #"{"a":{"b":1},"a":{"c":2}}"#) == nil)
        #expect(try value(at: "a.b", in: #"{"a":{"b":1},"a":3}"#) == nil)
    }

    @Test(arguments: ["", " ", "\u{FEFF}", "[]", "1", "\"a\"", "null", "<html>", "{\0".dropFirst().description])
    func whatDoesNotBeginLikeAnObjectIsNone(text: String) throws {
        #expect(try failure(of: text).kind == .notAnObject)
    }

    @Test(arguments: [
        "{", "{}x", "{} {}", "{},", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{,}", "{\"a\" 1}", "{\"a\":1 \"b\":2}",
        "{a:1}", "{'a':1}", "{\"a\":01}", "{\"a\":1.}", "{\"a\":.5}", "{\"a\":+1}", "{\"a\":-}", "{\"a\":1e}",
        "{\"a\":1e+}", "{\"a\":0x1}", "{\"a\":tru}", "{\"a\":truex}", "{\"a\":nul", "{\"a\":NaN}", "{\"a\":\"}",
        "{\"a\":\"\\", "{\"a\":\"\\\"", "{\"a", "{\"a\\", "{\"a\":[}", "{\"a\":{]}", "{\"a\":[{]}]}", "{\"a\":[[}]}",
        "{\"a\":[1,2}", "{\"a\":[\"}", "{\"a\":[\\\"]}", "{\"a\":[_]}", "{\"a\":[y]}", "{]", "{\"a\":1]", "{}\0",
        "{}\u{FEFF}", "{\"a\":1\u{A0}}", "\u{FEFF}\u{FEFF}{}x",
    ])
    func brokenTextHasADefinedFailure(text: String) throws {
        let failure = try failure(of: text)
        #expect(failure.kind == .malformed || text.hasPrefix("\u{FEFF}\u{FEFF}"))
        #expect(0...text.utf8.count ~= failure.offset)
    }

    @Test func theFailureNamesThePlace() throws {
        #expect(try failure(of: #"{"a":1,"b" 2}"#).offset == 11)
        #expect(try failure(of: #"{"a":[1,{"b":2]}"#).offset == 14)
        #expect(try failure(of: #"{"a":"#).problem == "it ends too early")
    }

    @Test func whatLiesInsideOtherValuesIsLeftToTheirDecoder() throws {
        #expect(try value(at: "a", in: #"{"b":[1 2,,tru{"":}],"a":3}"#) == "3")
        #expect(try value(at: "a", in: #"{"a":{"b":"\q" 01}}"#) == #"{"b":"\q" 01}"#)
    }

    @Test(arguments: [1, 63, 64, 65, 127, 128, 129, 10_000, 200_000])
    func nestingIsLimitedByMemoryAlone(depth: Int) throws {
        let opening = (0..<depth).map { $0 % 3 == 0 ? "[" : "{\"a\":" }.joined()
        let closing = (0..<depth).reversed().map { $0 % 3 == 0 ? "]" : "}" }.joined()
        let value = opening + "0" + closing
        #expect(try self.value(at: "p", in: "{\"p\":\(value),\"q\":1}") == value)
        #expect(try failure(of: "{\"p\":\(value)}}").kind == .malformed)
        #expect(try failure(of: "{\"p\":\(value.dropLast())}").kind == .malformed)
        #expect(try failure(of: "{\"p\":\(opening)").kind == .malformed)
        #expect(try failure(of: "{\"p\":\(opening)\"}").kind == .malformed)
    }

    @Test func aBracketOfTheWrongKindIsFoundAtEveryDepth() throws {
        for depth in [1, 2, 62, 63, 64, 65, 66, 128, 129] {
            for wrong in 0..<depth {
                let closing = (0..<depth).map { $0 == wrong ? "}" : "]" }.joined()
                #expect(try failure(of: "{\"p\":\(String(repeating: "[", count: depth))\(closing)}").kind == .malformed)
            }
        }
    }

    @Test func stringsEndWhereTheyEndAtEveryAlignment() throws {
        for padding in 0..<66 {
            for backslashes in 0...5 {
                let quoted = String(repeating: "\\", count: backslashes) + (backslashes % 2 == 0 ? "" : "\"")
                let text = "\"\(String(repeating: "x", count: padding))\(quoted)\""
                let array = "[\(text),{\"]\":\(text)}]"
                #expect(try value(at: "a", in: "{\"a\":\(array),\"b\":2}") == array)
                #expect(try value(at: "a", in: "{\"a\":\(text),\"b\":2}") == text)
            }
        }
    }
}
